"""What a picture shows, before any medium draws it: which values lie on which axis, and no pixels.

One description is drawn by several media, so none of them computes anything. Times are in nanoseconds, ratios and
shares are plain numbers, as everywhere; a ``None`` among values is a gap.
"""

from __future__ import annotations

from dataclasses import dataclass

from .areas import Boxes, Flame, Treemap
from .curves import Curves
from .lanes import Lanes
from .scale import Scale


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
