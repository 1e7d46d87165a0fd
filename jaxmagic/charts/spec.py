"""What a picture shows, before any medium draws it: which values lie on which axis, and no pixels.

One description is drawn by several media, so none of them computes anything. Times are in nanoseconds, ratios and
shares are plain numbers, as everywhere; a ``None`` among values is a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .areas import Boxes, Flame, Treemap
from .lanes import Lanes
from .scale import Scale

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a forest plot: a value, its interval, and how what it comes from is distributed.

    Attributes:
        name: what it is called.
        value: the estimate.
        low: the lower end of its interval; ``None`` if it has none.
        high: the upper end.
        verdict: what it comes to, in a few words.
        hue: the number of its colour.
        hill: places on the axis, and how many of the samples lie there, 1 where most do.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    hue: int = 0
    hill: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """Values with their intervals, one below the other.

    Attributes:
        title: the whole in a few words.
        x: what the values are.
        rows: the values, from top to bottom.
        noise: from where to where a value says nothing; ``None`` if that is not known.
        noise_label: what that is.
    """

    title: str
    x: Scale
    rows: tuple[Row, ...]
    noise: tuple[float, float] | None = None
    noise_label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A whole and its parts.

    Attributes:
        name: what it is called.
        parts: name and size of each part, in order.
    """

    name: str
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Wholes in parts, one below the other.

    Attributes:
        title: the whole in a few words.
        x: what the sizes are, from 0.
        bars: from top to bottom.
        order: the names of parts as they follow each other, as far as they have an order.
    """

    title: str
    x: Scale
    bars: tuple[Bar, ...]
    order: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parts: in their order, and then as they are met."""
        met = dict.fromkeys(name for bar in self.bars for name, _ in bar.parts)
        return (*(name for name in self.order if name in met), *(name for name in met if name not in self.order))


Chart = Curves | Forest | Bars | Boxes | Treemap | Flame | Lanes


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
