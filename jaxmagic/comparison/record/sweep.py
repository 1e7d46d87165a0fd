"""Records of a comparison that was repeated for several sizes, types or settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal

from ...compilation.record.compilation import Compilation
from ...records.environment import Environment
from ...session.record import Record
from ...statistics.estimate import Estimate
from ...terminal import printable
from .comparison import Comparison

#: What ended a sweep: all of its points were measured, the budget was spent, or the user interrupted it.
SweepEnd = Literal["end", "budget", "interrupt"]


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
class Failure:
    """Why something has no time.

    Attributes:
        label: the candidate that failed; ``None`` where it was not one of them, but what runs before them.
        error: the exception's type and the beginning of its message.
    """

    label: str | None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One value of each variable, and what was measured there.

    Attributes:
        at: which of its values each variable had.
        comparison: the candidates that did not fail, side by side; ``None`` where all did.
        failures: of the others.
    """

    at: tuple[int, ...]
    comparison: Comparison | None
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How the time of a candidate grows: as an overhead plus a power of the variable.

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
    """Where one candidate overtakes another one.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep(Record):
    """Candidates side by side, for every combination of the values of some variables.

    Attributes:
        code: the cell, ``None`` if there was none.
        started_at: when, in ISO 8601 with the time zone.
        variables: what varies.
        labels: of the candidates.
        baseline: the one that the others are compared with, wherever it did not fail.
        points: what was measured, in the order in which it was; the last variable varies first.
        budget_ns: how long all of it was allowed to take.
        stopped_by: what ended it.
        environment: under which this is true.
    """

    _derived: ClassVar[tuple[str, ...]] = ("curves", "crossings")

    code: str | None
    started_at: str
    variables: tuple[Variable, ...]
    labels: tuple[str, ...]
    baseline: str
    points: tuple[Point, ...]
    budget_ns: int
    stopped_by: SweepEnd
    environment: Environment

    def __post_init__(self) -> None:
        names = [each.name for each in self.variables]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"expected variables of different names, got {printable(', '.join(names)) or 'none'}")
        if self.baseline not in self.labels:
            raise ValueError(
                f"baseline: there is no candidate {self.baseline!r}, only {printable(', '.join(self.labels))}"
            )
        for point in self.points:
            self._check(point)
        places = [point.at for point in self.points]
        if len(set(places)) < len(places):
            raise ValueError(f"there is more than one point at {max(places, key=places.count)}")

    def _check(self, point: Point) -> None:
        sizes = [len(each.labels) for each in self.variables]
        if len(point.at) != len(sizes) or not all(0 <= at < size for at, size in zip(point.at, sizes, strict=True)):
            raise ValueError(f"a point is at {point.at}, of {sizes} values")
        strangers = set(point.comparison or ()) - set(self.labels)
        if strangers:
            raise ValueError(f"there is no candidate {min(strangers)!r}, only {printable(', '.join(self.labels))}")

    @property
    def planned(self) -> int:
        """How many points there would be, had nothing ended the sweep before."""
        return prod(len(each.labels) for each in self.variables)

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """What compiled at all points."""
        return tuple(one for each in self.points if each.comparison for one in each.comparison.compilations)

    @property
    def curves(self) -> tuple[Curve, ...]:
        """Each candidate along the variable with the most numbers, once for every combination of the other ones."""
        from .scaling import curves

        return curves(self)

    @property
    def crossings(self) -> tuple[Crossing, ...]:
        """Where candidates overtake each other."""
        from .crossings import crossings

        return crossings(self)

    def __getitem__(self, label: str) -> tuple[Curve, ...]:
        """The curves of one candidate.

        Raises:
            KeyError: there is no such candidate.
        """
        if label not in self.labels:
            raise KeyError(f"there is no candidate {label!r}, only {printable(', '.join(self.labels))}")
        return tuple(each for each in self.curves if each.label == label)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.points)

    def values(self, point: Point) -> dict[str, str]:
        """The value of each variable at a point, as people read it."""
        return {variable.name: variable.labels[at] for variable, at in zip(self.variables, point.at, strict=True)}
