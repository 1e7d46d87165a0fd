"""Moves the events of a device from the profiler's estimate of their times to the device's own clock.

The profiler of a TPU records the device's own times for operations alone. For executions of programs, asynchronous
operations and waits it writes only its estimate on the host's clock, which runs ahead of the device and falls back,
by 100 ms and more, from one operation to the next. Operations have both times, so those that begin and end around an
event show how far ahead its estimate is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .attribution import Ints


class _Ahead(NamedTuple):
    """How far estimates are ahead of the device's clock, at increasing estimated times."""

    at: Ints
    by: Ints

    def of(self, times: Ints) -> Ints:
        """Interpolate between the two nearest times."""
        ahead: Ints = np.rint(np.interp(times, self.at, self.by)).astype(np.int64)
        return ahead


class DeviceClock(NamedTuple):
    """The relation of estimated times to those by a device's clock, in picoseconds.

    Attributes:
        offset: added to the device's times, which count from an origin of their own. It is the median, so that half
            of the operations are estimated to begin earlier.
        starts: how far estimated starts are ahead.
        ends: how far estimated ends are ahead.
    """

    offset: int
    starts: _Ahead
    ends: _Ahead

    def corrected(self, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Return the times of events that have only estimates, by the device's clock."""
        start = start - self.starts.of(start)
        return start, np.maximum(start, end - self.ends.of(end))


def device_clock(start: Ints, end: Ints, own_start: Ints, own_end: Ints) -> DeviceClock | None:
    """Relate the estimated times of operations to those by the device's clock; ``None`` without operations."""
    if not len(start):
        return None
    offset = round(float(np.median(start - own_start)))
    at, own = np.concatenate([start, end]), np.concatenate([own_start, own_end]) + offset
    is_end = np.repeat([False, True], len(start))
    before = _ahead(-at, -own, ~is_end)
    return DeviceClock(offset, _ahead(at, own, is_end), _Ahead(-before.at[::-1], -before.by[::-1]))


def _ahead(at: Ints, own: Ints, second_choice: NDArray[np.bool_]) -> _Ahead:
    """Keep one of the times with the same estimate: the earliest of the first choice, or else of the second."""
    order = np.lexsort((own, second_choice, at))
    at, own = at[order], own[order]
    first = np.concatenate([[True], at[1:] > at[:-1]])
    return _Ahead(at[first], (at - own)[first])
