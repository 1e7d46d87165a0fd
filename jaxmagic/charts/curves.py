"""Declares curves, with marks and bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .scale import Scale

#: Values along an axis; ``None`` is a gap.
Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One curve.

    Attributes:
        name: what it is called.
        x: where its points lie; as many as in `y`.
        y: how high they lie.
        low: the lower ends of their intervals.
        high: the upper ends.
        hue: the number of its colour; curves that belong together share one.
        step: whether it stays level until the next point, and jumps there.
        points: whether each point is marked.
        dashed: whether the line is.
        muted: whether it is drawn faintly, because it is not what the chart is about.
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

    def __post_init__(self) -> None:
        lengths = {len(each) for each in (self.x, self.y, self.low, self.high) if each is not None}
        if len(lengths) > 1:
            raise ValueError(f"x, y, low, high: expected a value for each point, got {sorted(lengths)} values")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends: give both low and high, or neither")

    @property
    def runs(self) -> tuple[range, ...]:
        """The stretches of points without a gap.

        >>> Series(name="f", x=(1, 2, 3, 4), y=(5, None, 6, 7)).runs
        (range(0, 1), range(2, 4))
        """
        return _runs([x is not None and y is not None for x, y in zip(self.x, self.y, strict=True)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A value on the x axis that is worth a line: a median, a point where two curves cross.

    Attributes:
        label: what it is.
        at: where.
        low: where its interval begins; ``None`` if it has none.
        high: where that ends.
        hue: the number of its colour; grey if ``None``.
    """

    label: str
    at: float
    low: float | None = None
    high: float | None = None
    hue: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A stretch of the x axis in which something went on.

    Attributes:
        low: where it begins.
        high: where it ends.
        tip: what went on, a line each.
    """

    low: float
    high: float
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Curves over a common axis.

    Attributes:
        title: the whole in a few words.
        x: what is to the right.
        y: what is up.
        series: the curves.
        marks: lines across them.
        bands: stretches behind them, all of a kind.
        bands_name: what kind that is.
        note: what the picture leaves out; empty if nothing.
    """

    title: str
    x: Scale
    y: Scale
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    bands: tuple[Band, ...] = ()
    bands_name: str = ""
    note: str = ""


def _runs(there: Sequence[bool]) -> tuple[range, ...]:
    found: list[range] = []
    begin: int | None = None
    for index, each in enumerate([*there, False]):
        if each and begin is None:
            begin = index
        elif not each and begin is not None:
            found.append(range(begin, index))
            begin = None
    return tuple(found)
