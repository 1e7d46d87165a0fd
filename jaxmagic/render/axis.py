"""Where a value lies on a picture, and which values are written under it."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log10
from typing import NamedTuple

#: Steps that people can count in.
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


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
        """Where `value` is, in pixels; at the edge if it lies beyond."""
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
        if self.log and self.high > 3 * self.low:
            return _log_ticks(self.low, self.high, most)
        if self.high <= self.low:
            return [self.low]
        rough = (self.high - self.low) / most
        size = 10.0 ** floor(log10(rough))
        step = next(each * size for each in _STEPS if each * size >= rough)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [round(index * step, 12) for index in range(first, last + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    for leading in ((1, 2, 5), (1, 3), (1,)):
        found = [lead * 10.0**decade for decade in decades for lead in leading]
        found = [each for each in found if low * (1 - 1e-9) <= each <= high * (1 + 1e-9)]
        if len(found) <= 1.5 * most:
            return found
    return found[:: ceil(len(found) / most)]
