"""Measures how long devices were busy during some calls, from a short profile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from ...errors import NotMeasured
from ...profiling.analysis.interpret import interpreted
from ...profiling.analysis.summarize import summarize
from ...profiling.capture.profiler_session import Profiler, mark_run, windows_of
from ..record.device_time import DeviceTime


def take_device_time(call: Callable[[], object], calls: int) -> DeviceTime:
    """Run `call` repeatedly under the profiler, and return how long devices were busy.

    Args:
        call: runs the statement within :func:`mark_call`, and waits for all of its work.
        calls: how many times to run it.
    """
    profiler = Profiler()
    try:
        profiler.start()
        for _ in range(calls):
            call()
        recording = interpreted(profiler.stop())
    except NotMeasured as error:
        return DeviceTime(calls=calls, problem=str(error))
    finally:
        profiler.cancel()
    windows = windows_of(recording)
    if len(windows) != calls:
        return DeviceTime(calls=calls, problem="The profiler dropped some run markers.")
    summary = summarize(recording, windows)
    busy = {each.device: each.busy_ns for each in summary.device_uses if each.busy_ns}
    if not busy:
        return DeviceTime(calls=calls, wall_ns=summary.recorded_ns, problem="No device was busy.")
    return DeviceTime(calls=calls, wall_ns=summary.recorded_ns, devices=tuple(busy), busy_ns=tuple(busy.values()))


def mark_call() -> AbstractContextManager[None]:
    """Mark what runs in this context as one call in the profile."""
    return mark_run(0)
