"""One record as the bundle of media that Jupyter asks for."""

from __future__ import annotations

from collections.abc import Collection

from .html import to_html
from .style import DEFAULT, Style
from .text import to_text


def mimebundle(
    record: object,
    *,
    include: Collection[str] | None = None,
    exclude: Collection[str] | None = None,
    style: Style = DEFAULT,
    explain: bool = False,
) -> dict[str, str]:
    """``text/plain`` and ``text/html`` of `record`, as far as they are asked for.

    A medium that fails is left out of the bundle rather than raised from a display.
    """
    bundle: dict[str, str] = {}
    for mime, draw in (("text/plain", to_text), ("text/html", to_html)):
        wanted = (not include or mime in include) and (not exclude or mime not in exclude)
        if not wanted or (mime == "text/html" and style.form != "rich"):
            continue
        try:
            bundle[mime] = draw(record, style, explain=explain)
        except Exception as error:
            if mime == "text/plain":
                bundle[mime] = f"<{type(record).__name__}: cannot be shown ({type(error).__name__})>"
    return bundle
