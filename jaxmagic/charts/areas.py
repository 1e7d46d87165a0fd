"""Declares pictures of areas: memory maps, treemaps, flame graphs."""

from __future__ import annotations

from dataclasses import dataclass

from .curves import Mark, Series
from .scale import Scale


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
        """Number of rows."""
        return 1 + max((each.level for each in self.cells), default=0)
