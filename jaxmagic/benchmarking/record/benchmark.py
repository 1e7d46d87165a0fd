"""Records of repeated measurement: all samples, and under which conditions they were taken."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from ...compilation.record.compilation import Compilation
from ...records.environment import Environment
from ...records.finding import Finding
from ...session.record import Record
from ...statistics.estimate import Estimate
from ...timing.record import Timing
from .device_time import DeviceTime
from .process_noise import ProcessNoise
from .timeit_result import TimeitAttributes

#: What ended the sampling: the interval was narrow enough, the budget was spent, as many were taken as asked for, or
#: the user interrupted it.
StoppedBy = Literal["precision", "budget", "count", "interrupt", "error"]

#: Why calls do not overlap: each waits for its own result, or leaves no JAX work behind when it returns; or they run
#: over several devices of one CPU, where they may wait for each other without end.
Serial = Literal["waits", "nothing left", "several devices"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """All samples of one statement, taken alike.

    Attributes:
        samples_ns: the time of each sample, in the order in which they were taken.
        evaluations: calls of the statement in each sample.
    """

    samples_ns: tuple[int, ...]
    evaluations: int

    def __post_init__(self) -> None:
        if self.evaluations < 1:
            raise ValueError(f"evaluations: expected 1 or more, got {self.evaluations}")
        if any(each < 1 for each in self.samples_ns):
            raise ValueError(f"samples_ns: expected 1 or more, got {min(self.samples_ns)}")

    @property
    def calls_ns(self) -> tuple[float, ...]:
        """The time of a call, for each sample."""
        return tuple(each / self.evaluations for each in self.samples_ns)


def check_turns(pipelined: Trial | None, waited: Trial | None) -> None:
    """Check that two trials were taken in turns, as ``pipelined`` and ``waited`` of a record are.

    Raises:
        ValueError: they were not.
    """
    if pipelined is None:
        return
    if not pipelined.samples_ns:
        raise ValueError("pipelined.samples_ns is empty: expected at least one sample, or null for pipelined")
    expected = 2 * len(pipelined.samples_ns)
    if waited is not None and len(waited.samples_ns) != expected:
        raise ValueError(
            f"waited.samples_ns: expected {expected} samples, two for each of pipelined; got {len(waited.samples_ns)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One fresh process in which a statement was measured.

    Attributes:
        sample_count: how many of the record's samples were taken in it.
        first_call_ns: the wall time of its first call.
        compile_ns: how long that compiled: tracing, lowering, compilation and cache retrieval.
        stopped_by: what ended its sampling.
        pipelined: its calls enqueued one after the other; ``None`` where that was not measured.
        waited: batches of as many calls, each call waited for, in turns with these: two for each.
    """

    sample_count: int
    first_call_ns: int
    compile_ns: int
    stopped_by: StoppedBy
    pipelined: Trial | None = None
    waited: Trial | None = None

    def __post_init__(self) -> None:
        if self.sample_count < 1:
            raise ValueError(f"sample_count: expected at least one sample, got {self.sample_count}")
        check_turns(self.pipelined, self.waited)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What went on beside the samples, and belongs to their truth.

    Attributes:
        overhead_ns: what a call that does nothing takes in the same loop, the wait for a finished result included.
            It is in every sample, and not taken off.
        resolution_ns: the smallest step of the clock.
        fresh: whether every sample was given arguments of its own, made outside the clock.
        fenced: whether each call was ended by a fence, because its result did not reach all of its work.
        collected: samples in which Python's garbage collector ran.
        collection_ns: how long it ran in them altogether.
        other_load: processors that other processes kept busy meanwhile, on average; ``None`` if unknown.
        folded: whether the statement calls a jitted function without any array, so that XLA may have computed the
            result while compiling.
        compilations: what was compiled while samples were taken.
        serial: why calls cannot overlap, so that pipelined calls were not measured; ``None`` where they can, or where
            that was not looked at.
    """

    overhead_ns: float
    resolution_ns: int
    fresh: bool = False
    fenced: bool = False
    collected: int = 0
    collection_ns: int = 0
    other_load: float | None = None
    folded: bool = False
    compilations: tuple[Compilation, ...] = ()
    serial: Serial | None = None


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
        """What compiled, in the first call and while samples were taken."""
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
        """What is wrong with the samples, why, and what to do about it."""
        from .findings import findings

        return findings(self)
