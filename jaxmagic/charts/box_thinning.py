"""Leaves the boxes, and the points of a curve, that a still picture shows."""

from __future__ import annotations

from dataclasses import replace

from .areas import Boxes
from .curves import Series

#: Boxes and points of a curve, the largest ones: in a still picture more are not seen.
MOST_STILL = 400


def still(chart: Boxes) -> Boxes:
    """A map as a picture that stays as it is: of its rectangles those that are seen in it."""
    note = chart.note if len(chart.boxes) <= MOST_STILL else "small buffers are not drawn"
    return replace(chart, boxes=chart.boxes[:MOST_STILL], curve=thinned(chart.curve), note=note)


def thinned(curve: Series, most_points: int = MOST_STILL) -> Series:
    """A curve with steps; where it has more than are seen, the most of each stretch."""
    steps = len(curve.x) - 1
    width = -(-steps // most_points)
    if width <= 1:
        return curve
    places = range(0, steps, width)
    most = tuple(max(each for each in curve.y[at : min(at + width, steps)] if each is not None) for at in places)
    return replace(curve, x=(*(curve.x[at] for at in places), curve.x[-1]), y=(*most, most[-1]))
