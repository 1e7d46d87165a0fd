"""Step times and their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

#: How steps were found: as events of the profiler's "Steps" line, as consecutive executions of one program, or as
#: annotations of the code with :class:`jax.profiler.StepTraceAnnotation`.
KnownBy = OneOf["steps", "program", "annotation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """The steps of one device, in order, in columns. The parts of each step add up to its time.

    Attributes:
        device: the name of the device, such as ``"GPU:0"``.
        name: the name of the program that each step runs, or of the annotations.
        known_by: how the steps were found.
        start_ns: start times since the first operation of the recording.
        time_ns: step times: to the start of the next step, or to the end of the event.
        compute_ns: the device computed.
        collective_ns: the device communicated and did not compute.
        copy_ns: the device copied and did neither.
        input_ns: the device was idle while the host moved data or fetched the next item of an iterator.
        host_ns: the device was idle while the host did something else, such as compile.
        idle_ns: the device was idle, and no activity of the host is known.
    """

    device: str
    name: str
    known_by: KnownBy
    start_ns: tuple[int, ...]
    time_ns: tuple[int, ...]
    compute_ns: tuple[int, ...]
    collective_ns: tuple[int, ...]
    copy_ns: tuple[int, ...]
    input_ns: tuple[int, ...]
    host_ns: tuple[int, ...]
    idle_ns: tuple[int, ...]
