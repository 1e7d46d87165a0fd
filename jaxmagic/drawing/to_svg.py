"""Draws charts as SVG: still pictures whose ``data-`` attributes hold what ``live.js`` needs to make them live.

The attributes are:

- on the picture ``axes``, which describes the axes, and ``tall``, whether a wider one is higher;
- on a path ``x`` and ``y``, the values of its points, and ``kind``, how they are joined;
- on a curve ``curve``, its name, with ``low`` and ``high``, the ends of its interval;
- on a group ``s``, the number of its series, ``button``, the name of a button that highlights it, and ``tip``, its
  tooltip;
- on a group ``fit``, whether it is a call of a flame graph or a tile, whose label is written anew when its width
  changes, from its ``tip``, ``name``, ``place`` and ``brief``, a shorter name; and ``legend``, if it is an entry of
  the legend;
- on ticks ``ticks``, the name of the axis, and ``log``, whether they are for its logarithmic form;
- on text ``whole``, if it is a name beside a row: the name, or nothing if it is shown whole; on other text that may
  be cut, the whole one, and ``brief``, the cut one;
- on a group ``label``, if it is the label of a point with its ``leader`` line;
- on text ``ink``, if it lies on a coloured area and keeps its colour.
"""

from __future__ import annotations

from functools import singledispatch

from ..charts.areas import Boxes, Flame, Treemap
from ..charts.curves import Curves
from ..charts.lanes import Lanes
from ..charts.spec import Bars, Forest
from ..records.names import type_in_words
from .areas_to_svg import draw_boxes, draw_flame, draw_treemap
from .curves_to_svg import draw_curves
from .lanes_to_svg import draw_lanes
from .rows_to_svg import draw_bars, draw_forest
from .svg import Drawing


@singledispatch
def draw(chart: object) -> Drawing:
    """Draw a chart as a still picture."""
    raise TypeError(f"draw(): expected a chart, got {type_in_words(chart)}")


draw.register(Curves, draw_curves)
draw.register(Forest, draw_forest)
draw.register(Bars, draw_bars)
draw.register(Boxes, draw_boxes)
draw.register(Treemap, draw_treemap)
draw.register(Flame, draw_flame)
draw.register(Lanes, draw_lanes)
