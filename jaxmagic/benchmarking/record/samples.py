"""Samples of a benchmark, and the conditions under which they were taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...compilation.record.compilation import Compilation

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
    """Conditions under which the samples were taken, without which they mean less.

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
