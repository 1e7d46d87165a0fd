"""A still picture that needs nothing: no script, no font of its own, no file, no network.

It is shown inside an ``<img>``, where a page's colours are out of reach. So there is no background, and its greys and
hues are of middle lightness, to be read on white and on black.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

GREY = "#888"
FAINT = "#8885"


class Drawing:
    """Lines, boxes and words in a picture of `width` by `height` pixels."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._width = width
        self._height = height
        self._parts = [f"<title>{escape(title)}</title>"]

    def line(self, x1: float, y1: float, x2: float, y2: float, *, colour: str = GREY, width: float = 1) -> None:
        """A straight line."""
        self._parts.append(
            f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" stroke-width="{width:g}"/>'
        )

    def path(
        self, points: Iterable[tuple[float, float]], *, colour: str, width: float = 1.5, fill: str = "none"
    ) -> None:
        """A line through points; a surface where there is a `fill`."""
        steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self._parts.append(f'<path d="M{steps}" fill="{fill}" stroke="{colour}" stroke-width="{width:g}"/>')

    def box(self, x: float, y: float, width: float, height: float, *, colour: str, title: str = "") -> None:
        """A filled rectangle."""
        inside = f"<title>{escape(title)}</title>" if title else ""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" fill="{colour}">'
            f"{inside}</rect>"
        )

    def dot(self, x: float, y: float, radius: float, *, colour: str) -> None:
        """A filled circle."""
        self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"/>')

    def words(self, x: float, y: float, text: str, *, anchor: str = "start", colour: str = GREY) -> None:
        """A line of text; `anchor` is ``start``, ``middle`` or ``end``."""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
        )

    def to_svg(self) -> str:
        """The picture as SVG."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self._width}" height="{self._height}" '
            f'viewBox="0 0 {self._width} {self._height}" font-family="system-ui,sans-serif" font-size="11">'
            f"{''.join(self._parts)}</svg>"
        )

    def to_uri(self) -> str:
        """The picture as an address that holds all of it."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.to_svg().encode()).decode()
