"""Finds the lines of a traced function that may store a value where it outlives the function."""

from __future__ import annotations

import ast
import linecache

from ....records.cell_names import known_as
from ...record.failure import Escape, Traced
from .statement import definition

#: Methods of Python's containers that store a value.
_STORING = "append", "add", "extend", "insert", "update", "setdefault", "appendleft", "put"


#: Statements that bind a variable.
_BINDING = ast.Assign, ast.AugAssign, ast.AnnAssign


def escapes_of(traced: Traced | None) -> tuple[Escape, ...]:
    """Return the lines of a function that store something in an object or a variable from outside of it."""
    if traced is None:
        return ()
    try:
        tree = ast.parse("".join(linecache.getlines(traced.file)))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    function = definition(tree, traced.function, traced.line)
    if function is None:
        return ()
    outer = {
        name for node in ast.walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    own = {
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } - outer
    found = []
    for node in ast.walk(function):
        for target in _targets(node):
            if _root(target) not in own and (
                not isinstance(node, _BINDING) or _root(target) in outer or _inside(target)
            ):
                place = f"{known_as(traced.file)}:{node.lineno}"  # type: ignore[attr-defined]
                found.append(Escape(location=place, text=ast.unparse(node), name=_container(target)))
                break
    return tuple(found)


def _targets(node: ast.AST) -> list[ast.expr]:
    """Return what a statement or a call stores into."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _STORING:
        return [node.func.value]
    else:
        return []
    return [each for target in targets for each in (target.elts if isinstance(target, ast.Tuple) else [target])]


def _inside(target: ast.expr) -> bool:
    """Return whether an assignment stores into an object rather than into a variable."""
    return isinstance(target, ast.Attribute | ast.Subscript)


def _container(target: ast.expr) -> str:
    """Return the text of what a statement stores into, without an index."""
    return ast.unparse(target.value if isinstance(target, ast.Subscript) else target)


def _root(node: ast.expr) -> str | None:
    """Return the variable that an expression such as ``a.b[0]`` begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
