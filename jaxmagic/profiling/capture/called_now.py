"""Tells which functions of a call stack the measured code calls by name."""

from __future__ import annotations

import re
import sys
from types import FunctionType
from typing import Any

from ...records.call_stack import Frame
from ...runtime.around import is_a, member


def is_called_by(code: str | None, frame: Frame) -> bool:
    """Return whether some code has the name of a frame's function, which is still defined as it was.

    Args:
        code: the code; ``None`` if it is not known.
        frame: a call that was made earlier.
    """
    name = frame.function.rpartition(".")[2]
    if not name.isidentifier() or name not in re.findall(r"\w+", code or ""):
        return False
    return frame.cell is None or _defined_in(frame.function) == frame.file


def _defined_in(function: str) -> str | None:
    """Return the file of a function or method of the session; ``None`` if there is none of that name."""
    first, *rest = function.split(".")
    found: Any = vars(sys.modules["__main__"]).get(first)
    for name in rest:
        if name == "<locals>":
            break
        found = member(found, name) if is_a(found, type) else None
    while type(found).__name__ == "PjitFunction":
        found = found.__wrapped__
    return found.__code__.co_filename if type(found) is FunctionType else None
