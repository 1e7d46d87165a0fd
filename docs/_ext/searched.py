"""Check that the search of the built manual leads to the page that answers.

Sphinx ranks an exact entry of the index above titles and text. So pages declare the words that people search for, in
an ``index`` directive below the title, with an exclamation mark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import SphinxError

#: What people type, and the page that answers.
QUERIES = {
    "recompile": "how-to/recompile",
    "slow first call": "how-to/first-call",
    "OOM": "how-to/out-of-memory",
    "out of memory": "how-to/out-of-memory",
    "RESOURCE_EXHAUSTED": "how-to/out-of-memory",
    "slow line": "how-to/slow-line",
    "is jit worth it": "how-to/is-jit-worth-it",
    "will it fit": "how-to/will-it-fit",
    "which is faster": "how-to/compare-versions",
    "training loop": "how-to/training-loop",
    "multi-GPU": "how-to/devices",
    "colab": "how-to/colab",
    "ssh": "how-to/terminal",
    "CI": "how-to/ci",
    "paper": "how-to/paper",
    "vmap": "claims",
    "deprecation": "versions",
}


def missing(index: Mapping[str, Any], queries: Mapping[str, str]) -> list[str]:
    """The queries that are no main entry of the index for their page.

    Args:
        index: Sphinx's search index.
        queries: texts to search for, each with the name of its page.
    """
    entries = {
        (entry, index["docnames"][number])
        for entry, places in index["indexentries"].items()
        for number, _, is_main in places
        if is_main
    }
    return [
        f"{query!r} does not lead to {page}"
        for query, page in queries.items()
        if (query.lower(), page) not in entries
    ]


def _check(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    text = Path(app.outdir, "searchindex.js").read_text("utf-8")
    problems = missing(json.loads(text[text.index("{") : text.rindex("}") + 1]), QUERIES)
    if problems:
        raise SphinxError(f"The search of the manual: {'; '.join(problems)}.")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True}
