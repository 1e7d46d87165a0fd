"""How a line of source is called in short, where a table or a picture has no room for a path."""

from __future__ import annotations

from os.path import basename


def short_source(source: str) -> str:
    """File and line without the folder; cells have none.

    >>> short_source("/home/me/train.py:12"), short_source("cell 7:12")
    ('train.py:12', 'cell 7:12')
    """
    return basename(source)
