"""The only module that reads a clock."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import datetime
from io import FileIO
from itertools import pairwise
from typing import NamedTuple

#: A monotonic clock in nanoseconds; passed as an argument wherever tests replace it.
Clock = Callable[[], int]

#: The clock of every duration: monotonic, unlike ``time.time()``, which ``%time`` uses and which can step.
now_ns: Clock = time.perf_counter_ns

#: The CPU time of the calling thread, which excludes the time it waited for a processor.
thread_cpu_ns: Clock = time.thread_time_ns


def kept_waiting_ns() -> int | None:
    """Return how long the calling thread has been ready to run while other threads had the processors.

    Only Linux reports this; ``None`` elsewhere.
    """
    try:
        with FileIO("/proc/thread-self/schedstat") as file:
            return int(file.read(100).split()[1])
    except (OSError, ValueError, IndexError):
        return None


class CpuTime(NamedTuple):
    """CPU time of the process so far, summed over all its threads."""

    user_ns: int
    system_ns: int


if sys.platform == "win32":

    def cpu_time() -> CpuTime:
        """Return the user and system time of this process."""
        times = os.times()
        return CpuTime(round(times.user * 1e9), round(times.system * 1e9))

else:
    from resource import RUSAGE_SELF, getrusage

    def cpu_time() -> CpuTime:
        """Return the user and system time of this process, in steps of a microsecond."""
        usage = getrusage(RUSAGE_SELF)
        return CpuTime(round(usage.ru_utime * 1e9), round(usage.ru_stime * 1e9))


def timestamp() -> str:
    """Return the time of day, in ISO 8601 with milliseconds and time zone; for people, never for differences."""
    return datetime.now().astimezone().isoformat(timespec="milliseconds")


def resolution(clock: Clock) -> int:
    """Return the smallest step of a clock, including the time to read it."""
    readings = [clock() for _ in range(50)]
    return min((later - earlier for earlier, later in pairwise(readings) if later > earlier), default=1)
