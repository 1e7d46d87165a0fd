"""The line of the user's code that is running."""

from __future__ import annotations

import json
import sys
from typing import Any

from jaxmagic.compilation.capture.running_line import running_line


def test_it_is_the_innermost_one_outside_of_libraries() -> None:
    def seen(_: Any) -> str | None:
        return running_line(sys._getframe(1))

    lines: list[str | None] = []
    json.loads('{"a": 1}', object_hook=lambda found: lines.append(running_line(sys._getframe())))
    assert lines == [f"{__file__}:{sys._getframe().f_lineno - 1}"]
    within = json.loads('{"a": 1}', object_hook=seen)  # called by Python's library
    assert within == f"{__file__}:{sys._getframe().f_lineno - 1}"


def test_there_may_be_none() -> None:
    assert running_line(None) is None
