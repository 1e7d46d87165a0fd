"""A short recording by the JAX profiler: when devices were at work while something was called."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..analysis.device_time import Interval, busy_within
from ..model.device_time import DeviceTime

#: What marks a call in the recording.
_CALL = "jaxmagic: call"

#: Older ones record some operations of the CPU only; matrix products, for one, are missing.
_RECORDS_CPU = (0, 10)


def take_device_time(call: Callable[[], object], calls: int) -> DeviceTime:
    """Run `call` so often under the profiler, and say how long devices worked within.

    Args:
        call: runs the statement within :func:`mark_call`, and waits for all of it.
        calls: how often.
    """
    import jax

    if jax.default_backend() == "cpu" and jax.__version_info__ < _RECORDS_CPU:
        return DeviceTime(calls=calls, problem="this JAX does not record all operations of the CPU")
    with tempfile.TemporaryDirectory(prefix="jaxmagic-") as directory:
        try:
            with _recording(directory):
                for _ in range(calls):
                    call()
        except _NotRecorded as error:
            return DeviceTime(calls=calls, problem=str(error))
        found = sorted(Path(directory).rglob("*.xplane.pb"))
        if not found:
            return DeviceTime(calls=calls, problem="the profiler wrote nothing")
        recording = jax.profiler.ProfileData.from_file(str(found[0]))
        windows, work = read_recording(recording)
    if len(windows) != calls:
        return DeviceTime(calls=calls, problem="the profiler lost some of the calls")
    wall_ns, busy = sum(end - start for start, end in windows), busy_within(work, windows)
    if not busy:
        return DeviceTime(calls=calls, wall_ns=wall_ns, problem="no device worked")
    return DeviceTime(calls=calls, wall_ns=wall_ns, devices=tuple(busy), busy_ns=tuple(busy.values()))


@contextmanager
def mark_call() -> Iterator[None]:
    """Mark what runs within as one call of the recording."""
    import jax

    with jax.profiler.TraceAnnotation(_CALL):
        yield


def read_recording(recording: Any) -> tuple[list[Interval], dict[str, list[Interval]]]:
    """When calls ran, and when each device worked.

    An accelerator has a plane of its own; of a TPU its operations are one line of it, of a GPU every stream is. What
    the CPU computes is among what the host does, and carries the name of an instruction.

    Args:
        recording: a :class:`jax.profiler.ProfileData`.
    """
    windows: list[Interval] = []
    work: dict[str, list[Interval]] = {}
    for plane in recording.planes:
        if plane.name.startswith("/device:") and "CUSTOM" not in plane.name:
            lines = list(plane.lines)
            chosen = [line for line in lines if line.name in ("XLA Ops", "Async XLA Ops")]
            chosen = chosen or [line for line in lines if line.name.startswith("Stream")]
            spans = [_span(event) for line in chosen for event in line.events]
            if spans:
                work[plane.name.removeprefix("/device:")] = spans
        elif plane.name == "/host:CPU":
            for line in plane.lines:
                for event in line.events:
                    if event.name == _CALL:
                        windows.append(_span(event))
                    elif (device := _cpu_device(event)) is not None:
                        work.setdefault(device, []).append(_span(event))
    # Beside an accelerator such events of the host are launches, not work.
    accelerators = {device: spans for device, spans in work.items() if not device.startswith("CPU:")}
    return windows, accelerators or work


def _cpu_device(event: Any) -> str | None:
    if event.duration_ns <= 0 or "::" in event.name:
        return None
    statistics = dict(event.stats)
    return f"CPU:{statistics.get('device_ordinal', 0)}" if "hlo_op" in statistics else None


def _span(event: Any) -> Interval:
    start = int(event.start_ns)
    return start, start + int(event.duration_ns)


class _NotRecorded(Exception):
    """The profiler could not be started."""


@contextmanager
def _recording(directory: str) -> Iterator[None]:
    import jax

    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.host_tracer_level = 2
    try:
        jax.profiler.start_trace(directory, profiler_options=options)
    except Exception as error:
        raise _NotRecorded(f"the profiler could not be started ({error})") from error
    try:
        yield
    finally:
        jax.profiler.stop_trace()
