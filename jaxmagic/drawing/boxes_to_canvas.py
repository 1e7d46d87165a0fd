"""What a script needs to make a map live: rectangles to zoom into, and a cursor that lists what lies there.

A still picture holds some hundred rectangles; a map has ten thousand. So the whole of it is beside the picture as
packed columns, which the script draws on a canvas: a notebook with it stays small, and needs no kernel.
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
    """A map as text for an attribute: JSON, deflated, in base64."""
    told = json.dumps(_told(chart), separators=(",", ":"))
    return base64.b64encode(zlib.compress(told.encode(), 9)).decode()


def _told(chart: Boxes) -> dict[str, object]:
    """Columns of numbers that deflate well: in the order of the steps, most as what they differ by from the last."""
    boxes = sorted(chart.boxes, key=lambda each: (each.x[0], each.y[0]))
    return {
        "title": chart.title,
        "x": {"label": chart.x.label, "low": chart.x.low, "high": chart.x.high, "units": units_of(chart.x)},
        "y": {"label": chart.y.label, "low": chart.y.low, "high": chart.y.high, "units": units_of(chart.y)},
        "kinds": [(name, hue(number)) for number, name in enumerate(chart.kinds)],
        "count": len(boxes),
        "left": _differences([each.x[0] for each in boxes]),
        "width": [_short(each.x[1] - each.x[0]) for each in boxes],
        "low": _differences([each.y[0] for each in boxes]),
        "height": [_short(each.y[1] - each.y[0]) for each in boxes],
        "kind": [each.kind for each in boxes],
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
    """Each text once, and which of them stands where."""
    numbers: dict[str, int] = {}
    places = [numbers.setdefault(text, len(numbers)) for text in texts]
    return {"texts": list(numbers), "at": _differences(places)}


def _differences(values: Sequence[float | None]) -> list[float]:
    """Each value as what is to be added to the one before it; the first one to 0."""
    known = [each or 0 for each in values]
    return [_short(each - before) for before, each in pairwise([0, *known])]


def _short(value: float) -> float:
    """A number as it is written with the fewest digits."""
    return int(value) if value == int(value) else value
