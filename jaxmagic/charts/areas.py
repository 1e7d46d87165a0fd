"""Declares charts made of areas: memory maps, treemaps, flame graphs."""

from __future__ import annotations

from dataclasses import dataclass

from .curves import Mark, Series
from .scale import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle: a range of the y axis over a range of steps.

    Attributes:
        x: the half-open range of its steps: ``(0, 2)`` for the first two.
        y: its lower and upper end.
        kind: its kind, as an index into the chart's kinds.
        lines: the lines of its tooltip besides its size and steps; empty lines are left out.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    kind: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """A map of rectangles, with a curve over it.

    Attributes:
        title: a short title.
        x: the horizontal axis.
        y: the vertical axis.
        kinds: the names of the kinds, each with a colour of its own.
        boxes: the rectangles.
        curve: a line over them, in the same units.
        mark: a highlighted position.
        note: what the chart leaves out; empty if nothing.
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
        name: its name.
        x: its left and right end, from 0 to 1.
        y: its upper and lower end, from 0 to 1.
        kind: its kind, as an index into the chart's kinds.
        lines: the lines of its label and tooltip.
    """

    name: str
    x: tuple[float, float]
    y: tuple[float, float]
    kind: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Treemap:
    """A whole as a rectangle, divided into rectangles whose areas are the shares of its parts.

    Attributes:
        title: a short title.
        kinds: the names of the kinds, each with a colour of its own.
        tiles: the parts.
    """

    title: str
    kinds: tuple[str, ...]
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One call of a flame graph.

    Attributes:
        x: its left and right end; the width is its value.
        level: its depth; the root is at 0.
        name: the function that is called.
        lines: the lines of its tooltip.
        place: the source line in short form; empty if unknown.
        kind: its kind, as an index into the graph's kinds.
        brief: the name where there is little room for it; empty if it has no other.
    """

    x: tuple[float, float]
    level: int
    name: str
    lines: tuple[str, ...]
    place: str = ""
    kind: int = 0
    brief: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flame:
    """A flame graph with the root at the top: below each call are the calls that it makes.

    Attributes:
        title: a short title.
        x: the axis of the widths, from 0.
        cells: the calls; each lies within the width of its caller, one level below.
        kinds: the names of the kinds, each with a colour of its own; empty if there is only one colour.
        note: what the chart leaves out; empty if nothing.
        hint: where to see something else; a figure for a paper leaves it out.
    """

    title: str
    x: Scale
    cells: tuple[Cell, ...]
    kinds: tuple[str, ...] = ()
    note: str = ""
    hint: str = ""

    @property
    def told(self) -> str:
        """The hint and the note."""
        return "; ".join(filter(None, (self.hint, self.note)))

    @property
    def levels(self) -> int:
        """Number of rows."""
        return 1 + max((each.level for each in self.cells), default=0)
