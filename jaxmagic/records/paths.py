"""Shorten the location of a source line for tables and charts, which have no room for a path."""

from __future__ import annotations

from os.path import basename


def short_source(source: str) -> str:
    """Return file and line without the folder; cells have no folder.

    >>> short_source("/home/me/train.py:12"), short_source("cell 7:12")
    ('train.py:12', 'cell 7:12')
    """
    return basename(source)
