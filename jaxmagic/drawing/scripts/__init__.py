"""The scripts that make pictures live, fold reports on narrow pages, or hide one beside its live view.

Where none runs, all remains as it is.

Each output with pictures contains the script once, 2 to 18 KB without comments, indentation and spaces around
operators. So an output needs no file and no network, and outputs of different versions of this package can share a
notebook.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files


def key_of(content: str) -> str:
    """Return the key of the outputs that show this content.

    The key is a hash of the content, so that the same record is always saved as the same text. Outputs with the same
    key show the same content, so it does not matter if a script finds several of them.
    """
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def mark(name: str) -> str:
    """Return the placeholder that :func:`with_scripts` replaces by the key. User text cannot contain it."""
    return f"\0{name}\0"


def with_scripts(html: str) -> str:
    """Give pictures their key, and append each script that they need, once."""
    parts = [each for each in _PARTS if mark(each) in html]
    for name in ("live.js", "lanes.js", "boxes.js", "fold.js"):
        marks = [mark(each) for each in (name, *(parts if name == "live.js" else ())) if mark(each) in html]
        if marks:
            key = key_of(html)
            for each in marks:
                html = html.replace(each, key)
            html = f"{html}<script>{script(name, key, parts)}</script>"
    return html


#: Parts of ``live.js`` that few pictures need, flame graphs and curves with labels, and what these pictures have.
_PARTS = {"zoom.js": "[data-fit=cell]", "labels.js": "[data-label]"}


def script(name: str, key: str, parts: Iterable[str] = ()) -> str:
    """Return a script of this folder for the outputs with a key, without ``<script>`` tags.

    Args:
        name: the script.
        key: the key.
        parts: the parts of ``live.js`` that some picture needs.
    """
    more = "".join(f"if (svg.querySelector('{_PARTS[each]}')) {{\n{source(each)}\n}}\n" for each in parts)
    return source(name).replace("%MORE%\n", more).replace("%KEY%", key)


#: Operators between spaces; no text of a script contains one.
_SPACED = re.compile(r" (=>|[!=]==?|&&|\|\||[-+*]?=|[?:*/%]) ")


#: Where ``canvas.js`` or ``text.js`` is inserted.
_SHARED = re.compile(r"%(CANVAS|TEXT)%")


@cache
def source(name: str) -> str:
    """Return a script of this folder without what only its readers need, and with what it shares with others."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    code = _SPACED.sub(r"\1", "\n".join(line for line in lines if line and not line.startswith("//")))
    return _SHARED.sub(lambda found: source(f"{found[1].lower()}.js"), code)
