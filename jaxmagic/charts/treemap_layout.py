"""Lays out a squarified treemap, after Bruls, Huizing and van Wijk (2000)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Area(NamedTuple):
    """A rectangle: its left and upper edge, its width and its height."""

    x: float
    y: float
    width: float
    height: float


def squarified(sizes: Sequence[float], within: Area) -> list[Area]:
    """Divide a rectangle into one rectangle per size, nearly square, with areas in proportion.

    Args:
        sizes: positive, the largest first.
        within: the rectangle to divide.

    >>> squarified([2, 1, 1], Area(0, 0, 2, 1))
    [Area(x=0, y=0, width=1.0, height=1.0), Area(x=1.0, y=0, width=1.0, height=0.5), \
Area(x=1.0, y=0.5, width=1.0, height=0.5)]
    """
    return list(_strips(sizes, within))


def _strips(sizes: Sequence[float], room: Area) -> Iterator[Area]:
    """Fill strips along the shorter side; add rectangles to a strip as long as its worst aspect ratio improves."""
    scale = room.width * room.height / sum(sizes) if sizes else 0.0
    first = 0
    while first < len(sizes):
        side = min(room.width, room.height)
        end, total = first + 1, sizes[first] * scale
        while end < len(sizes):
            longer = total + sizes[end] * scale
            if _worst(sizes[first] * scale, sizes[end] * scale, longer, side) > _worst(
                sizes[first] * scale, sizes[end - 1] * scale, total, side
            ):
                break
            end, total = end + 1, longer
        yield from _strip([each * scale for each in sizes[first:end]], room, total)
        across = total / side
        wide = room.width >= room.height
        room = (
            Area(room.x + across, room.y, room.width - across, room.height)
            if wide
            else Area(room.x, room.y + across, room.width, room.height - across)
        )
        first = end


def _worst(largest: float, smallest: float, total: float, side: float) -> float:
    """Return the worst aspect ratio of the rectangles in a strip."""
    return max(side**2 * largest / total**2, total**2 / (side**2 * smallest))


def _strip(areas: Sequence[float], room: Area, total: float) -> Iterator[Area]:
    """Yield the rectangles of one strip along the shorter side of the remaining room."""
    wide = room.width >= room.height
    across = total / min(room.width, room.height)
    at = room.y if wide else room.x
    for area in areas:
        along = area / across
        yield Area(room.x, at, across, along) if wide else Area(at, room.y, along, across)
        at += along
