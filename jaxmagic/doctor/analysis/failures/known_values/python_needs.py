"""Finds where a function needs one of its arguments as a Python value, which no traced argument is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...written_paths import variable_of

#: Functions and methods whose first arguments are sizes, and those that take nothing else.
_SIZED, _SIZES = ("zeros", "ones", "empty", "full", "eye"), ("arange", "range", "tri")

#: Comparisons and functions whose result is known during tracing.
_KNOWN = ast.Is, ast.IsNot, ast.In, ast.NotIn
_KNOWN_CALLS = "len", "isinstance", "hasattr"


def python_need(home: ast.FunctionDef, name: str) -> str:
    """Return the first expression of a function that needs an argument, or a part of it, as a Python value.

    It is empty if there is none, which does not mean that the function would take a traced argument.

    >>> code = "def f(x, cfg): n = cfg['n']; return [x for _ in range(n)] if 'k' in cfg else x"
    >>> python_need(ast.parse(code).body[0], "cfg")
    'range(n)'
    """
    names = {name, *_aliases(home, name)}
    return next((ast.unparse(each) for each in _needing(home) if _reads(each, names)), "")


def _needing(home: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(home):
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                yield test
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=args):
                if called in _SIZES or (called in _SIZED and args and _sizes(args[0])):
                    yield node
            case ast.Slice(lower=lower, upper=upper):
                yield from (each for each in (lower, upper) if each is not None)


def _sizes(node: ast.expr) -> bool:
    """Return whether the first argument of a call decides a size: the others of it are values."""
    return not isinstance(node, ast.Constant)


def _reads(node: ast.expr, names: set[str]) -> bool:
    """Return whether an expression depends on the value of a variable, rather than on what is known of it."""
    if isinstance(node, ast.Compare) and all(isinstance(each, _KNOWN) for each in node.ops):
        return False
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _KNOWN_CALLS:
        return False
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "size", "dtype"):
        return False
    if isinstance(node, ast.Name):
        return node.id in names
    parts: list[ast.AST] = [*ast.iter_child_nodes(node)]
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        parts = [*node.args[:1]] if called in _SIZED else [*node.args, *(each.value for each in node.keywords)]
    return any(_reads(each, names) for each in parts if isinstance(each, ast.expr))


def _aliases(home: ast.FunctionDef, name: str) -> set[str]:
    """Return the variables that hold an argument or a part of it."""
    found: set[str] = set()
    for node in ast.walk(home):
        if isinstance(node, ast.Assign) and _is_part(node.value, {name, *found}):
            targets: list[ast.expr] = node.targets
        elif isinstance(node, ast.For | ast.comprehension) and _is_part(node.iter, {name, *found}):
            targets = [node.target]
        else:
            continue
        found |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return found


def _is_part(node: ast.expr, names: set[str]) -> bool:
    return variable_of(node) in names


def read_by_key(home: ast.FunctionDef, name: str) -> bool:
    """Return whether a function reads an argument as a dictionary, and not what it makes of it."""
    if any(
        isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store) for each in ast.walk(home)
    ):
        return False
    for node in ast.walk(home):
        match node:
            case ast.Subscript(value=ast.Name(id=owner), slice=ast.Constant(value=str())) if owner == name:
                return True
            case ast.Attribute(value=ast.Name(id=owner), attr="get" | "items" | "keys" | "values") if owner == name:
                return True
            case ast.keyword(arg=None, value=ast.Name(id=owner)) if owner == name:
                return True
    return False
