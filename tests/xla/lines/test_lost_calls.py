"""Missing calls between a program and an operation are restored from other operations."""

from __future__ import annotations

import pytest

from jaxmagic.records.call_stack import Frame, Stack
from jaxmagic.xla.lines.lost_calls import with_lost_calls


def stack(calls: str) -> Stack:
    """Make a stack with one letter per call; capital letters are a library's."""
    return tuple(
        Frame(function=each, file="/opt/site-packages/l.py" if each.isupper() else "a.py", line=1) for each in calls
    )


def found(*stacks: str, calls: str = "m") -> dict[str, str]:
    made = with_lost_calls(map(stack, stacks), stack(calls), lambda frame: frame.function == "p")
    return {
        "".join(each.function for each in lost): "".join(each.function for each in all_)
        for lost, all_ in made.items()
    }


@pytest.mark.parametrize(
    ("stacks", "completed"),
    [
        (["mpaCL", "mCL", "mpb"], {"mCL": "mpaCL"}),
        (["mpaCL", "mpaXCL", "mCL"], {"mCL": "mpaCL"}),  # both ways come from the same line
        (["mpaCL", "mpbCL", "mCL"], {"mCL": "CL"}),  # either line is possible
        (["mpaCL", "mDL"], {"mDL": "DL"}),  # no other operation has this call
        (["mpaCL", "m"], {}),  # the call of the program itself
        (["mpaCL", "mpb"], {}),
        (["mpaCL", "CL"], {"CL": "mpaCL"}),
    ],
)
def test_they_are_those_of_others_that_agree(stacks: list[str], completed: dict[str, str]) -> None:
    assert found(*stacks) == completed


def test_the_line_that_called_the_program_is_never_that_of_an_operation() -> None:
    assert found("nmpaCL", "nmDL", "nmpbEL", calls="nm") == {"nmDL": "DL"}
