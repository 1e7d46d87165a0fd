"""Writes charts as pictures in HTML, which become live where scripts run."""

from __future__ import annotations

from ..charts.areas import Boxes
from ..charts.box_thinning import still
from ..charts.lanes import Lanes
from ..charts.spec import Chart
from ..drawing import boxes_to_canvas, lanes_to_canvas
from ..drawing.scripts import mark, with_scripts
from ..drawing.svg import Drawing
from ..drawing.to_svg import draw
from .html_parts import safe


def chart_to_html(chart: Chart) -> str:
    """Draw a chart with the script that makes it live."""
    return with_scripts(picture(chart))


def picture(chart: Chart, alt: str = "") -> str:
    """Draw a chart without its script, which :func:`~jaxmagic.drawing.scripts.with_scripts` appends.

    Args:
        chart: the chart.
        alt: a text alternative; the chart's title if left out.
    """
    if isinstance(chart, Boxes):
        return _canvas(alt or chart.title, "boxes.js", "map", boxes_to_canvas.pack(chart), draw(still(chart)))
    if isinstance(chart, Lanes):
        return _canvas(alt or chart.title, "lanes.js", "lanes", lanes_to_canvas.pack_small(chart), draw(chart))
    drawing = draw(chart)  # the box is as wide as the picture, so that positions in both are the same
    return (
        f'<div data-jaxmagic="{mark("live.js")}" style="position:relative;max-width:{drawing.width}px">'
        f'<img alt="{safe(alt or chart.title)}" src="{drawing.to_uri()}" style="display:block;max-width:100%"></div>'
    )


def _canvas(alt: str, script: str, kind: str, packed: str, drawing: Drawing) -> str:
    """Write a still picture together with the packed data that a script draws on a canvas."""
    return (
        f'<div data-jaxmagic="{mark(script)}" data-{kind}="{packed}" style="position:relative;max-width:900px">'
        f'<img data-still="1" alt="{safe(alt)}" src="{drawing.to_uri()}" style="display:block;max-width:100%"></div>'
    )
