"""Declares the record of a benchmark: all samples, and the conditions under which they were taken."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ...compilation.record.compilation import Compilation
from ...records.environment import Environment
from ...records.finding import Finding
from ...session.record import Record
from ...statistics.estimate import Estimate
from ...timing.record import Timing
from .device_time import DeviceTime
from .inputs import Input
from .process_noise import ProcessNoise
from .samples import Conditions, Launch, StoppedBy, Trial, check_turns
from .timeit_result import TimeitAttributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark(Record, TimeitAttributes):
    """One statement, measured until its median is known precisely enough.

    Times per call are floats in nanoseconds, because a sample may be many calls. What was not measured is ``None``.
    The attributes of IPython's ``TimeitResult`` (``average``, ``best``, ``all_runs`` and others) are there
    too, in seconds.

    Attributes:
        code: the source, or the name of the function, that was measured; ``None`` if unknown.
        started_at: when, in ISO 8601 with the time zone.
        first_call: the first call, apart from all others, with its compilation.
        warmup_ns: the times of the next calls, until calls compiled nothing and got no faster.
        latency: samples of calls that are each waited for.
        pipelined: batches of calls enqueued one after the other, with one wait at the end. ``None`` if not measured;
            ``conditions.serial`` says whether that is because calls cannot overlap.
        waited: batches of the same number of calls as in `pipelined`, each call waited for. Two of them were taken in
            turns with each pipelined batch.
        rtol: the target width of the interval: this share of the median to either side.
        budget_ns: how long sampling was allowed to take, excluding the first call.
        stopped_by: what ended sampling: ``precision`` or ``budget``; ``count`` if the number of samples was given,
            ``interrupt`` if the user ended it, ``error`` if a later call raised.
        conditions: the conditions under which samples were taken.
        environment: the environment in which this was measured.
        error: the type of the exception that was raised, such as ``ValueError``; ``None`` if there was none.
        device: how long devices were busy in some calls under the profiler; ``None`` if not requested.
        launches: the fresh processes in which it was measured, in order; empty if it was measured in the calling
            process. ``latency`` holds their samples one process after the other. ``first_call``, ``warmup_ns`` and
            ``device`` come from the first process; ``pipelined`` is ``None``, and each launch has its own.
        process_noise: how much medians differ from process to process on this machine, if that had been measured when
            the record was made.
        inputs: what the statement reads, without the data of arrays; ``None`` if unknown, as in older records.
        value: the value that the last call returned. It is not saved, and not kept by the history.
    """

    _derived: ClassVar[tuple[str, ...]] = ("median_ns", "interval_ns", "pipelined_ns")

    code: str | None
    started_at: str
    first_call: Timing
    warmup_ns: tuple[int, ...]
    latency: Trial
    pipelined: Trial | None
    rtol: float
    budget_ns: int
    stopped_by: StoppedBy
    conditions: Conditions
    environment: Environment
    error: str | None = None
    device: DeviceTime | None = None
    waited: Trial | None = None
    launches: tuple[Launch, ...] = ()
    process_noise: ProcessNoise | None = None
    inputs: tuple[Input, ...] | None = None
    value: Any = field(default=None, repr=False, compare=False, metadata={"saved": False})

    def __post_init__(self) -> None:
        if not self.latency.samples_ns:
            raise ValueError("latency.samples_ns is empty: a benchmark has at least one sample")
        check_turns(self.pipelined, self.waited)
        taken = sum(each.sample_count for each in self.launches)
        if self.launches and taken != len(self.latency.samples_ns):
            raise ValueError(
                f"launches: expected {len(self.latency.samples_ns)} samples, as many as in latency, got {taken}"
            )

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """All compilations, in the first call and while samples were taken."""
        return self.first_call.compilations + self.conditions.compilations

    @property
    def samples_ns(self) -> tuple[int, ...]:
        """The raw samples of the latency."""
        return self.latency.samples_ns

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The latency of each process: one trial for each of ``launches``, or the only one."""
        trials, start = [], 0
        for launch in self.launches:
            end = start + launch.sample_count
            trials.append(replace(self.latency, samples_ns=self.latency.samples_ns[start:end]))
            start = end
        return tuple(trials) or (self.latency,)

    @property
    def estimate(self) -> Estimate | None:
        """The median time of a call with its interval; ``None`` for fewer than six samples.

        For several processes it is the geometric mean of their medians, with the interval between processes.
        """
        from ...statistics.medians import median_interval
        from .processes import between_processes  # imports numpy, which is not needed just to hold a record

        return between_processes(self) if self.launches else median_interval(self.latency.calls_ns)

    @property
    def median_ns(self) -> float:
        """The median time of a call that is waited for; for several processes the geometric mean of their medians."""
        from ...statistics.medians import median
        from .processes import middle

        return middle(self) if self.launches else median(self.latency.calls_ns)

    @property
    def interval_ns(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the median; ``None`` for fewer than six samples."""
        estimate = self.estimate
        return None if estimate is None else (estimate.low, estimate.high)

    @property
    def pipelined_ns(self) -> float | None:
        """The time of a pipelined call: the median over the batches of their mean time per call."""
        from ...statistics.medians import median
        from .processes import middle_pipelined

        if self.launches:
            return middle_pipelined(self)
        return None if self.pipelined is None else median(self.pipelined.calls_ns)

    @property
    def pipelined_ratio(self) -> Estimate | None:
        """The ratio of pipelined to waited-for time, for batches of equally many calls that were taken in turns.

        ``None`` if that was not measured, as in records of older versions.
        """
        from .in_turns import in_turns

        return in_turns(self.pipelined, self.waited)

    def without_values(self) -> Benchmark:
        """Return the same record without its value, so that it keeps no array alive."""
        return replace(self, value=None)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Problems with the samples: what is wrong, why, and what to do about it."""
        from .findings import findings

        return findings(self)
