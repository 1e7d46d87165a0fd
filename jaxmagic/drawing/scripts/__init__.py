"""The scripts that make pictures live where scripts run; where they do not, a still picture stays as it is.

A script goes into every output that has pictures, once, 5 to 15 KB of it, without what only its readers need: an
output then needs no file and no network, and those of two versions of this package can stand in one notebook.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files


def key_of(content: str) -> str:
    """Return what marks the outputs that show this content.

    It is made from the content, so that the same record is saved as the same text. Outputs with the same key show the
    same, so a script that finds several of them may take them all.
    """
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def mark(name: str) -> str:
    """Return what stands for the key of a script until :func:`with_scripts`. No text of a user's can hold it."""
    return f"\0{name}\0"


def with_scripts(html: str) -> str:
    """Give pictures their key, and put each script that they need behind them, once."""
    for name in ("live.js", "lanes.js", "boxes.js"):
        if mark(name) in html:
            key = key_of(html)
            html = f"{html.replace(mark(name), key)}<script>{script(name, key)}</script>"
    return html


def script(name: str, key: str) -> str:
    """A script of this folder for the outputs with a key, without the tags around it."""
    return source(name).replace("%KEY%", key)


@cache
def source(name: str) -> str:
    """A script of this folder without indentation and comments, with what it shares with others in its place."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    found = "\n".join(line for line in lines if line and not line.startswith("//"))
    return found.replace("%CANVAS%", source("canvas.js")) if "%CANVAS%" in found else found
