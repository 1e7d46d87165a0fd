"""A still picture that needs nothing: no script, no font of its own, no file, no network.

It is shown inside an ``<img>``, where a page's colours are out of reach. So there is no background, and its greys and
hues are of middle lightness, to be read on white and on black. What a script may use, where one runs, is in
``data-`` attributes: there is nothing else in the picture that it has to know.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import Literal
from unicodedata import east_asian_width

from ..terminal import printable
from .colours import GREY

FAINT = f"{GREY}55"

#: The size of all words, in pixels.
FONT_SIZE = 11

#: How points are joined: by lines, by steps that rise where the next point is, or not at all.
Kind = Literal["line", "step", "dots"]

Data = Mapping[str, object]


class Drawing:
    """Lines, surfaces and words in a picture of `width` by `height` pixels."""

    def __init__(self, width: int, height: int, title: str, data: Data | None = None) -> None:
        self.width = width
        self.height = height
        #: What the picture shows, for those who do not see it.
        self.title = title
        #: What goes into ``data-`` attributes of the whole.
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
        """A line through points; a surface where there is a `fill`; dots that are `width` wide."""
        extra = ' stroke-linecap="round"' if kind == "dots" else ' stroke-dasharray="5 3"' if dashed else ""
        stroke = "" if colour == "none" else f' stroke="{colour}" stroke-width="{width:g}"'
        self._parts.append(f'<path d="{_trail(points, kind)}" fill="{fill}"{stroke}{extra}{_attributes(data)}/>')

    def rectangles(self, places: Sequence[tuple[float, float, float, float]], *, fill: str, edge: str) -> None:
        """Many surfaces of one colour, each from its left to its right and from its top to its bottom: one path."""
        corners = (tuple(f"{each:.1f}".removesuffix(".0") for each in place) for place in places)
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
        """A line of text that begins, has its middle or ends at a place; no longer than the picture is wide.

        In a live picture it has the colour of the page's text, unless it is given one of its own: that of words on a
        surface, which are read against that one.
        """
        if colour != GREY:
            data = {**(data or {}), "ink": 1}
        extra = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}"{extra} fill="{colour}"{_attributes(data)}>'
            f"{_clean(short(text, _MOST_LETTERS))}</text>"
        )

    @contextmanager
    def group(self, data: Data, *, hidden: bool = False) -> Iterator[None]:
        """Whatever is drawn inside belongs together."""
        self._parts.append(f"<g{_attributes(data)}{_HIDDEN if hidden else ''}>")
        yield
        self._parts.append("</g>")

    def to_svg(self) -> str:
        """The picture as SVG."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="system-ui,sans-serif" font-size="{FONT_SIZE}" '
            f'role="group" aria-label="{_clean(self.title)}"{_attributes(self.data)}>{"".join(self._parts)}</svg>'
        )

    def to_uri(self) -> str:
        """The picture as an address that holds all of it."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.to_svg().encode()).decode()


_HIDDEN = ' display="none"'


#: Letters that fit into a picture.
_MOST_LETTERS = 85


def short(text: str, most: int = 24) -> str:
    """Text that has room: its beginning, where it is long.

    >>> short("a" * 30)
    'aaaaaaaaaaaaaaaaaaaaaaa…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def width_of(text: str) -> float:
    """About how many pixels a line of text takes; a still picture cannot measure it."""
    return 0.56 * FONT_SIZE * sum(2 if east_asian_width(each) in "WF" else 1 for each in text)


def fitting(text: str, room: float) -> str:
    """As much of a text as has room in so many pixels; nothing, if that would be too little to read.

    >>> fitting("train_step", 100), fitting("train_step", 50), fitting("train_step", 20)
    ('train_step', 'train_s…', '')
    """
    if width_of(text) <= room:
        return text
    cuts = (short(text, most) for most in range(min(len(text), _MOST_LETTERS), 3, -1))
    return next((each for each in cuts if width_of(each) <= room), "")


def _trail(points: Sequence[tuple[float, float]], kind: Kind) -> str:
    """The commands of a path. live.js has the same rule, for when an axis changes."""
    places = [(f"{x:.1f}".removesuffix(".0"), f"{y:.1f}".removesuffix(".0")) for x, y in points]
    if kind == "dots":
        return "".join(f"M{x} {y}h0" for x, y in places)
    if kind == "step":
        (x, y), *others = places
        return f"M{x} {y}" + "".join(f"H{x}V{y}" for x, y in others)
    return "M" + "L".join(f"{x} {y}" for x, y in places)


def _attributes(data: Data | None) -> str:
    return "".join(f' data-{name}="{_clean(str(value))}"' for name, value in (data or {}).items())


def _clean(text: str) -> str:
    """Text that XML allows, with nothing in it that XML would read."""
    return escape("\n".join(map(printable, text.split("\n")))).replace("\n", "&#10;")
