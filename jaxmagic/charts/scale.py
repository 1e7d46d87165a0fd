"""Declares an axis, and chooses its ends and label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..records.names import shortened

#: What the values of an axis are, which decides how they are written: durations in nanoseconds, ratios, shares from 0
#: to 1, plain numbers, bytes, or the positions of names.
Quantity = Literal["time", "ratio", "share", "number", "size", "flops", "name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """One axis.

    Attributes:
        label: its label, without the unit.
        quantity: the kind of its values.
        low: the value at its lower end.
        high: the value at its upper end.
        log: whether it is logarithmic.
        names: for the quantity ``name``, the names at 0, 1, 2, ….
        values: the values that were chosen, at which ticks stand as far as there is room; round ones if empty.
        unit: for the quantities ``time`` and ``size``, the unit to use; chosen by the values if ``None``.
    """

    label: str
    quantity: Quantity
    low: float
    high: float
    log: bool = False
    names: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    unit: str | None = None

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"axis: expected low below high, got {self.low} to {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"logarithmic axis: expected low above 0, got {self.low}")

    @property
    def switchable(self) -> bool:
        """Whether the axis makes sense both linear and logarithmic, and looks different."""
        return self.quantity in ("time", "ratio", "number", "flops") and 0 < 2 * self.low <= self.high


def ratio_scale(what: str, baseline: str, ratios: Sequence[float]) -> Scale:
    """Return an axis for ratios to a baseline, which always includes the surroundings of 1.

    Args:
        what: the quantity that is compared, such as ``time``.
        baseline: the label of the candidate that others are compared with.
        ratios: the values to be shown.
    """
    low, high = around([0.95, 1.05, *ratios], log=True)
    label = f"{what} relative to {in_title(baseline)}; lower is faster"
    return Scale(label=label, quantity="ratio", low=low, high=high, log=True)


def in_title(name: str) -> str:
    """Shorten a name chosen by the user to fit into the label of an axis."""
    return shortened([name], 24)[0]


def around(values: Sequence[float], *, log: bool = False) -> tuple[float, float]:
    """Return the ends of an axis for `values`, with some room on both sides.

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
