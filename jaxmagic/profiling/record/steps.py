"""Step times, and what devices did in each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

#: What a step is known by: marks of the profiler, runs of one program that follow each other, or marks that the code
#: made with :class:`jax.profiler.StepTraceAnnotation`.
KnownBy = OneOf["steps", "program", "annotation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """The steps of one device, in order, in columns. The parts of each step add up to its time.

    Attributes:
        device: its name, such as ``"GPU:0"``.
        name: of the steps: of the program that each of them runs, or of their marks.
        known_by: how they were found.
        start_ns: when each began, from the first operation of the recording on.
        time_ns: how long each took: to the beginning of the next, or to its mark's end.
        compute_ns: for how long the device computed.
        collective_ns: for how long it exchanged data with others and did not compute.
        copy_ns: for how long it copied and did neither.
        input_ns: for how long it did nothing while the host moved data or fetched the next of an iterator.
        host_ns: for how long it did nothing while the host did something else, such as compile or run a callback.
        idle_ns: for how long it did nothing and nothing is known of the host.
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
