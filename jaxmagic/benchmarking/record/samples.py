"""Declares the samples of a benchmark, and the conditions under which they were taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...compilation.record.compilation import Compilation

#: What ended the sampling: the interval was narrow enough, the budget was spent, the requested number of samples was
#: taken, the user interrupted it, or a call raised.
StoppedBy = Literal["precision", "budget", "count", "interrupt", "error"]


#: Why calls do not overlap: each waits for its own result; or leaves no JAX work running when it returns; or they run
#: on several devices of one CPU, where overlapping calls may deadlock.
Serial = Literal["waits", "nothing left", "several devices"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """All samples of one statement that were taken in the same way.

    Attributes:
        samples_ns: the time of each sample, in the order in which they were taken.
        evaluations: calls of the statement per sample.
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
        """The time per call in each sample."""
        return tuple(each / self.evaluations for each in self.samples_ns)


#: Pipelined calls are measured in turns of three batches; there are at least four turns and two calls per batch.
BATCHES, FEWEST_TURNS, FEWEST_CALLS = 3, 4, 2

#: The largest share of the budget for pipelined calls and for those beside them.
PIPELINED = 0.2


def check_turns(pipelined: Trial | None, waited: Trial | None) -> None:
    """Check that ``pipelined`` and ``waited`` of a record have numbers of samples as if taken in turns.

    Raises:
        ValueError: they do not.
    """
    if pipelined is None:
        return
    if not pipelined.samples_ns:
        raise ValueError("pipelined.samples_ns is empty: expected at least one sample, or null for pipelined")
    expected = 2 * len(pipelined.samples_ns)
    if waited is not None and len(waited.samples_ns) != expected:
        raise ValueError(
            f"waited.samples_ns: expected {expected} samples, two for each of pipelined, got {len(waited.samples_ns)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One fresh process in which a statement was measured.

    Attributes:
        sample_count: how many of the record's samples were taken in this process.
        first_call_ns: the wall time of its first call.
        compile_ns: how long the first call compiled: tracing, lowering, compilation and cache retrieval.
        stopped_by: what ended its sampling.
        pipelined: its batches of pipelined calls; see ``Benchmark``. ``None`` if not measured.
        waited: its batches of calls that are each waited for; see ``Benchmark``.
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
    """Conditions under which samples were taken, and which affect how reliable they are.

    Attributes:
        overhead_ns: the time of an empty call in the same loop, including the wait for a finished result. Every
            sample contains it; it is not subtracted.
        resolution_ns: the smallest step of the clock.
        fresh: whether every sample got its own arguments, made outside the timed region.
        fenced: whether a fence ended each call, because its result did not depend on all of its work.
        collected: the number of samples in which Python's garbage collector ran.
        collection_ns: how long it ran in all of them together.
        other_load: how many processors other processes kept busy meanwhile, on average; ``None`` if unknown.
        folded: whether the statement calls a jitted function without any array, so that XLA may have computed the
            result at compile time.
        compilations: the compilations while samples were taken.
        serial: why calls cannot overlap, so that pipelined calls were not measured; ``None`` if they can, or if that
            was not checked.
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
