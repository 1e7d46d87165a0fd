"""Writes charts as pictures in HTML, which become live where scripts run."""

from __future__ import annotations

from ..charts.areas import Boxes, Flame
from ..charts.box_thinning import still
from ..charts.curves import Curves
from ..charts.lanes import Lanes
from ..charts.spec import Chart, Multiples
from ..drawing import boxes_to_canvas, lanes_to_canvas
from ..drawing.scripts import mark, with_scripts
from ..drawing.svg import Drawing
from ..drawing.to_svg import draw
from .html_parts import FONT, beside_to_html, safe

#: The maximum width of a live picture, in pixels. It uses the width of its page up to that.
_WIDEST = 1600


def chart_to_html(chart: Chart) -> str:
    """Draw a chart with the script that makes it live, in our font whatever that of the page is."""
    return with_scripts(f'<div style="{FONT}">{picture(chart)}</div>')


def picture(chart: Chart, alt: str = "") -> str:
    """Draw a chart without its script, which :func:`~jaxmagic.drawing.scripts.with_scripts` appends.

    Args:
        chart: the chart.
        alt: a text alternative; the chart's title if left out.
    """
    if isinstance(chart, Multiples):
        return beside_to_html([f"<div>{safe(each.title)}</div>{picture(each)}" for each in chart.panels])
    if isinstance(chart, Boxes):
        return _canvas(alt or chart.title, "boxes.js", "map", boxes_to_canvas.pack(chart), draw(still(chart)))
    if isinstance(chart, Lanes):
        return _canvas(alt or chart.title, "lanes.js", "lanes", lanes_to_canvas.pack_small(chart), draw(chart))
    labelled = isinstance(chart, Curves) and any(each.labels for each in chart.series)
    script = "zoom.js" if isinstance(chart, Flame) else "labels.js" if labelled else "live.js"
    drawing = draw(chart)
    return (
        f'<div data-jaxmagic="{mark(script)}" style="position:relative;max-width:{_WIDEST}px">'
        f'<img alt="{safe(alt or chart.title)}" src="{drawing.to_uri()}" style="display:block;max-width:100%"></div>'
    )


def _canvas(alt: str, script: str, kind: str, packed: str, drawing: Drawing) -> str:
    """Write a still picture together with the packed data that a script draws on a canvas."""
    return (
        f'<div data-jaxmagic="{mark(script)}" data-{kind}="{packed}" style="position:relative;max-width:{_WIDEST}px">'
        f'<img data-still="1" alt="{safe(alt)}" src="{drawing.to_uri()}" style="display:block;max-width:100%"></div>'
    )
