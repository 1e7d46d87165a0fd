"""Declares a candidate of a comparison: its samples, its output, its work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...benchmarking.record.samples import Conditions, Trial, check_turns
from ...memory_use.record.memory_profile import Executable
from ...profiling.record.profile import Profile
from ...statistics.estimate import Estimate
from ...timing.record import Timing

#: How outputs were compared.
CheckKind = Literal["allclose", "equal", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The check that a candidate computes what the baseline computes.

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
    """The work of a call, which makes a throughput of its time.

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
        memory: the program of a candidate that calls one jitted function and does nothing else, with its memory need
            per device but without a map. ``None`` for other candidates, which may run several programs.
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
        """Work per second, each call waited for; ``None`` where the work is not known.

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
