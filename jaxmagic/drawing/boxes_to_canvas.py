"""Packs a map for the script that makes it live, with zoom and a cursor that lists the rectangles at its position.

A still picture holds a few hundred rectangles, a map ten thousand. So all of them are stored beside the picture as
packed columns, which the script draws on a canvas. The notebook stays small and needs no kernel.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from itertools import pairwise

from ..charts.areas import Boxes
from .colours import hue
from .plot import units_of


def pack(chart: Boxes) -> str:
    """Pack a map for an attribute: JSON, deflated, in base64."""
    document = json.dumps(_document(chart), separators=(",", ":"))
    return base64.b64encode(zlib.compress(document.encode(), 9)).decode()


def _document(chart: Boxes) -> dict[str, object]:
    """Arrange a map in columns that deflate well: in the order of steps, most of them as differences."""
    boxes = sorted(chart.boxes, key=lambda each: (each.x[0], each.y[0]))
    kinds = sorted({each.kind for each in boxes})
    return {
        "title": chart.title,
        "x": {"label": chart.x.label, "low": chart.x.low, "high": chart.x.high, "units": units_of(chart.x)},
        "y": {"label": chart.y.label, "low": chart.y.low, "high": chart.y.high, "units": units_of(chart.y)},
        "kinds": [(chart.kinds[each], hue(each)) for each in kinds],
        "count": len(boxes),
        "left": _differences([each.x[0] for each in boxes]),
        "width": [_short(each.x[1] - each.x[0]) for each in boxes],
        "low": _differences([each.y[0] for each in boxes]),
        "height": [_short(each.y[1] - each.y[0]) for each in boxes],
        "kind": [kinds.index(each.kind) for each in boxes],
        "lines": [_column(texts) for texts in zip(*(each.lines for each in boxes), strict=True)],
        "curve": {
            "name": chart.curve.name,
            "colour": hue(chart.curve.hue),
            "x": _differences(chart.curve.x),
            "y": _differences(chart.curve.y),
        },
        "mark": _short(chart.mark.at),
        "note": chart.note,
    }


def _column(texts: Sequence[str]) -> dict[str, object]:
    """Store each distinct text once, and indices into them."""
    numbers: dict[str, int] = {}
    indices = [numbers.setdefault(text, len(numbers)) for text in texts]
    return {"texts": list(numbers), "at": _differences(indices)}


def _differences(values: Sequence[float | None]) -> list[float]:
    """Return the difference of each value to the one before, and of the first value to 0."""
    known = [value or 0 for value in values]
    return [_short(value - before) for before, value in pairwise([0, *known])]


def _short(value: float) -> float:
    """Return a number in the form that JSON writes with the fewest digits."""
    return int(value) if value == int(value) else value
