"""Measure how busy other processes keep the machine."""

from __future__ import annotations

import os

from .clock import cpu_time, now_ns

#: The system counts in steps of 10 ms per processor: over this time, an error of one step is 5 % of a processor.
_SHORTEST_S = 0.2


class Load:
    """The number of processors that other processes keep busy, since this object was created."""

    def __init__(self) -> None:
        self._before = self._read()

    def of_others(self) -> float | None:
        """Return the average number; ``None`` if the operating system does not report it or the time is too short."""
        after = self._read()
        if self._before is None or after is None:
            return None
        wall, busy, own = (now - then for now, then in zip(after, self._before, strict=True))
        if wall < _SHORTEST_S:
            return None
        return min(max(busy - own, 0.0) / wall, float(os.cpu_count() or 1))

    @staticmethod
    def _read() -> tuple[float, float, float] | None:
        """Return the time, the CPU time of all processes, and the CPU time of this process, in seconds."""
        try:
            import psutil

            times = psutil.cpu_times()
        except Exception:  # a container without /proc
            return None
        idle = times.idle + getattr(times, "iowait", 0.0)
        guest = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)  # also in user and nice
        own = cpu_time()
        return now_ns() / 1e9, sum(times) - idle - guest, (own.user_ns + own.system_ns) / 1e9
