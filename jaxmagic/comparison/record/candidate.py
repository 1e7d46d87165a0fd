"""Declares a candidate of a comparison: its samples, the check of its output, its work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...benchmarking.record.inputs import Input
from ...benchmarking.record.samples import Conditions, Trial, check_turns
from ...memory_use.record.memory_profile import Executable
from ...profiling.record.profile import Profile
from ...statistics.estimate import Estimate
from ...timing.record import Timing

#: The ways of comparing outputs that have a name.
CheckKind = Literal["allclose", "equal", "none"]

#: How a user says it: in one of these ways, with a share such as ``"1%"``, an ``rtol``, or ``(rtol, atol)``.
CheckBy = CheckKind | str | float | tuple[float, float]

#: The same without choices: a number is a share of the largest value in each leaf.
CheckRule = CheckKind | tuple[float, float] | float

#: How outputs were compared.
ComparedBy = Literal["allclose", "share", "equal", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The comparison of a candidate's output with the baseline's.

    Attributes:
        kind: ``allclose`` within the tolerances, ``share`` within a given share of the largest value in each leaf
            (types without rounding have to be equal), ``equal`` in every bit.
        passed: whether the outputs agree.
        leaf: the path of the pytree leaf with the problem, or else with the largest error as a share of the leaf's
            largest value (with a given tolerance, the largest error); ``None`` if there is no leaf. Leaves that do
            not agree come first.
        problem: why the outputs differ, if it is not a numerical error: a different structure, shape or dtype.
        largest_error: the largest absolute difference in that leaf; if a given tolerance is exceeded, the largest of
            the elements beyond it.
        mean_error: the mean of the signed differences in that leaf; ``None`` for fewer than 16 real numbers,
            and if the reference has the same everywhere.
        rtol: the relative tolerance. Unless it was given, it follows from the coarser of both types.
        atol: the absolute tolerance in that leaf.
        given: whether `rtol` and `atol` were given. Then each element may differ by ``atol + rtol * |reference|``, as
            in ``numpy.testing.assert_allclose``; otherwise by `atol`.
        dtype: the dtype of that leaf; ``None`` if it was not read.
        like_dtype: the dtype of the same leaf in the output that it was compared with.
        like: the label of the candidate whose output it was compared with; ``None`` for the baseline.
        largest_share: the largest error of any leaf as a share of the largest value in that leaf, which need not be
            `leaf`; ``None`` where such a value is unknown, and with given `rtol` and `atol`.
        varies: whether that candidate, called once more, returned something else than before, by the same tolerance.
            Then it is unknown whether both compute the same. It is called again only if the outputs differ.
    """

    kind: ComparedBy
    passed: bool
    leaf: str | None = None
    problem: str | None = None
    largest_error: float | None = None
    mean_error: float | None = None
    rtol: float = 0.0
    atol: float = 0.0
    dtype: str | None = None
    like_dtype: str | None = None
    like: str | None = None
    given: bool = False
    varies: bool = False
    largest_share: float | None = None

    @property
    def share(self) -> float | None:
        """The largest error as a share of the largest value in that leaf; ``None`` where that value is unknown."""
        largest = 0.0 if self.given or not self.rtol else self.atol / self.rtol
        return (self.largest_error or 0.0) / largest if largest else None

    @property
    def severity(self) -> tuple[bool, float, float]:
        """The larger, the worse: a failure first, then the share of the largest value, then the absolute error."""
        error = self.largest_error or 0.0
        unknown = 0.0 if self.given or not error else float("inf")
        return not self.passed, unknown if self.share is None else self.share, error


#: The unit of work: the user's own items, bytes, or floating-point operations.
WorkKind = Literal["items", "bytes", "flops"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work of a call; divided by the time, it gives the throughput.

    Attributes:
        kind: the unit.
        amount: the number of units per call; ``None`` if unknown.
        caveats: what the amount leaves out, or why it is unknown.
    """

    kind: WorkKind
    amount: float | None
    caveats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.amount is not None and not 0 < self.amount < float("inf"):
            raise ValueError(f"work: expected a positive number of {self.kind}, got {self.amount}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One of the functions or expressions that were compared.

    Attributes:
        label: its label.
        code: its source; ``None`` if unknown.
        first_call: its first call, with its compilation.
        warmup_ns: the times of the next calls, until calls compiled nothing and got no faster.
        latency: one sample from each round.
        pipelined: batches of calls enqueued one after the other, with one wait; ``None`` if not measured.
        waited: batches of the same number of calls as in `pipelined`, each call waited for. Two of them were taken in
            turns with each pipelined batch.
        memory: the program of a candidate that calls one jitted function and does nothing else, with its memory need
            per device but without a map. ``None`` for other candidates, which may run several programs.
        check: whether its output agrees with the baseline's; ``None`` for the baseline, and if not requested.
        conditions: the conditions under which its samples were taken.
        work: the work of a call; ``None`` if not requested.
        profile: where devices spent the time of a few more calls; ``None`` if not requested.
        like: the label of its counterpart, the same derivative of the baseline, if functions and their derivatives
            are compared. ``None`` if everything is compared with the baseline.
        inputs: what it reads, without the data of arrays; ``None`` if unknown, as in older records.
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
    inputs: tuple[Input, ...] | None = None

    def __post_init__(self) -> None:
        check_turns(self.pipelined, self.waited)

    @property
    def pipelined_ratio(self) -> Estimate | None:
        """The ratio of pipelined to waited-for time, for batches of equally many calls that were taken in turns."""
        from ...benchmarking.record.in_turns import in_turns

        return in_turns(self.pipelined, self.waited)

    @property
    def memory_bytes(self) -> int | None:
        """The peak memory of its program: argument + output + temporary - alias."""
        return None if self.memory is None else self.memory.peak_bytes

    @property
    def throughput(self) -> float | None:
        """Work per second at the median time of a call that is waited for; ``None`` if the work is unknown."""
        if self.work is None or self.work.amount is None:
            return None
        from ...statistics.medians import median

        return self.work.amount / max(median(self.latency.calls_ns), 1e-9) * 1e9

    @property
    def throughput_interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the throughput; ``None`` for fewer than six samples."""
        from ...statistics.medians import median_interval

        time_ns = median_interval(self.latency.calls_ns)
        if time_ns is None or time_ns.low <= 0 or self.work is None or self.work.amount is None:
            return None
        return self.work.amount / time_ns.high * 1e9, self.work.amount / time_ns.low * 1e9
