"""The pieces that reports are made of: lines, tables, pictures. Tags stand here, in ``html`` and ``profile_html``."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..analysis.memory_chart import still
from ..analysis.names import shortened
from ..model.chart import Boxes, Chart
from ..model.lanes import Lanes
from . import lanes, words, zoom
from .charts import draw
from .script import key_of, script
from .svg import Drawing

FAINT = "opacity:.75"
CELL = "padding-right:9px;text-align:left"
NUMBER = "padding-right:9px;text-align:right"

#: A longer name with dots may go on in the next line behind one of them.
_LONG_NAME = 30


def line(sentence: str, style: str = "") -> str:
    """A sentence on a line of its own; of a very long one the beginning."""
    attribute = f' style="{style}"' if style else ""
    return f"<div{attribute}>{safe(short(sentence, 400))}</div>"


def table(heads_and_rows: Sequence[Sequence[str]], there_are: int, where: str = "to_frame()") -> str:
    """A table whose first row are its heads; how many rows it might have had is said below, and where they are."""
    heads, *rows = heads_and_rows
    if not rows:
        return ""
    columns = [shortened(column, 90) for column in zip(*rows, strict=True)]
    top = "".join(head(safe(each), CELL) for each in heads)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in zip(*columns, strict=True))
    rest = there_are - len(rows)
    more = line(f"… and {rest} more: see {where}", FAINT) if rest > 0 else ""
    return f'<table style="border-collapse:collapse;margin:4px 0"><tr>{top}</tr>{body}</table>{more}'


def _cell(text: str) -> str:
    whole = ";white-space:nowrap" if len(text) <= 11 else ""  # a number is not torn from its unit
    told = safe(text)
    if len(text) > _LONG_NAME and " " not in text:
        told = told.replace(".", ".<wbr>")
    return f'<td style="{CELL}{whole}">{told}</td>'


def head(label: str, cell: str) -> str:
    """The head of a column, in the style of its cells."""
    return f'<th style="{cell};font-weight:600">{label}</th>'


def chart_to_html(found: Chart) -> str:
    """A chart alone, as a picture that becomes live where scripts run."""
    if isinstance(found, Boxes):
        return _canvas(found.title, "map", zoom.pack(found), draw(still(found)))
    if isinstance(found, Lanes):
        return _canvas(found.title, "lanes", lanes.pack_small(found), draw(found))
    return picture(draw(found), found.title)


def picture(drawing: Drawing, alt: str) -> str:
    """A picture that becomes live where scripts run. The box is as wide as the picture: places in it are the same."""
    key = key_of(drawing.to_svg())
    return (
        f'<div data-jaxmagic="{key}" style="position:relative;max-width:{drawing.width}px">'
        f'<img alt="{safe(alt)}" src="{drawing.to_uri()}" style="display:block;max-width:100%">'
        f"<script>{script('live.js', key)}</script></div>"
    )


def _canvas(title: str, kind: str, packed: str, drawing: Drawing) -> str:
    """A still picture, which becomes one to zoom into where scripts run."""
    key = key_of(packed)
    return (
        f'<div data-jaxmagic="{key}" data-{kind}="{packed}" style="position:relative;max-width:900px">'
        f'<img data-still="1" alt="{safe(title)}" src="{drawing.to_uri()}" style="display:block;max-width:100%">'
        f"<script>{script(_SCRIPTS[kind], key)}</script></div>"
    )


_SCRIPTS = {"map": "zoom.js", "lanes": "lanes.js"}


def beside_to_html(pieces: Sequence[str]) -> str:
    """Pieces beside each other, and below each other where the page is narrow."""
    cells = "".join(f'<div style="flex:1 1 330px;min-width:0">{each}</div>' for each in pieces)
    return f'<div style="display:flex;flex-wrap:wrap;gap:16px">{cells}</div>'


def error_to_html(message: str) -> str:
    """What went wrong, in the place of what was to be shown."""
    lines = "\n".join(map(safe, message.splitlines()))
    return f'<pre style="white-space:pre-wrap">{lines}</pre>'


def safe(text: str) -> str:
    """Text of one line as HTML: escaped, and nothing in it that a page or a file cannot hold."""
    return escape(words.printable(text))


def short(text: str, most: int) -> str:
    """Text of so many letters: its beginning, where it is longer."""
    return text if len(text) <= most else text[: most - 1] + "…"
