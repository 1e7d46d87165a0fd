"""Estimates the event rate of a recording while the code runs for the first time.

JAX's profiler has no limit on events and does not count them, but takes some 7 µs for each when it stops. So short
intervals of the warm-up run are recorded, and their events counted; timed runs are not disturbed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

from .profiler_session import Profiler

#: Seconds into the run at which an interval is recorded: early ones may coincide with compilations, later ones can be
#: rare.
_MOMENTS_S = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

#: Seconds of an interval. At the highest rate known, 2,000,000 events/s on a CPU, stopping takes a second.
_MOMENT_S = 0.05


class EventRate:
    """Records intervals of the code between :meth:`start` and :meth:`end`, from a thread of its own.

    Args:
        allowed: called before each interval; if it returns False, the interval is skipped.
        moments_s: when to record, in seconds after the start.

    Attributes:
        per_s: the highest rate of all intervals, in events/s; ``None`` without any.
    """

    def __init__(self, allowed: Callable[[], bool], moments_s: Iterable[float] = _MOMENTS_S) -> None:
        self.per_s: float | None = None
        self._allowed = allowed
        self._moments_s = moments_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="jaxmagic-event-rate", daemon=True)

    def start(self) -> None:
        """Start waiting for the first interval."""
        self._thread.start()

    def end(self) -> None:
        """Record no more intervals, and wait for the current one to end; does nothing if it was not started."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        before_s = 0.0
        for at_s in self._moments_s:
            if self._ended.wait(at_s - before_s):
                return
            before_s = at_s
            if not self._allowed():
                continue
            with suppress(Exception):  # the code profiles itself, or the disk is full: then only time is limited
                self.per_s = max(self._record() / _MOMENT_S, self.per_s or 0.0)

    def _record(self) -> int:
        """Record an interval and count its events."""
        profiler = Profiler()
        profiler.start()
        try:
            self._ended.wait(_MOMENT_S)
            recording = profiler.stop()
        finally:
            profiler.cancel()
        return sum(len(track.start_ps) for track in recording.tracks)
