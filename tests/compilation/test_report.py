"""What is advised beside the compilations of a report."""

from __future__ import annotations

from typing import Any

import pytest

from jaxmagic.compilation.analysis.remedies import ALSO, combined, difference
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.compilation.report import reason, remedies

CLIP = difference("static value", "static argument clip has a different value", "clip", "0.19", "0.2")
RATE = difference("static value", "static argument rate has a different value", "rate", "0.1", "0.2")
SHAPE = difference("shape", "argument x has a different shape", "x", "f32[9]", "f32[8]")
STATIC, PAD = str(CLIP.remedy), str(SHAPE.remedy)


def test_each_remedy_is_told_once_for_an_argument_of_a_function(compilation: Any) -> None:
    def advised(*causes: Cause) -> list[str]:
        return remedies([compilation(function="f", cause=each) for each in causes])

    both = combined([CLIP, SHAPE])
    assert both.remedy == f"{STATIC}. Also for x: {PAD}"
    assert advised(CLIP, CLIP, RATE) == [STATIC, "", STATIC]
    assert advised(CLIP, both, both) == [STATIC, f"also for x: {PAD}", ""]
    assert advised(both, CLIP) == [f"{STATIC}{ALSO}for x: {PAD}", ""]
    assert advised(Cause(kind="first call", reason="first call"), SHAPE) == ["", PAD]
    two = [compilation(function=name, cause=both) for name in "fg"]
    assert remedies(two) == [both.remedy] * 2


@pytest.mark.parametrize(
    ("now", "before", "shown"),
    [
        ("0.13333333333333336", "0.2", "0.133333 now, 0.2 before"),
        ("0.30000000000000004", "0.3", "0.30000000000000004 now, 0.3 before"),
        ("2.0", "-0.6666666666666666", "2.0 now, -0.666667 before"),
        ("12345678.25", "1e-07", "12345678.25 now, 1e-07 before"),
        ("'1.23456789'", "'1.2'", "'1.23456789' now, '1.2' before"),
    ],
)
def test_floats_have_six_digits_where_they_differ_in_these(
    compilation: Any, now: str, before: str, shown: str
) -> None:
    cause = difference("static value", "static argument clip has a different value", "clip", now, before)
    assert f"has a different value: {shown}" in reason(compilation(cause=cause), 3)
    assert (cause.now, cause.before) == (now, before)  # the record has all digits
