"""Writes a record as the MIME bundle that Jupyter requests."""

from __future__ import annotations

import sys
from collections.abc import Collection

from .html_parts import beside_view
from .style import AT_A_GLANCE, Style
from .to_html import to_html
from .to_text import to_text


def mimebundle(
    record: object,
    *,
    include: Collection[str] | None = None,
    exclude: Collection[str] | None = None,
    style: Style = AT_A_GLANCE,
    explain: bool = False,
) -> dict[str, str]:
    """Write a record as ``text/plain`` and ``text/html`` (or ``image/png``, in base64), as far as requested.

    A medium that fails is left out of the bundle: a display never raises.
    """
    bundle: dict[str, str] = {}
    drawn = {"rich": {"text/html": _draw_html}, "static": {"image/png": _draw_png}}.get(style.form, {})
    for mime, draw in {"text/plain": _draw_text, **drawn}.items():
        if (include and mime not in include) or (exclude and mime in exclude):
            continue
        try:
            bundle[mime] = draw(record, style, explain)
        except Exception as error:
            if mime == "text/plain":
                bundle[mime] = f"<{type(record).__name__}: cannot be shown ({type(error).__name__})>"
    return bundle


def outputs(
    record: object, *, style: Style = AT_A_GLANCE, explain: bool = False, view: str = ""
) -> list[dict[str, str]]:
    """Return the bundles to display one after the other: one, or for a static report its text and then its picture.

    A page shows only the richest medium of a bundle. A PNG has no numbers to copy, and would be hidden by HTML. So
    each becomes an output of its own, and both are shown everywhere.

    Args:
        record: the record.
        style: the style of its report.
        explain: whether the report explains how it was measured.
        view: the live view above or below the report, as the view itself describes it; empty if there is none.
    """
    bundle = mimebundle(record, style=style, explain=explain)
    if view and "text/html" in bundle:
        bundle["text/html"] = beside_view(bundle["text/html"], view)
    return [{mime: data} for mime, data in bundle.items()] if style.form == "static" else [bundle]


def _draw_text(record: object, style: Style, explain: bool) -> str:
    return to_text(record, style, explain=explain, stream=sys.stdout)  # a terminal prints it there


def _draw_html(record: object, style: Style, explain: bool) -> str:
    return to_html(record, style, explain=explain)


def _draw_png(record: object, style: Style, explain: bool) -> str:
    from ..charts.chart_of import chart_of
    from ..drawing.to_matplotlib import to_png  # costs matplotlib

    return to_png(chart_of(record))
