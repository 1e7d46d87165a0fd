"""Check that the search of the built manual leads to the page that answers.

Sphinx ranks a page first whose titles hold the words that are searched for. So each of these words has to be in a
title of the page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
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
    "slow line": "how-to/slow-line",
    "jit worth": "how-to/is-jit-worth-it",
    "fit": "how-to/will-it-fit",
    "compare versions": "how-to/compare-versions",
    "training loop": "how-to/training-loop",
    "multi-GPU": "how-to/devices",
    "colab": "how-to/colab",
    "ssh": "how-to/terminal",
    "CI": "how-to/ci",
    "paper": "how-to/paper",
    "vmap": "claims",
    "bf16": "claims",
    "jaxdoctor": "reference/magics",
    "deprecation": "versions",
}


def missing(
    index: Mapping[str, Any], queries: Mapping[str, str], words: Callable[[str], Iterable[str]]
) -> dict[str, str]:
    """The queries whose page has a word of them in no title.

    Args:
        index: Sphinx's search index.
        queries: texts to search for, each with the name of its page.
        words: the terms of a text, as the index has them.
    """
    found = {}
    for query, page in queries.items():
        number = index["docnames"].index(page) if page in index["docnames"] else None
        for word in words(query):
            numbers = index["titleterms"].get(word, [])
            if number not in (numbers if isinstance(numbers, list) else [numbers]):
                found[query] = f"{page} has {word!r} in no title"
    return found


def _check(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    text = Path(app.outdir, "searchindex.js").read_text("utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    language = app.builder.indexer.lang

    def words(query: str) -> list[str]:
        return [language.stem(word).lower() for word in language.split(query) if language.word_filter(word.lower())]

    problems = missing(index, QUERIES, words)
    if problems:
        raise SphinxError("; ".join(f"search for {query!r}: {problem}" for query, problem in problems.items()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True}
