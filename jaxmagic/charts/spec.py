"""What a picture shows, before any medium draws it: which values lie on which axis, and no pixels.

One description is drawn by several media, so none of them computes anything. Times are in nanoseconds, ratios and
shares are plain numbers, as everywhere; a ``None`` among values is a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .lanes import Lanes

#: What the values of an axis are, and so how they are written: durations in nanoseconds, so many times something, a
#: part of one, a plain number, bytes, or the positions of names.
Quantity = Literal["time", "ratio", "share", "number", "size", "name"]

Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """One axis.

    Attributes:
        label: what it measures, without the unit.
        quantity: what kind of values it has.
        low: the value at its beginning.
        high: the value at its end.
        log: whether equal distances are equal ratios.
        names: where the quantity is ``name``, what stands at 0, 1, 2, ….
        unit: where the quantity is ``time`` or ``size``, the unit to write it in; one that fits if ``None``.
    """

    label: str
    quantity: Quantity
    low: float
    high: float
    log: bool = False
    names: tuple[str, ...] = ()
    unit: str | None = None

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"axis: expected low below high, got {self.low} to {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"logarithmic axis: expected low above 0, got {self.low}")

    @property
    def switchable(self) -> bool:
        """Whether the axis makes sense both linear and logarithmic, and does not look the same."""
        return self.quantity in ("time", "ratio", "number") and 0 < 2 * self.low <= self.high


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle: something that takes a stretch of one axis along some steps of the other.

    Attributes:
        x: the steps before its first one, and before the end of its last one: ``(0, 2)`` for the first two.
        y: where it begins and ends upwards.
        kind: what it counts as, by its number in the chart's kinds.
        lines: what there is to say of it beside its size and its steps; empty ones are not said.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    kind: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """A map of rectangles, and a curve over it.

    Attributes:
        title: the whole in a few words.
        x: what is to the right.
        y: what is up.
        kinds: names of what is told apart by colour.
        boxes: the rectangles.
        curve: a line over them, in the same units.
        mark: a place that matters.
        note: what the picture leaves out; empty if nothing.
    """

    title: str
    x: Scale
    y: Scale
    kinds: tuple[str, ...]
    boxes: tuple[Box, ...]
    curve: Series
    mark: Mark
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A part of a whole, as a rectangle in it.

    Attributes:
        name: what it is called.
        x: where it begins and ends to the right, from 0 to 1.
        y: where it begins and ends downwards, from 0 to 1.
        kind: what it counts as, by its number in the chart's kinds.
        lines: what there is to say of it.
    """

    name: str
    x: tuple[float, float]
    y: tuple[float, float]
    kind: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Treemap:
    """A whole as a rectangle, and its parts as rectangles in it whose areas are their shares.

    Attributes:
        title: the whole in a few words.
        kinds: names of what is told apart by colour.
        tiles: the parts.
    """

    title: str
    kinds: tuple[str, ...]
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One call of a flame graph.

    Attributes:
        x: where it begins and ends to the right; how wide it is, is what it takes.
        level: how many calls it lies below the whole, which is at 0.
        name: what is called.
        lines: what there is to say of it.
        place: where that is written, in short; empty if it is not known.
        kind: what it counts as, by its number in the graph's kinds.
    """

    x: tuple[float, float]
    level: int
    name: str
    lines: tuple[str, ...]
    place: str = ""
    kind: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Flame:
    """A flame graph: a whole, below it the calls that it comes from, and below each of them its own.

    Attributes:
        title: the whole in a few words.
        x: what the widths are, from 0.
        cells: the calls; one that was made by another lies within its width, a level below.
        kinds: names of what is told apart by colour; empty if nothing is.
        note: what the picture leaves out; empty if nothing.
    """

    title: str
    x: Scale
    cells: tuple[Cell, ...]
    kinds: tuple[str, ...] = ()
    note: str = ""

    @property
    def levels(self) -> int:
        """How many rows there are."""
        return 1 + max((each.level for each in self.cells), default=0)


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
