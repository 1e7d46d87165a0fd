"""Leave out outputs without text: a line of progress that was cleared when its measurement ended."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx


def remove_empty(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Called by Sphinx for each page: remove blocks of text that hold none."""
    for block in list(doctree.findall(nodes.literal_block)):
        if not block.astext().strip():
            block.parent.remove(block)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-resolved", remove_empty)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
