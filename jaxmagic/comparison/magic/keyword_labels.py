"""Finds statements that may be meant as a label that begins with a keyword, such as ``while loop: f(x)``.

They are valid Python, so they are setup. What they would be with quotes is said where they cannot be right.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Sequence

from IPython.core.error import UsageError

from .label_lines import put_in_quotes

_COMPOUND = (ast.While, ast.With, ast.If, ast.For)


def hint(node: ast.stmt, source: str) -> str:
    """Return a sentence about a statement that is a label if it is quoted; empty for any other statement.

    >>> source = "while loop: f(x)"
    >>> print(hint(ast.parse(source).body[0], source).strip())
    If 'while loop' is a label, put it in quotes: "while loop": f(x)
    """
    header, rest = _parts(node, source)
    if not header:
        return ""
    return f" If {header!r} is a label, put it in quotes: {put_in_quotes(header)}: {rest[:60]}"


def require_names(setup: Sequence[ast.stmt], source: str, known: Collection[str]) -> None:
    """Refuse a statement that may be a label and reads a name that nothing has bound: it can only fail.

    Args:
        setup: the lines above the first candidate.
        source: the cell.
        known: the names of the session, and of a sweep.

    Raises:
        UsageError: there is such a statement.
    """
    bound = {*known, *dir(builtins)}
    for node in setup:
        _, rest = _parts(node, source)
        unbound = [name for name in _read_first(node) if name not in bound] if rest else []
        if unbound:
            raise UsageError(f"%%jaxcompare: {unbound[0]} is not defined.{hint(node, source)}")
        names = set(_bound_by(node))
        if "*" in names or "get_ipython" in names:
            return  # which may bind anything
        bound |= names


def _parts(node: ast.stmt, source: str) -> tuple[str, str]:
    """Return the header and the only expression of a compound statement on one line, or nothing."""
    if not isinstance(node, _COMPOUND) or getattr(node, "orelse", None) or node.lineno != node.end_lineno:
        return "", ""
    text = ast.get_source_segment(source, node) or ""
    rest = ast.get_source_segment(source, node.body[0]) or ""
    header = text.removesuffix(rest).rstrip()
    only = len(node.body) == 1 and isinstance(node.body[0], ast.Expr) and header.endswith(":") and '"' not in header
    return (header[:-1].rstrip(), rest) if only else ("", "")


def _read_first(node: ast.stmt) -> Iterator[str]:
    """Yield the name that is the header of a statement, which it reads whatever happens."""
    if isinstance(node, ast.With):
        header: ast.expr = node.items[0].context_expr
    elif isinstance(node, ast.For):
        header = node.iter
    elif isinstance(node, ast.While | ast.If):
        header = node.test
    else:
        return
    if isinstance(header, ast.Name):
        yield header.id


def _bound_by(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement may bind; ``*`` or ``get_ipython`` if it may bind any."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and (isinstance(each.ctx, ast.Store) or each.id == "get_ipython"):
            yield each.id
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield each.name
        elif isinstance(each, ast.alias):
            yield each.asname or each.name.partition(".")[0]
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in ("exec", "globals"):
            yield "*"
