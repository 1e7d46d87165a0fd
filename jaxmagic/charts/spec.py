"""Declares charts independently of the medium that draws them: which values lie on which axis.

Several media draw the same description, so none of them computes anything. Times are in nanoseconds; ratios and
shares are plain numbers; a ``None`` among values is a gap.
"""

from __future__ import annotations

from dataclasses import dataclass

from .areas import Boxes, Flame, Treemap
from .curves import Curves
from .lanes import Lanes
from .scale import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a forest plot: a value, its interval, and the distribution of its samples.

    Attributes:
        name: its name.
        value: the estimate.
        low: the lower end of its interval; ``None`` if it has none.
        high: the upper end.
        verdict: the conclusion, in a few words.
        hue: the number of its colour.
        hill: the density of the samples, as values on the axis with heights; the maximum is 1.
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
    """A forest plot: values with their intervals, one below the other.

    Attributes:
        title: a short title.
        x: the axis of the values.
        rows: the values, from top to bottom.
        noise: the range of values that are indistinguishable from noise; ``None`` if unknown.
        noise_label: the label of that range.
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
        name: its name.
        parts: name and size of each part, in order.
    """

    name: str
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Stacked bars, one below the other.

    Attributes:
        title: a short title.
        x: the axis of the sizes, from 0.
        bars: the bars, from top to bottom.
        order: the names of parts in their order, as far as they have one.
    """

    title: str
    x: Scale
    bars: tuple[Bar, ...]
    order: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parts: those in `order` first, the others as they occur."""
        used = dict.fromkeys(name for bar in self.bars for name, _ in bar.parts)
        return (*(name for name in self.order if name in used), *(name for name in used if name not in self.order))


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiples:
    """Small multiples: the same chart several times, on the same axes, for different values of something.

    Attributes:
        title: a short title.
        panels: the charts; the title of each says what it is for.
    """

    title: str
    panels: tuple[Curves, ...]


Chart = Curves | Forest | Bars | Boxes | Treemap | Flame | Lanes | Multiples
