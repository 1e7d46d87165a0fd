"""Declares the record of a comparison that was repeated for several sizes, types or settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal

from ...compilation.record.compilation import Compilation
from ...records.environment import Environment
from ...records.names import offered
from ...session.record import Record
from ...terminal import printable
from ...tracebacks import of_the_user
from .comparison import Comparison
from .curve import Crossing, Curve, Variable

#: What ended a sweep: all of its points were measured, the budget was spent, or the user interrupted it.
SweepEnd = Literal["end", "budget", "interrupt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The reason why something was not measured.

    Attributes:
        label: the candidate that failed; ``None`` if it was not a candidate, but the code that runs before them.
        error: the exception's type and the beginning of its message.
    """

    label: str | None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One value of each variable, and the measurement there.

    Attributes:
        at: the index of the value of each variable.
        comparison: the comparison of the candidates that did not fail; ``None`` if all failed.
        failures: the failures of the others.
    """

    at: tuple[int, ...]
    comparison: Comparison | None
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep(Record):
    """Candidates side by side, for every combination of the values of some variables.

    Attributes:
        code: the source of the cell; ``None`` if there was none.
        started_at: when, in ISO 8601 with the time zone.
        variables: the variables.
        labels: the labels of the candidates.
        baseline: the candidate that the others are compared with, wherever it did not fail.
        points: the measured points, in the order in which they were measured; the last variable varies fastest.
        budget_ns: how long the sampling at all points was allowed to take.
        stopped_by: what ended it.
        environment: the environment in which this was measured.
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
            raise ValueError(f"expected variables with distinct names, got {printable(', '.join(names)) or 'none'}")
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
            raise ValueError(f"there is no point {point.at} in a grid of {sizes} values")
        strangers = set(point.comparison or ()) - set(self.labels)
        if strangers:
            raise ValueError(f"there is no candidate {min(strangers)!r}, only {printable(', '.join(self.labels))}")

    @property
    def planned(self) -> int:
        """The number of points that the sweep would have had if nothing had ended it early."""
        return prod(len(each.labels) for each in self.variables)

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """All compilations at all points."""
        return tuple(one for each in self.points if each.comparison for one in each.comparison.compilations)

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The curve of each candidate along the variable with the most numbers, per combination of the others."""
        from .scaling import curves

        return curves(self)

    @property
    def crossings(self) -> tuple[Crossing, ...]:
        """Values at which candidates overtake each other."""
        from .crossings import crossings

        return crossings(self)

    @of_the_user
    def __getitem__(self, label: str) -> tuple[Curve, ...]:
        """Return the curves of one candidate.

        Raises:
            KeyError: there is no such candidate.
        """
        if label not in self.labels:
            raise KeyError(f"expected one of the candidates {printable(offered(self.labels))}, got {label!r}")
        return tuple(each for each in self.curves if each.label == label)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.points)

    def values(self, point: Point) -> dict[str, str]:
        """Return the value of each variable at a point as text."""
        return {variable.name: variable.labels[at] for variable, at in zip(self.variables, point.at, strict=True)}
