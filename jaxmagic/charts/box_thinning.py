"""Reduces a map to the boxes and the points of its curve that a still picture can show."""

from __future__ import annotations

from dataclasses import replace

from .areas import Boxes
from .curves import Series

#: The maximum number of boxes, and of points of a curve, in a still picture; more would not be visible.
MOST_STILL = 400


def still(chart: Boxes) -> Boxes:
    """Return a map with the largest boxes only, for a still picture."""
    note = chart.note if len(chart.boxes) <= MOST_STILL else "small buffers are not drawn"
    return replace(chart, boxes=chart.boxes[:MOST_STILL], curve=thinned(chart.curve), note=note)


def thinned(curve: Series, most_points: int = MOST_STILL) -> Series:
    """Thin a step curve to at most this many points, the maximum of each stretch."""
    steps = len(curve.x) - 1
    width = -(-steps // most_points)
    if width <= 1:
        return curve
    starts = range(0, steps, width)
    maxima = tuple(max(y for y in curve.y[at : min(at + width, steps)] if y is not None) for at in starts)
    return replace(curve, x=(*(curve.x[at] for at in starts), curve.x[-1]), y=(*maxima, maxima[-1]))
