"""Records of repeated measurement: all samples, and under which conditions they were taken."""

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
from .process_noise import ProcessNoise
from .samples import Conditions, Launch, StoppedBy, Trial, check_turns
from .timeit_result import TimeitAttributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark(Record, TimeitAttributes):
    """One statement, measured until its median is known well enough.

    Times of a call are floats in nanoseconds, because a sample may be many calls. What was not measured is ``None``.
    The attributes of IPython's ``TimeitResult`` (``average``, ``best``, ``all_runs``, …) are there too, in seconds.

    Attributes:
        code: the source, or the name of the function, that was measured; ``None`` if unknown.
        started_at: when, in ISO 8601 with the time zone.
        first_call: the first call, apart from all others, with its compilation.
        warmup_ns: the calls after it, until nothing compiled any more and they got no faster.
        latency: each call waited for.
        pipelined: calls enqueued one after the other, and one wait at the end. ``None`` where that was not measured:
            ``conditions.serial`` says where calls cannot overlap.
        waited: batches of as many calls as in `pipelined`, each call waited for, in turns with these: two for each.
        rtol: how narrow the interval was to become: this share of the median to either side.
        budget_ns: how long sampling was allowed to take, the first call aside.
        stopped_by: which of the two ended it; ``count`` where the number of samples was given, ``interrupt`` where
            the user ended it, ``error`` where a later call raised.
        conditions: what went on beside the samples.
        environment: under which this is true.
        error: the type of what was raised, such as ``ValueError``; ``None`` if nothing was.
        device: how long devices worked in some calls under the profiler; ``None`` where that was not asked for.
        launches: the fresh processes in which it was measured, in order; empty where it was measured in the process
            that asked. Their samples follow each other in ``latency``. ``first_call``, ``warmup_ns`` and ``device``
            are those of the first process; ``pipelined`` is ``None``, and each launch has its own.
        process_noise: how much medians differ from process to process on this machine, where that had been measured
            when the record was made.
        value: what the last call returned. Not saved, and not kept by the history.
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
    value: Any = field(default=None, repr=False, compare=False, metadata={"saved": False})

    def __post_init__(self) -> None:
        if not self.latency.samples_ns:
            raise ValueError("latency.samples_ns is empty: a benchmark has at least one sample")
        check_turns(self.pipelined, self.waited)
        taken = sum(each.sample_count for each in self.launches)
        if self.launches and taken != len(self.latency.samples_ns):
            raise ValueError(
                f"launches: expected {len(self.latency.samples_ns)} samples, as many as in latency; got {taken}"
            )

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """All compilations, of the first call and while samples were taken."""
        return self.first_call.compilations + self.conditions.compilations

    @property
    def samples_ns(self) -> tuple[int, ...]:
        """The raw samples of the latency."""
        return self.latency.samples_ns

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The latency of each process: one trial for each of :attr:`launches`, or the only one."""
        trials, start = [], 0
        for launch in self.launches:
            end = start + launch.sample_count
            trials.append(replace(self.latency, samples_ns=self.latency.samples_ns[start:end]))
            start = end
        return tuple(trials) or (self.latency,)

    @property
    def estimate(self) -> Estimate | None:
        """The median time of a call with its interval; ``None`` for fewer than six samples, which have none.

        Of several processes it is the geometric mean of their medians, and the interval is the one between processes.
        """
        from ...statistics.medians import median_interval
        from .processes import between_processes  # costs numpy, and a record that nobody reads needs none

        return between_processes(self) if self.launches else median_interval(self.latency.calls_ns)

    @property
    def median_ns(self) -> float:
        """The median time of a call that is waited for; of several processes the geometric mean of their medians."""
        from ...statistics.medians import median
        from .processes import middle

        return middle(self) if self.launches else median(self.latency.calls_ns)

    @property
    def interval_ns(self) -> tuple[float, float] | None:
        """Encloses the true median with 95 % confidence; ``None`` for fewer than six samples."""
        estimate = self.estimate
        return None if estimate is None else (estimate.low, estimate.high)

    @property
    def pipelined_ns(self) -> float | None:
        """The time of a call where none is waited for by itself: the median over the batches of their means."""
        from ...statistics.medians import median
        from .processes import middle_pipelined

        if self.launches:
            return middle_pipelined(self)
        return None if self.pipelined is None else median(self.pipelined.calls_ns)

    @property
    def pipelined_ratio(self) -> Estimate | None:
        """The time of a batch of calls in flight over that of as many that are waited for, in turns with it.

        ``None`` where that was not measured, as in records of older versions.
        """
        from .in_turns import in_turns

        return in_turns(self.pipelined, self.waited)

    def without_values(self) -> Benchmark:
        """The same record, that keeps no array alive."""
        return replace(self, value=None)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings about the samples: what is wrong, why, and what to do about it."""
        from .findings import findings

        return findings(self)
