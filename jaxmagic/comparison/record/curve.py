"""Declares the results of a sweep: variables, curves, growth, crossings."""

from __future__ import annotations

from dataclasses import dataclass

from ...statistics.estimate import Estimate
from ...terminal import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """Something that a sweep varies.

    Attributes:
        name: its name in the code.
        labels: its values as text.
        numbers: its values, if all of them are distinct positive numbers that fit on an axis; otherwise ``None``.
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
            raise ValueError(f"numbers of {self.name} must be positive and fit on an axis")


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The growth of a candidate's time: an overhead plus a power of the variable.

    Attributes:
        exponent: the exponent of the power. Its interval covers the true one in 95 % of cases if points scatter by up
            to 3 % around a smooth curve. It is wider by what other processes may do, if they kept the machine busy,
            or if their load is unknown and a point has few rounds. An end is infinite if no exponent on that side can
            be excluded, because the overhead hides the work. The work doubles ``exponent`` times when the variable
            doubles.
        start: the smallest measured value of the variable from which the work takes longer than the overhead;
            infinite if it never does.
        overhead_ns: the part of the time that does not grow, with its 90 % interval; ``None`` if a power alone fits
            the points as well.
        changes: whether the points scatter around the best curve by more than chance explains: the exponent changes
            along the sweep, so that its interval has no ends.
    """

    exponent: Estimate
    start: float
    overhead_ns: Estimate | None
    changes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The times of a candidate along one variable, with the other variables fixed.

    Attributes:
        label: the candidate's label.
        others: the values of the other variables, such as ``dtype=float32``; empty if there are none.
        variable: the variable that changes.
        positions: the indices of its measured values, in the order of its numbers.
        times: the median time of a call at each of them; for fewer than six rounds the interval is only that value.
        compile_ns: how long the first call compiled at each of them.
        growth: how the time grows; ``None`` for a variable without numbers, and for fewer than three points.
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
        """The candidate's label, with the values of the other variables."""
        return f"{self.label}, {self.others}" if self.others else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A value at which one candidate overtakes another one.

    It lies between `low` and `high` in 95 % of sweeps, given the noise between points.

    Attributes:
        before: the candidate that is faster below.
        after: the candidate that is faster above.
        others: the values of the other variables.
        variable: the name of the variable.
        low: the last value at which `before` is certainly faster, given the noise between points.
        high: the first value at which `after` is certainly faster.
        value: the value in between at which both take equally long, interpolated in log-log scale.
    """

    before: str
    after: str
    others: str
    variable: str
    low: float
    high: float
    value: float
