"""Draws a self-contained still picture: no script, no font of its own, no file, no network.

It is shown inside an ``<img>``, where it cannot use the page's colours. So it has no background, and its greys and
hues are of medium lightness, legible on white and on black. ``data-`` attributes hold everything that a script needs.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import Literal
from unicodedata import east_asian_width

from ..records.names import truncated
from ..terminal import printable
from .colours import GREY

FAINT = f"{GREY}55"

#: The size of all text, in pixels.
FONT_SIZE = 11

#: How points are joined: by lines, by steps that change at the next point, or not at all, as dots or hollow rings.
Kind = Literal["line", "step", "dots", "rings"]

Data = Mapping[str, object]


class Drawing:
    """Lines, areas and text in a picture of `width` by `height` pixels."""

    def __init__(self, width: int, height: int, title: str, data: Data | None = None) -> None:
        self.width = width
        self.height = height
        #: The text alternative.
        self.title = title
        #: The ``data-`` attributes of the whole picture.
        self.data = dict(data or {})
        self._parts: list[str] = []

    def path(
        self,
        points: Sequence[tuple[float, float]],
        *,
        kind: Kind = "line",
        colour: str = GREY,
        width: float = 1,
        fill: str = "none",
        dashed: bool = False,
        data: Data | None = None,
    ) -> None:
        """Draw a line through points, an area if there is a `fill`, or dots that are `width` wide."""
        extra = ' stroke-linecap="round"' if kind == "dots" else ' stroke-dasharray="5 3"' if dashed else ""
        stroke = "" if colour == "none" else f' stroke="{colour}" stroke-width="{width:g}"'
        self._parts.append(f'<path d="{_trail(points, kind)}" fill="{fill}"{stroke}{extra}{_attributes(data)}/>')

    def rectangles(self, places: Sequence[tuple[float, float, float, float]], *, fill: str, edge: str) -> None:
        """Draw many rectangles of one colour as one path; each has a left, right, top and bottom."""
        corners = (tuple(f"{edge:.1f}".removesuffix(".0") for edge in place) for place in places)
        trail = "".join(f"M{left} {top}H{right}V{bottom}H{left}Z" for left, right, top, bottom in corners)
        self._parts.append(f'<path d="{trail}" fill="{fill}" stroke="{edge}" stroke-width=".5"/>')

    def words(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: Literal["start", "middle", "end"] = "start",
        data: Data | None = None,
        colour: str = GREY,
    ) -> None:
        """Write a line of text that starts, is centred or ends at a position; cut to the width of the picture.

        In a live picture it takes the colour of the page's text, unless it is given another colour because it lies on
        a coloured area.
        """
        if colour != GREY:
            data = {**(data or {}), "ink": 1}
        extra = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}"{extra} fill="{colour}"{_attributes(data)}>'
            f"{_clean(truncated(text, _MOST_LETTERS))}</text>"
        )

    @contextmanager
    def group(self, data: Data, *, hidden: bool = False) -> Iterator[None]:
        """Group everything that is drawn inside."""
        self._parts.append(f"<g{_attributes(data)}{_HIDDEN if hidden else ''}>")
        yield
        self._parts.append("</g>")

    def to_svg(self) -> str:
        """Return the picture as SVG."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="system-ui,sans-serif" font-size="{FONT_SIZE}" '
            f'role="group" aria-label="{_clean(self.title)}"{_attributes(self.data)}>{"".join(self._parts)}</svg>'
        )

    def to_uri(self) -> str:
        """Return the picture as a ``data:`` URI."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.to_svg().encode()).decode()


_HIDDEN = ' display="none"'

#: The number of characters that fit in the width of a picture.
_MOST_LETTERS = 85


def width_of(text: str) -> float:
    """Estimate the width of a line of text in pixels; a still picture cannot measure it."""
    return 0.56 * FONT_SIZE * sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def fitting(text: str, room: float) -> str:
    """Cut a text to fit into `room` pixels; empty if too little of it would be left to read.

    A number at its end is kept if there is room for it, because it often distinguishes names.

    >>> fitting("train_step", 100), fitting("train_step", 50), fitting("train_step", 20)
    ('train_step', 'train_s…', '')
    >>> fitting("bwd Attention_11", 60), fitting("bwd Attention_11", 30)
    ('bwd A…_11', 'bwd…')
    """
    if width_of(text) <= room:
        return text
    number = _NUMBER.search(text)
    ends = (number[0], "") if number else ("",)
    cuts = (f"{text[:n]}…{end}" for end in ends for n in range(min(len(text) - len(end), _MOST_LETTERS), 2, -1))
    return next((cut for cut in cuts if width_of(cut) <= room), "")


#: The number of a scope, an operation, a stream or a line at the end of a name. ``live.js`` keeps it as well.
_NUMBER = re.compile(r"[._:#]\d+\)?$")


def _trail(points: Sequence[tuple[float, float]], kind: Kind) -> str:
    """Return the commands of a path. ``live.js`` follows the same rule when an axis changes."""
    places = [(f"{x:.1f}".removesuffix(".0"), f"{y:.1f}".removesuffix(".0")) for x, y in points]
    if kind == "dots":
        return "".join(f"M{x} {y}h0" for x, y in places)
    if kind == "rings":
        return "".join(f"M{x} {y}m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0" for x, y in places)
    if kind == "step":
        (x, y), *others = places
        return f"M{x} {y}" + "".join(f"H{x}V{y}" for x, y in others)
    return "M" + "L".join(f"{x} {y}" for x, y in places)


def _attributes(data: Data | None) -> str:
    return "".join(f' data-{name}="{_clean(str(value))}"' for name, value in (data or {}).items())


def _clean(text: str) -> str:
    """Escape text for XML, and replace characters that XML does not allow."""
    return escape("\n".join(map(printable, text.split("\n")))).replace("\n", "&#10;")
