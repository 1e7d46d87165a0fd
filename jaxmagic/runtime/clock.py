"""The only place where a clock is read."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import datetime
from io import FileIO
from itertools import pairwise
from typing import NamedTuple

#: A monotonic clock in nanoseconds. Passed as an argument wherever a test wants another one.
Clock = Callable[[], int]

#: The clock of every duration: monotonic, unlike ``time.time()``, which ``%time`` uses and which can step.
now_ns: Clock = time.perf_counter_ns

#: Processor time of the calling thread: what it has taken itself, however long it was kept waiting.
thread_cpu_ns: Clock = time.thread_time_ns


def kept_waiting_ns() -> int | None:
    """Tell how long the calling thread has been ready to run while other threads had the processors.

    Linux alone tells.
    """
    try:
        with FileIO("/proc/thread-self/schedstat") as file:
            return int(file.read(100).split()[1])
    except (OSError, ValueError, IndexError):
        return None


class CpuTime(NamedTuple):
    """Processor time of the process so far, all its threads together."""

    user_ns: int
    system_ns: int


if sys.platform == "win32":

    def cpu_time() -> CpuTime:
        """User and system time of this process."""
        times = os.times()
        return CpuTime(round(times.user * 1e9), round(times.system * 1e9))

else:
    from resource import RUSAGE_SELF, getrusage

    def cpu_time() -> CpuTime:
        """User and system time of this process, in steps of a microsecond."""
        usage = getrusage(RUSAGE_SELF)
        return CpuTime(round(usage.ru_utime * 1e9), round(usage.ru_stime * 1e9))


def timestamp() -> str:
    """The time of day, ISO 8601 with milliseconds and the time zone. For reading, never for a difference."""
    return datetime.now().astimezone().isoformat(timespec="milliseconds")


def resolution(clock: Clock) -> int:
    """The smallest step that the clock makes, reading it included."""
    readings = [clock() for _ in range(50)]
    return min((later - earlier for earlier, later in pairwise(readings) if later > earlier), default=1)
