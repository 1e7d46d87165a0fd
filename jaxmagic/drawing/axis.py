"""Where a value lies on a picture, and which values are written under it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, floor, log10
from typing import NamedTuple

from .. import units
from ..charts.scale import Scale

#: Steps that people can count in.
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

#: A logarithmic axis of times over more than this is no longer in one unit.
_ONE_UNIT = 300


class Axis(NamedTuple):
    """A direction of a picture.

    Attributes:
        low: the value at the beginning.
        high: the value at the end.
        start: where the beginning is, in pixels.
        end: where the end is.
        log: whether equal distances are equal ratios.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Find where `value` is, in pixels; at the edge if it lies beyond."""
        if self.log and value <= self.low:
            return self.start
        transform: Callable[[float], float] = log10 if self.log else float
        low, high = transform(self.low), transform(self.high)
        share = (transform(value) - low) / (high - low) if high > low else 0.5
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values within the axis, about `most` of them.

        >>> Axis(0.93, 1.21, 0, 100).ticks()
        [0.95, 1.0, 1.05, 1.1, 1.15, 1.2]
        >>> Axis(0.5, 40, 0, 100, log=True).ticks()
        [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
        """
        if self.log and self.high > 2 * self.low:
            return _log_ticks(self.low, self.high, most)
        if self.high <= self.low:
            return [self.low]
        rough = (self.high - self.low) / most
        size = 10.0 ** floor(log10(rough))
        step = next(each * size for each in _STEPS if each * size >= rough)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [round(index * step, 12) for index in range(first, last + 1)]


def unit_of(scale: Scale) -> tuple[str, float]:
    """The unit of an axis and how large it is: what its values are divided by where they are written down."""
    if scale.quantity == "time":
        unit = scale.unit or units.time_unit(scale.high)
        return unit, float(units.TIME_UNITS[unit])
    if scale.quantity == "size":
        unit = scale.unit or units.size_unit(scale.high)
        return unit, float(units.SIZE_UNITS[unit])
    return "", 0.01 if scale.quantity == "share" else 1.0


def ticks(scale: Scale, *, log: bool, most: int = 6) -> list[tuple[float, str]]:
    """Values to write along an axis, and how to write them.

    >>> ticks(Scale(label="time", quantity="time", low=9.5e6, high=20.1e6), log=False, most=3)
    [(10000000.0, '10'), (15000000.0, '15'), (20000000.0, '20')]
    """
    if scale.quantity == "name":
        step = ceil(len(scale.names) / 12)
        return [(float(index), name) for index, name in enumerate(scale.names)][::step]
    size = unit_of(scale)[1]
    found = [each * size for each in Axis(scale.low / size, scale.high / size, 0, 1, log).ticks(most)]
    return [(each, _written(replace(scale, log=log), each, size)) for each in found]


def title(scale: Scale, *, log: bool) -> str:
    """Return what stands beside an axis: its label, and the unit if there is one for all of it."""
    one_unit = scale.quantity in ("time", "size") and not _has_many_units(scale, log)
    return f"{scale.label} ({unit_of(scale)[0]})" if one_unit else scale.label


def _written(scale: Scale, value: float, size: float) -> str:
    if scale.quantity == "time":
        return units.time(value, 1) if _has_many_units(scale, scale.log) else f"{value / size:g}"
    if scale.quantity == "size":
        return f"{value / size:g}"
    if scale.quantity == "share":
        return units.percent(value)
    return units.factor_tick(value) if scale.quantity == "ratio" else units.number_tick(value)


def _has_many_units(scale: Scale, log: bool) -> bool:
    return log and scale.low > 0 and scale.high > _ONE_UNIT * scale.low


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    for leading in ((1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        found = [round(lead * 10.0**decade, 12 - decade) for decade in decades for lead in leading]
        found = [each for each in found if low * (1 - 1e-9) <= each <= high * (1 + 1e-9)]
        if len(found) <= 1.5 * most:
            return found
    return found[:: ceil(len(found) / most)]
