"""The script that makes a still picture live, where scripts run; where they do not, it stays as it is.

It goes into every output that has a picture, about 5 KB of it: an output then needs no file and no network, and those
of two versions of this package can stand in one notebook.
"""

from __future__ import annotations

import hashlib

from .script import source
from .svg import Drawing


def key_of(drawing: Drawing) -> str:
    """What marks the outputs that show this picture.

    It is made from the picture, so that the same record is saved as the same text. Outputs with the same key show the
    same picture, so a script that finds several of them may take them all.
    """
    return hashlib.sha256(drawing.to_svg().encode()).hexdigest()[:12]


def script(key: str) -> str:
    """The script for the outputs with a key, without the tags around it."""
    return source("live.js").replace("%KEY%", key)
