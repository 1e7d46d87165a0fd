"""The ends of an axis, and its title."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.names import shortened
from .spec import Scale


def ratio_scale(what: str, baseline: str, ratios: Sequence[float]) -> Scale:
    """The axis of ratios to a baseline, with one on it and a little around that.

    Args:
        what: has a ratio, such as ``time``.
        baseline: the label of the candidate that others are compared with.
        ratios: that have to lie on it.
    """
    low, high = around([0.95, 1.05, *ratios], log=True)
    label = f"{what} over that of {in_title(baseline)}; less is faster"
    return Scale(label=label, quantity="ratio", low=low, high=high, log=True)


def in_title(name: str) -> str:
    """A name of the user's, as long as the title of an axis may be."""
    return shortened([name], 24)[0]


def around(values: Sequence[float], *, log: bool = False) -> tuple[float, float]:
    """The ends of an axis on which `values` lie, with some room beyond them.

    Args:
        values: at least one; above 0 on a logarithmic axis.
        log: whether the axis is logarithmic.

    >>> around([0, 100])
    (-4.0, 104.0)
    """
    low, high = min(values), max(values)
    if log:
        room = (high / low) ** 0.04 if high > low else 1.1
        return low / room, high * room
    room = 0.04 * (high - low) or 0.1 * abs(high) or 1.0
    return low - room, high + room
