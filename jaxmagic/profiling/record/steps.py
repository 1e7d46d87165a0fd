"""Step times, and what devices did in each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

#: What a step is known by: marks of the profiler, marks that the code made with
#: :class:`jax.profiler.StepTraceAnnotation`, or runs of one program that follow each other.
KnownBy = OneOf["steps", "program", "annotation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTotals:
    """All steps of one device together.

    Attributes:
        steps: how many there are.
        median_ns: the median of their times.
        low_ns: the shortest.
        high_ns: the longest.
        time_ns: the sum of their times.
        compute_ns: the sum of this part of them, as of the other parts below.
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
    """The steps of one device, in order, in columns, of very many the first. The parts of each add up to its time.

    Attributes:
        device: its name, such as ``"GPU:0"``.
        name: of the steps: of the program that each of them runs, or of their marks.
        known_by: how they were found.
        start_ns: when each began, from the first operation of the recording on.
        time_ns: how long each took: to its mark's end, or to the beginning of the program's next run.
        compute_ns: for how long the device computed.
        collective_ns: for how long it exchanged data with others and did not compute.
        copy_ns: for how long it copied and did neither.
        input_ns: for how long it did nothing while the host moved data or fetched the next of an iterator.
        host_ns: for how long it did nothing while the host did something else, such as compile or run a callback.
        idle_ns: for how long it did nothing and nothing is known of the host.
        all_steps: the totals of all steps, where the columns have only the first ones; else ``None``.
        other_names: the names of other marks that the code made, which are no steps here.
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
