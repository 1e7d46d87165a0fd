"""Relates paths to values as code writes them, such as ``state`` and ``state["w"]``."""

from __future__ import annotations

import ast


def root_of(path: str) -> str:
    """Return the variable with which a path begins.

    >>> root_of("self.state['w']")
    'self'
    """
    return path.partition(".")[0].partition("[")[0]


def variable_of(node: ast.AST) -> str:
    """Return the variable that an expression is, or is in; empty if it is in something without a name.

    >>> variable_of(ast.parse("a.b[0].c").body[0].value), variable_of(ast.parse("f(x).b").body[0].value)
    ('a', '')
    """
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_within(path: str, outer: str) -> bool:
    """Return whether a path is another one, or that of something inside it.

    >>> is_within("state['w']", "state"), is_within("states", "state")
    (True, False)
    """
    return path == outer or path.startswith((f"{outer}.", f"{outer}["))


def is_path(node: ast.AST) -> bool:
    """Return whether an expression is a variable, or an attribute or element of one."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def called_name(node: ast.AST) -> str | None:
    """Return the name of what an expression calls, such as ``"self.step"``; ``None`` if it has none."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) and is_path(node.func) else None


def beginnings(path: ast.AST) -> list[ast.AST]:
    """Return a path and what it begins with, the variable last."""
    found = [path]
    while isinstance(path, ast.Attribute | ast.Subscript):
        path = path.value
        found.append(path)
    return found
