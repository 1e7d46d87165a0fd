"""Declares charts of curves, with marks and bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from .scale import Scale

#: Values along an axis; ``None`` is a gap.
Values = tuple[float | None, ...]

#: What a hollow point means, which says so below its chart.
INTERVAL_UNKNOWN = "○ interval unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One curve.

    Attributes:
        name: its name in the legend.
        x: the x values of its points.
        y: the y values of its points.
        low: the lower ends of their intervals; ``None`` where it is unknown, or for all if no y has an interval.
        high: the upper ends.
        hue: the number of its colour; related curves share one.
        step: whether it is a step function, constant up to the next point.
        points: whether each point is marked.
        dashed: whether the line is dashed.
        muted: whether it is drawn faintly, because it is not the subject of the chart.
        label: text beside its first point; empty if none.
        end: text beside its last point; empty if none.
    """

    name: str
    x: Values
    y: Values
    low: Values | None = None
    high: Values | None = None
    hue: int = 0
    step: bool = False
    points: bool = False
    dashed: bool = False
    muted: bool = False
    label: str = ""
    end: str = ""

    def __post_init__(self) -> None:
        lengths = {len(each) for each in (self.x, self.y, self.low, self.high) if each is not None}
        if len(lengths) > 1:
            raise ValueError(f"x, y, low, high: expected equal lengths, got {sorted(lengths)}")
        if (self.low is None) != (self.high is None):
            raise ValueError("low, high: expected both ends of the interval or neither, got one")

    @property
    def labels(self) -> tuple[tuple[float, float, str], ...]:
        """The texts beside its first and its last point, each after the place of the point.

        >>> Series(name="f", x=(1, 2), y=(5, 6), label="n=8", end="n=9").labels
        ((1, 5, 'n=8'), (2, 6, 'n=9'))
        """
        ends = ((0, self.label), (-1, self.end))
        return tuple(
            (x, y, text)
            for at, text in ends
            if text and (x := self.x[at]) is not None and (y := self.y[at]) is not None
        )

    @property
    def runs(self) -> tuple[range, ...]:
        """The ranges of points without a gap.

        >>> Series(name="f", x=(1, 2, 3, 4), y=(5, None, 6, 7)).runs
        (range(0, 1), range(2, 4))
        """
        return _runs(range(len(self.x)), self.x, self.y)

    def unknown_of(self, run: range) -> tuple[range, ...]:
        """The ranges of points without an interval, of a range without a gap, if others may have one.

        >>> series = Series(name="f", x=(1, 2, 3), y=(5, 6, 7), low=(4, 5, None), high=(6, 7, None))
        >>> series.unknown_of(range(3)), Series(name="g", x=(1,), y=(5,)).unknown_of(range(1))
        ((range(2, 3),), ())
        """
        if self.low is None or self.high is None:
            return ()
        known = {at for band in self.bands_of(run) for at in band}
        return _ranges(run, lambda at: at not in known)

    def bands_of(self, run: range) -> tuple[range, ...]:
        """The ranges of points with an interval, of a range without a gap.

        >>> series = Series(name="f", x=(1, 2, 3), y=(5, 6, 7), low=(4, 5, None), high=(6, 7, None))
        >>> series.bands_of(range(3))
        (range(0, 2),)
        """
        return () if self.low is None or self.high is None else _runs(run, self.low, self.high)


def _runs(places: range, *values: Values) -> tuple[range, ...]:
    """Return the ranges of places at which all values are known."""
    return _ranges(places, lambda at: all(each[at] is not None for each in values))


def _ranges(places: range, holds: Callable[[int], bool]) -> tuple[range, ...]:
    """Return the ranges of places at which something holds."""
    runs = [list(points) for held, points in groupby(places, holds) if held]
    return tuple(range(run[0], run[-1] + 1) for run in runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A value on the x axis that is marked by a line: a median, a point where two curves cross.

    Attributes:
        label: its label.
        at: its value.
        low: the lower end of its interval; ``None`` if it has none.
        high: the upper end.
        hue: the number of its colour; grey if ``None``.
    """

    label: str
    at: float
    low: float | None = None
    high: float | None = None
    hue: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A highlighted range of the x axis.

    Attributes:
        low: its lower end.
        high: its upper end.
        tip: its tooltip, which may have several lines.
    """

    low: float
    high: float
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Curves over a common axis.

    Attributes:
        title: a short title.
        x: the horizontal axis.
        y: the vertical axis.
        series: the curves.
        marks: vertical lines.
        bands: highlighted ranges, all of the same kind.
        bands_name: their name in the legend.
        note: what the chart leaves out; empty if nothing.
        tall: whether its slopes matter, so that it is drawn higher.
    """

    title: str
    x: Scale
    y: Scale
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    bands: tuple[Band, ...] = ()
    bands_name: str = ""
    note: str = ""
    tall: bool = False

    @property
    def caption(self) -> str:
        """What hollow points mean, if there are any, and what the chart leaves out."""
        hollow = any(each.unknown_of(run) for each in self.series for run in each.runs)
        return "; ".join(filter(None, (INTERVAL_UNKNOWN if hollow else "", self.note)))
