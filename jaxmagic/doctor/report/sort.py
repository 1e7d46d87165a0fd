"""Words of the rule ``sort``."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable


def _partial(length: int, used: int, end: str) -> str:
    which = f"the {end}" if used == 1 else f"the {used} {end}"
    return f"{units.count(length, 'element')} are sorted, of which only {which} {'is' if used == 1 else 'are'} used."


def _partial_remedy(used: int, end: str, indices: bool) -> str:
    sign = "-" if end == "smallest" else ""
    part = f"jax.lax.top_k({sign}x, {used})[1]" if indices else f"{sign}jax.lax.top_k({sign}x, {used})[0]"
    exceptions = [
        *(["NaN counts as the smallest"] if end == "smallest" else []),
        *(["ties may be broken differently"] if indices else []),
    ]
    but = f"; {' and '.join(exceptions)}" if exceptions else ""
    return f"Use {part}, which does not sort everything. It begins with the {end}{but}."


def _time(shape: str, sorts: int, sort_ns: float) -> str:
    return f"{units.count(sorts, 'sort')} of {printable(shape)}: {units.time(sort_ns)} of device time per run."


NOTES: dict[str, Callable[..., str]] = {
    "partial_sort": _partial,
    "partial_sort_remedy": _partial_remedy,
    "sort_time": _time,
    "repeated_sort": lambda array, function, count: (
        f"{printable(function)} sorts {printable(array)} in each of {count} calls, and it is the same in all of them."
    ),
    "repeated_sort_time": lambda sort_ns, sorts: (
        f"{units.count(sorts, 'sort')} in the program, {units.time(sort_ns)} of device time per run."
    ),
    "repeated_sort_remedy": lambda array, function: (
        f"Sort {printable(array)} once before the loop, and pass the result to {printable(function)}."
    ),
}
