"""Check that the search of the built manual leads to the page that answers.

Sphinx ranks an exact entry of the index above titles and text. So pages declare the words that people search for, in
an ``index`` directive below the title, with an exclamation mark. ``search_order.js`` also ranks
pages by the words that the query has in common with their entries and titles, in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

_log = logging.getLogger(__name__)

#: What people type, and the page that answers.
QUERIES = {
    "recompile": "how-to/recompile",
    "slow first call": "how-to/first-call",
    "OOM": "how-to/out-of-memory",
    "out of memory": "how-to/out-of-memory",
    "RESOURCE_EXHAUSTED": "how-to/out-of-memory",
    "how long": "quickstart",
    "slow line": "how-to/slow-line",
    "which line is slow": "how-to/slow-line",
    "is jit worth it": "how-to/is-jit-worth-it",
    "will it fit": "how-to/will-it-fit",
    "which is faster": "how-to/compare-versions",
    "bfloat16": "how-to/lower-precision",
    "training loop": "how-to/training-loop",
    "multi-GPU": "how-to/devices",
    "colab": "how-to/colab",
    "ssh": "how-to/terminal",
    "CI": "how-to/ci",
    "paper": "how-to/paper",
    "vmap": "claims",
    "deprecation": "versions",
}

#: The same in other words, which no entry has letter by letter.
IN_OTHER_WORDS = {
    '"out of memory"': "how-to/out-of-memory",
    "running out of memory": "how-to/out-of-memory",
    "why does it recompile": "how-to/recompile",
    "why is the first call slow": "how-to/first-call",
    "how long does it take": "quickstart",
    "find a slow line": "how-to/slow-line",
    "does it fit": "how-to/will-it-fit",
    "is jit faster": "how-to/is-jit-worth-it",
}


def missing(entries: Mapping[str, Sequence[Sequence[Any]]], queries: Mapping[str, str]) -> list[str]:
    """The queries that are no main entry of the index on their page.

    Args:
        entries: for each page its entries: type, text, target, "main" or "", and key.
        queries: texts to search for, each with the name of its page.
    """
    return [
        f"{query!r} does not lead to {page}"
        for query, page in queries.items()
        if query not in [text for _, text, _, main, *_ in entries.get(page, ()) if main == "main"]
    ]


def _check(app: Sphinx, env: BuildEnvironment) -> None:
    for problem in missing(env.domains["index"].entries, QUERIES):
        _log.warning("a search for %s", problem)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("env-check-consistency", _check)
    return {"parallel_read_safe": True}
