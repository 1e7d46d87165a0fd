"""Turn links to notebooks into links to their pages.

The notebooks of the manual are symbolic links into `notebooks`. A page links to the file there, which a clone and
GitHub show; MyST would look for a page outside of the manual.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx


def link_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """Called by Sphinx for the source of each page."""
    here = Path(app.srcdir, page).parent
    pages = {path.resolve(): path.stem for path in Path(app.srcdir).glob("*.ipynb")}

    def role(link: re.Match[str]) -> str:
        name = pages.get((here / link[2]).resolve())
        return link[0] if name is None else f"{{doc}}`{link[1]} </{name}>`"

    source[0] = re.sub(r"\[([^]]+)\]\(([^)\s]+\.ipynb)\)", role, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", link_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
