"""Records of candidates that were measured side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol

from ...benchmarking.record.benchmark import Conditions, StoppedBy, Trial, check_turns
from ...benchmarking.record.versus import Versus
from ...compilation.record.compilation import Compilation
from ...memory_use.record.memory_profile import Executable
from ...profiling.record.profile import Profile
from ...records.environment import Environment
from ...records.finding import Finding
from ...session.record import Record
from ...statistics.estimate import Estimate
from ...terminal import printable
from ...timing.record import Timing

#: How outputs were compared.
CheckKind = Literal["allclose", "equal", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Whether a candidate computes what the baseline computes.

    Attributes:
        kind: ``allclose`` within the tolerances, ``equal`` in every bit.
        passed: whether it does.
        leaf: the path of the leaf of the pytree with the largest error, or that does not fit; ``None`` if there is
            no leaf.
        problem: what does not fit, where it is not the size of an error: another structure, shape or dtype.
        largest_error: the largest absolute difference in that leaf.
        rtol: relative tolerance, of the larger of both values.
        atol: absolute tolerance in that leaf.
        dtype: of that leaf; ``None`` where it was not read.
        like_dtype: of the same leaf in the output that it was compared with.
        like: the label of the candidate whose output it was compared with; ``None`` for the baseline's.
    """

    kind: CheckKind
    passed: bool
    leaf: str | None = None
    problem: str | None = None
    largest_error: float | None = None
    rtol: float = 0.0
    atol: float = 0.0
    dtype: str | None = None
    like_dtype: str | None = None
    like: str | None = None


#: What work is counted in: the user's own things, bytes, or floating-point operations.
WorkKind = Literal["items", "bytes", "flops"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How much a call does, so that its time becomes a throughput.

    Attributes:
        kind: of what.
        amount: how many in one call; ``None`` where that is not known.
        caveats: what the amount leaves out, or why there is none.
    """

    kind: WorkKind
    amount: float | None
    caveats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.amount is not None and not 0 < self.amount < float("inf"):
            raise ValueError(f"work: expected a positive number of {self.kind}, got {self.amount}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One of the things that were compared.

    Attributes:
        label: its name.
        code: its source, ``None`` if unknown.
        first_call: its first call, with its compilation.
        warmup_ns: calls after it, until nothing compiled any more and they got no faster.
        latency: one sample from each round.
        pipelined: calls enqueued one after the other, with one wait; ``None`` where that was not measured.
        waited: batches of as many calls as in `pipelined`, each call waited for, in turns with these: two for each.
        memory: the program that a call runs, and what it needs of each device; without a map. ``None`` where a call
            runs several programs or none, and where that is not known.
        check: whether its output is the baseline's; ``None`` for the baseline, and where that was not asked for.
        conditions: what went on beside its samples.
        work: how much a call does; ``None`` where that was not asked for.
        profile: where devices spent the time of a few more calls; ``None`` where that was not asked for.
        like: the label of its counterpart, where functions and their derivatives are compared: the baseline's same
            derivative. ``None`` where everything is compared with the baseline.
    """

    label: str
    code: str | None
    first_call: Timing
    warmup_ns: tuple[int, ...]
    latency: Trial
    pipelined: Trial | None
    memory: Executable | None
    check: Check | None
    conditions: Conditions
    work: Work | None = None
    profile: Profile | None = None
    like: str | None = None
    waited: Trial | None = None

    def __post_init__(self) -> None:
        check_turns(self.pipelined, self.waited)

    @property
    def pipelined_ratio(self) -> Estimate | None:
        """The time of a batch of calls in flight over that of as many that are waited for, in turns with it."""
        from ...benchmarking.record.in_turns import in_turns

        return in_turns(self.pipelined, self.waited)

    @property
    def memory_bytes(self) -> int | None:
        """The most that its program needs at once: argument + output + temporary - alias."""
        return None if self.memory is None else self.memory.peak_bytes

    @property
    def throughput(self) -> float | None:
        """How much of its work is done in a second, each call waited for; ``None`` where the work is not known.

        By the mean time of a call: with skewed noise the median is shorter, and would promise too much.
        """
        if self.work is None or self.work.amount is None:
            return None
        calls_ns = self.latency.calls_ns
        return self.work.amount / max(sum(calls_ns) / len(calls_ns), 1e-9) * 1e9

    @property
    def throughput_interval(self) -> tuple[float, float] | None:
        """Encloses the true throughput with 95 % confidence; ``None`` for fewer than six samples."""
        from ...statistics.medians import mean_interval

        found = mean_interval(self.latency.calls_ns)
        if found is None or found.low <= 0 or self.work is None or self.work.amount is None:
            return None
        return self.work.amount / found.high * 1e9, self.work.amount / found.low * 1e9


class MeasureAgain(Protocol):
    """Measures the candidates of a comparison once more."""

    def __call__(self, budget_s: float, tell: Callable[[float], None] | None = None) -> Comparison:
        """A new record, with new samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Record):
    """Candidates that were measured in turns, in rounds whose order was shuffled.

    Attributes:
        code: the cell, ``None`` if there was none.
        started_at: when, in ISO 8601 with the time zone.
        baseline: the label of the candidate that the others are compared with.
        candidates: in the order in which they were given; each has one sample a round.
        twice: the label of the candidate that was measured twice in each round: the baseline, when it was measured.
        again: its second samples. What they differ by from its first ones is the noise.
        rtol: how narrow the intervals of the ratios were to become.
        budget_ns: how long sampling was allowed to take.
        stopped_by: which of the two ended it, or what else did.
        environment: under which this is true.
        error: the type of what a candidate raised in a later call, which ended it; ``None`` if none did.
        values: what the candidates returned, by label. Not saved, and not kept by the history.
        measure_again: takes new samples of the same candidates, for a budget in seconds, and tells a function, if it
            is given one, which share of that is spent; first calls stay those of this record. ``None`` for a record
            that was loaded, or comes from the history.
    """

    _derived: ClassVar[tuple[str, ...]] = ("verdicts",)

    code: str | None
    started_at: str
    baseline: str
    candidates: tuple[Candidate, ...]
    twice: str
    again: Trial
    rtol: float
    budget_ns: int
    stopped_by: StoppedBy
    environment: Environment
    error: str | None = None
    values: dict[str, Any] = field(default_factory=dict, repr=False, compare=False, metadata={"saved": False})
    measure_again: MeasureAgain | None = field(default=None, repr=False, compare=False, metadata={"saved": False})

    def __post_init__(self) -> None:
        labels = [each.label for each in self.candidates]
        if len(set(labels)) < len(labels):
            raise ValueError(f"labels: expected different ones, got {printable(', '.join(labels))}")
        for name in ("baseline", "twice"):
            if getattr(self, name) not in labels:
                raise ValueError(
                    f"{name}: there is no candidate {getattr(self, name)!r}, only {printable(', '.join(labels))}"
                )
        counts = {len(each.latency.samples_ns) for each in self.candidates} | {len(self.again.samples_ns)}
        if len(counts) > 1 or 0 in counts:
            raise ValueError(f"expected one sample per candidate and round, got {sorted(counts)} samples")

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """What compiled in the first calls of all candidates."""
        return tuple(one for each in self.candidates for one in each.first_call.compilations)

    def __getitem__(self, label: str) -> Versus:
        """A candidate beside the baseline.

        Raises:
            KeyError: there is no such candidate.
        """
        from .verdict import versus

        return versus(self, self.candidate(label))

    def __iter__(self) -> Iterator[str]:
        return iter([each.label for each in self.candidates])

    def __len__(self) -> int:
        return len(self.candidates)

    def candidate(self, label: str) -> Candidate:
        """The samples of a candidate.

        Raises:
            KeyError: there is no such candidate.
        """
        for each in self.candidates:
            if each.label == label:
                return each
        raise KeyError(f"there is no candidate {label!r}, only {printable(', '.join(self))}")

    @property
    def verdicts(self) -> dict[str, Versus]:
        """Each candidate beside the baseline, by label."""
        return {label: self[label] for label in self}

    @property
    def noise(self) -> Estimate | None:
        """The time of one candidate over its own in the same rounds; ``None`` for fewer than six."""
        from .verdict import noise

        return noise(self)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What makes the ratios less than they seem, why, and what to do about it."""
        from .verdict import findings

        return findings(self)

    def without_values(self) -> Comparison:
        """The same record, that keeps no array alive."""
        return replace(self, values={}, measure_again=None)
