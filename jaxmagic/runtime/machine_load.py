"""How busy the machine is with other things."""

from __future__ import annotations

import os

from .clock import cpu_time, now_ns

#: The system counts in steps of 10 ms for each processor: over less than this, one step too many is 5 % of one.
_SHORTEST_S = 0.2


class Load:
    """Processors that other processes keep busy, from when this was made."""

    def __init__(self) -> None:
        self._before = self._read()

    def of_others(self) -> float | None:
        """Their number, on average; ``None`` where the operating system does not tell, and for too short a time."""
        after = self._read()
        if self._before is None or after is None:
            return None
        wall, busy, own = (now - then for now, then in zip(after, self._before, strict=True))
        if wall < _SHORTEST_S:
            return None
        return min(max(busy - own, 0.0) / wall, float(os.cpu_count() or 1))

    @staticmethod
    def _read() -> tuple[float, float, float] | None:
        """Time, processor time of all processes, and that of this one, in seconds."""
        try:
            import psutil

            times = psutil.cpu_times()
        except Exception:  # a container without /proc
            return None
        idle = times.idle + getattr(times, "iowait", 0.0)
        guest = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)  # also in user and nice
        own = cpu_time()
        return now_ns() / 1e9, sum(times) - idle - guest, (own.user_ns + own.system_ns) / 1e9
