"""Words of the rule ``precision``."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable


def _inputs(argument: str, shape: str, equations: int, double_ns: float) -> str:
    return (
        f"{printable(argument)} is {printable(shape)}. {units.count(equations, 'equation')} in float64, "
        f"{units.time(double_ns)} of device time per run; in float32 it would be about half."
    )


NOTES: dict[str, Callable[..., str]] = {
    "double_line": lambda function: f"{printable(function)} computes in float64 from this line on.",
    "double_argument": lambda function, argument, shape: (
        f"{printable(function)} computes in float64 because {printable(argument)} is {printable(shape)}."
    ),
    "double_inputs": _inputs,
    "double_line_remedy": lambda: (
        "If float32 is accurate enough, turn NumPy's numbers into Python's with float(), and give new arrays the "
        "dtype of the others, as in dtype=x.dtype."
    ),
    "double_argument_remedy": lambda: "If float32 is accurate enough, convert the argument before the call.",
}
