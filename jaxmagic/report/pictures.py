"""Charts as pictures that become live where scripts run."""

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


def chart_to_html(found: Chart) -> str:
    """Draw a chart alone, with the script that makes it live."""
    return with_scripts(picture(found))


def picture(found: Chart, alt: str = "") -> str:
    """Draw a chart; its script is put behind it by :func:`~jaxmagic.drawing.scripts.with_scripts`.

    Args:
        found: the chart.
        alt: a sentence for those who do not see it; its title if left out.
    """
    if isinstance(found, Boxes):
        return _canvas(alt or found.title, "boxes.js", "map", boxes_to_canvas.pack(found), draw(still(found)))
    if isinstance(found, Lanes):
        return _canvas(alt or found.title, "lanes.js", "lanes", lanes_to_canvas.pack_small(found), draw(found))
    drawing = draw(found)  # the box is as wide as the picture: places in it are the same
    return (
        f'<div data-jaxmagic="{mark("live.js")}" style="position:relative;max-width:{drawing.width}px">'
        f'<img alt="{safe(alt or found.title)}" src="{drawing.to_uri()}" style="display:block;max-width:100%"></div>'
    )


def _canvas(alt: str, script: str, kind: str, packed: str, drawing: Drawing) -> str:
    """Put what a script draws beside a still picture."""
    return (
        f'<div data-jaxmagic="{mark(script)}" data-{kind}="{packed}" style="position:relative;max-width:900px">'
        f'<img data-still="1" alt="{safe(alt)}" src="{drawing.to_uri()}" style="display:block;max-width:100%"></div>'
    )
