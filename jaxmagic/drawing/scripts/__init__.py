"""The scripts that make pictures live, fold reports on narrow pages, or hide one beside its live view.

Where none runs, all remains as it is.

Each output with pictures contains the script once, 2 to 18 KB without comments, indentation and spaces around
operators. So an output needs no file and no network, and outputs of different versions of this package can share a
notebook.
"""

from __future__ import annotations

import hashlib
import re
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
    for name in ("live.js", *_PARTS, "lanes.js", "boxes.js", "fold.js"):
        if mark(name) in html:
            key = key_of(html)
            html = f"{html.replace(mark(name), key)}<script>{script(name, key)}</script>"
    return html


#: Parts of ``live.js`` that few pictures need: flame graphs, and curves with labels.
_PARTS = ("zoom.js", "labels.js")


def script(name: str, key: str) -> str:
    """Return a script of this folder for the outputs with a key, without ``<script>`` tags."""
    part = name in _PARTS
    code = source("live.js" if part else name).replace("%MORE%\n", f"{source(name)}\n" if part else "")
    return code.replace("%KEY%", key)


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
