"""Show notebooks as the tests have run them, where those were kept, instead of running them once more.

`.ci/run` keeps them in the folder that the variable `JAXMAGIC_NOTEBOOKS` names. Otherwise the manual runs all pages.
"""

from __future__ import annotations

import os
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config


def kept(source: Path) -> Path | None:
    """Return a notebook as the tests have run it; ``None`` if it was not kept, or there is no such notebook."""
    folder = os.environ.get("JAXMAGIC_NOTEBOOKS")
    path = Path(folder or "", source.resolve().name)
    return path if folder and source.is_file() and path.is_file() else None


def run_no_more(app: Sphinx, config: Config) -> None:
    """Called by Sphinx once it has read the configuration."""
    config.nb_execution_excludepatterns = [
        page.name for page in sorted(Path(app.srcdir).glob("*.ipynb")) if kept(page) is not None
    ]


def show(app: Sphinx, page: str, source: list[str]) -> None:
    """Called by Sphinx for the source of each page."""
    path = kept(Path(app.srcdir, f"{page}.ipynb"))
    if path is not None:
        source[0] = path.read_text("utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("config-inited", run_no_more)
    app.connect("source-read", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
