"""Mend what axe-core finds in what Sphinx, its theme and pandas write; tests/browser/test_manual.py looks."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

#: Parts of pages, and how they are written here. A head without a text is no head for a screen reader, and a caption
#: in the contents is a heading of a level.
_INSTEAD = {
    '<th class="head"><p></p></th>': "<td></td>",
    "<th></th>": "<td></td>",
    '<th class="blank level0" >&nbsp;</th>': "<td></td>",
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
}


def mended(html: str) -> str:
    """Write the parts of a page that a screen reader would misread in another way."""
    for part, instead in _INSTEAD.items():
        html = html.replace(part, instead)
    return html


def mend_page(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """Called by Sphinx for each page, after its theme has made the contents."""
    for name in ("body", "furo_navigation_tree"):
        if isinstance(context.get(name), str):
            context[name] = mended(context[name])


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("html-page-context", mend_page, priority=900)
    app.add_js_file("scrolled.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
