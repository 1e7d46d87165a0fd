"""Maps values to pixels along an axis, and chooses its ticks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, floor, log2, log10
from typing import NamedTuple

from .. import units
from ..charts.scale import Scale

#: Round tick steps, times a power of ten.
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

#: A logarithmic axis of times or sizes with a larger ratio of its ends does not have one unit.
_ONE_UNIT = 300


#: Ticks are at least this part of an axis apart: a label has up to five digits.
_LEAST_APART = 0.08


class Axis(NamedTuple):
    """An axis with its position in a picture.

    Attributes:
        low: the lowest value.
        high: the highest value.
        start: the position of the lowest value, in pixels.
        end: the position of the highest value, in pixels.
        log: whether it is logarithmic.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return the position of `value` in pixels, clipped to the ends of the axis."""
        if self.log and value <= self.low:
            return self.start
        transform: Callable[[float], float] = log10 if self.log else float
        low, high = transform(self.low), transform(self.high)
        share = (transform(value) - low) / (high - low) if high > low else 0.5
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Return about `most` round values within the axis.

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
    """Return the unit in which an axis is labelled, and the number that its values are divided by."""
    if scale.quantity == "time":
        unit = scale.unit or units.time_unit(scale.high)
        return unit, float(units.TIME_UNITS[unit])
    if scale.quantity == "size":
        unit = scale.unit or units.size_unit(scale.high)
        return unit, float(units.SIZE_UNITS[unit])
    return "", 0.01 if scale.quantity == "share" else 1.0


def ticks(scale: Scale, *, log: bool, most: int = 6) -> list[tuple[float, str]]:
    """Return the values of an axis's ticks, with their labels.

    >>> ticks(Scale(label="time", quantity="time", low=9.5e6, high=20.1e6), log=False, most=3)
    [(10000000.0, '10'), (15000000.0, '15'), (20000000.0, '20')]
    """
    if scale.quantity == "name":
        step = ceil(len(scale.names) / 12)
        return [(float(index), name) for index, name in enumerate(scale.names)][::step]
    if scale.values:
        return [(value, units.number_tick(value)) for value in _apart(scale, log)]
    if scale.quantity == "size" and _has_many_units(scale, log):
        return [(value, units.size(value, 1)) for value in _powers_of_two(scale, most)]
    size = unit_of(scale)[1]
    values = [tick * size for tick in Axis(scale.low / size, scale.high / size, 0, 1, log).ticks(most)]
    return [(value, _tick_label(replace(scale, log=log), value, size)) for value in values]


def _apart(scale: Scale, log: bool) -> list[float]:
    """Return the values of a scale whose labels do not touch, the highest and the lowest first of all.

    >>> _apart(Scale(label="n", quantity="number", low=1, high=100, values=(1, 2, 3, 50, 98, 100)), log=False)
    [1, 50, 100]
    """
    axis = Axis(scale.low, scale.high, 0, 1, log)
    kept: list[float] = []
    highest, *others = sorted(scale.values, reverse=True)
    for value in (highest, *others[-1:], *others[:-1]):
        if all(abs(axis.at(each) - axis.at(value)) >= _LEAST_APART for each in kept):
            kept.append(value)
    return sorted(kept)


def title(scale: Scale, *, log: bool) -> str:
    """Return the title of an axis: its label, with the unit if all ticks share one."""
    one_unit = scale.quantity in ("time", "size") and not _has_many_units(scale, log)
    return f"{scale.label} ({unit_of(scale)[0]})" if one_unit else scale.label


def _tick_label(scale: Scale, value: float, size: float) -> str:
    if scale.quantity == "time":
        return units.time(value, 1) if _has_many_units(scale, scale.log) else f"{value / size:g}"
    if scale.quantity == "size":
        return f"{value / size:g}"
    if scale.quantity == "flops":
        return units.rate_tick(value)
    if scale.quantity == "share":
        return units.percent(value)
    return units.factor_tick(value) if scale.quantity == "ratio" else units.number_tick(value)


def _has_many_units(scale: Scale, log: bool) -> bool:
    return log and scale.low > 0 and scale.high > _ONE_UNIT * scale.low


def _powers_of_two(scale: Scale, most: int) -> list[float]:
    powers = range(ceil(log2(scale.low)), floor(log2(scale.high)) + 1)
    return [2.0**power for power in powers[:: ceil(len(powers) / most)]]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    for leading in ((1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        values = [round(lead * 10.0**decade, 12 - decade) for decade in decades for lead in leading]
        values = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(values) <= 1.5 * most:
            return values
    return values[:: ceil(len(values) / most)]
