"""Step times and their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

#: How steps were found: as events of the profiler's "Steps" line, as consecutive executions of one program, or as
#: annotations of the code with :class:`jax.profiler.StepTraceAnnotation`.
KnownBy = OneOf["steps", "program", "annotation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTotals:
    """All steps of one device together.

    Attributes:
        steps: the number of steps.
        median_ns: the median step time.
        low_ns: the shortest step time.
        high_ns: the longest step time.
        time_ns: the sum of all step times.
        compute_ns: the sum of this part over all steps, as for the other parts below.
    """

    steps: int
    median_ns: float
    low_ns: int
    high_ns: int
    time_ns: int
    compute_ns: int
    collective_ns: int
    copy_ns: int
    input_ns: int
    host_ns: int
    idle_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """The steps of one device in columns, the first ones if there are very many. Parts add up to the step time.

    Attributes:
        device: the name of the device, such as ``"GPU:0"``.
        name: the name of the program that each step runs, or of the annotations.
        known_by: how the steps were found.
        start_ns: start times since the first operation of the recording.
        time_ns: step times: to the end of the annotation, or to the next execution of the program.
        compute_ns: the device computed.
        collective_ns: the device communicated and did not compute.
        copy_ns: the device copied and did neither.
        input_ns: the device was idle while the host moved data or fetched the next item of an iterator.
        host_ns: the device was idle while the host did something else, such as compile or run a callback.
        idle_ns: the device was idle, and no activity of the host is known.
        all_steps: the totals of all steps, if the columns have only the first ones; otherwise ``None``.
        other_names: the names of other annotations of steps, which are no steps here.
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
    all_steps: StepTotals | None = None
    other_names: tuple[str, ...] = ()
