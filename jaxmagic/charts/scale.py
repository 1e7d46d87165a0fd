"""Declares an axis; finds its ends and its title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..records.names import shortened

#: What the values of an axis are, and so how they are written: durations in nanoseconds, so many times something, a
#: part of one, a plain number, bytes, or the positions of names.
Quantity = Literal["time", "ratio", "share", "number", "size", "name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """One axis.

    Attributes:
        label: what it measures, without the unit.
        quantity: what kind of values it has.
        low: the value at its beginning.
        high: the value at its end.
        log: whether equal distances are equal ratios.
        names: where the quantity is ``name``, what stands at 0, 1, 2, ….
        unit: where the quantity is ``time`` or ``size``, the unit to write it in; one that fits if ``None``.
    """

    label: str
    quantity: Quantity
    low: float
    high: float
    log: bool = False
    names: tuple[str, ...] = ()
    unit: str | None = None

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"axis: expected low below high, got {self.low} to {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"logarithmic axis: expected low above 0, got {self.low}")

    @property
    def switchable(self) -> bool:
        """True if the axis makes sense both linear and logarithmic, and does not look the same."""
        return self.quantity in ("time", "ratio", "number") and 0 < 2 * self.low <= self.high


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
