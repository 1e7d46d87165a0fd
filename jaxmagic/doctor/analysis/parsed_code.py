"""Parses code that may be no Python."""

from __future__ import annotations

import ast


def parsed(code: str | None) -> ast.Module:
    """Return the syntax tree of some code, which is empty for what Python cannot parse.

    >>> len(parsed("x = 1").body), len(parsed("%time x").body)
    (1, 0)
    """
    try:
        return ast.parse(code or "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])
