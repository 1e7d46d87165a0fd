"""Declares what a sweep shows: variables, curves, growth, crossings."""

from __future__ import annotations

from dataclasses import dataclass

from ...statistics.estimate import Estimate
from ...terminal import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """Something that a sweep varies.

    Attributes:
        name: in the code.
        labels: its values, as people read them.
        numbers: its values, where all of them are positive numbers, so that they have a place on an axis; else
            ``None``.
    """

    name: str
    labels: tuple[str, ...]
    numbers: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.labels:
            raise ValueError(f"{self.name} has no value")
        if len(set(self.labels)) < len(self.labels):
            raise ValueError(f"{self.name} has a value twice, among {printable(', '.join(self.labels))}")
        if self.numbers is None:
            return
        if len(self.numbers) != len(self.labels):
            raise ValueError(f"{self.name} has {len(self.labels)} labels and {len(self.numbers)} numbers")
        if len(set(self.numbers)) < len(self.numbers):
            raise ValueError(f"{self.name} has a value twice, among {printable(', '.join(self.labels))}")
        if not all(1e-100 < each < 1e100 for each in self.numbers):
            raise ValueError(f"numbers of {self.name} have to be positive, and such that they fit on an axis")


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The growth of a candidate's time: an overhead plus a power of the variable.

    Attributes:
        exponent: of the power, with the interval that covers it in 95 % of cases, where points differ from a smooth
            curve by up to 3 %. An end is infinite where no exponent is too far, because the overhead hides the work.
            The work doubles ``exponent`` times where the variable doubles.
        start: the smallest measured value of the variable from which the work takes longer than the overhead;
            infinite where it never does.
        overhead_ns: the part of the time that does not grow, with its 90 % interval; ``None`` where a power alone
            passes the points as well.
    """

    exponent: Estimate
    start: float
    overhead_ns: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A candidate along one variable, while the others stay as they are.

    Attributes:
        label: the candidate.
        others: the values of the other variables, such as ``dtype=float32``; empty where there are none.
        variable: the one that changes.
        positions: which of its values were measured, in the order of its numbers.
        times: the median time of a call at each of them; its interval is the value alone for fewer than six rounds.
        compile_ns: what the first call spent on compiling there.
        growth: ``None`` for a variable without numbers, and for fewer than three points.
    """

    label: str
    others: str
    variable: Variable
    positions: tuple[int, ...]
    times: tuple[Estimate, ...]
    compile_ns: tuple[int, ...]
    growth: Growth | None

    @property
    def name(self) -> str:
        """The candidate, with the values of the other variables."""
        return f"{self.label}, {self.others}" if self.others else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A value at which one candidate overtakes another one.

    It lies between `low` and `high` in 95 % of sweeps, whatever differs between points by chance.

    Attributes:
        before: the faster one below.
        after: the faster one above.
        others: the values of the other variables.
        variable: the name of the variable.
        low: the last value at which `before` is faster for certain, beyond the noise between points.
        high: the first value at which `after` is.
        value: between them, where both would take equally long if times were powers of the variable in between.
    """

    before: str
    after: str
    others: str
    variable: str
    low: float
    high: float
    value: float
