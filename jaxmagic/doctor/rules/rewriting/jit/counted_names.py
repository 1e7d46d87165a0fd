"""Tells which variables of a function are numbers of Python that its loops count, also while jit traces it."""

from __future__ import annotations

import ast
from collections.abc import Set

from ..syntax import last_name, loaded, parameters, stored


def counted_names(function: ast.FunctionDef | ast.AsyncFunctionDef, static: Set[str] = frozenset()) -> set[str]:
    """Return the variables that only loops assign which go over ``range`` or literals of constants.

    A shape has the values that ``range`` needs under jit as well.

    >>> (made,) = ast.parse("def f(x, n): return [x[i] for i in range(x.ndim) for j in range(n) if i > 1]").body
    >>> sorted(counted_names(made)), sorted(counted_names(made, {"n"}))
    (['i'], ['i', 'j'])

    Args:
        function: the function.
        static: the parameters that jit knows.
    """
    traced = (parameters(function) | stored(function.body)) - static
    loops = [each for each in ast.walk(function) if isinstance(each, ast.For | ast.comprehension)]
    counting = {id(name) for each in loops if _counts(each.iter, traced) for name in ast.walk(each.target)}
    names = [each for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    others = {each.id for each in names if id(each) not in counting} | parameters(function)
    return {each.id for each in names} - others


def _counts(over: ast.expr, traced: Set[str]) -> bool:
    if isinstance(over, ast.Call) and last_name(over.func) in ("enumerate", "reversed", "zip"):
        return bool(over.args) and all(_counts(each, traced) for each in over.args)
    if isinstance(over, ast.Call):
        return last_name(over.func) == "range" and not values_read(over) & traced
    return isinstance(over, ast.Tuple | ast.List) and not loaded([over])


def values_read(node: ast.expr) -> set[str]:
    """Return the names whose values an expression reads, but not those of which it reads the shape."""
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "size", "dtype"):
        return set()
    if isinstance(node, ast.Call) and last_name(node.func) == "len":
        return set()
    if isinstance(node, ast.Name):
        return {node.id}
    return {name for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr) for name in values_read(each)}
