"""Tells whether statements of a loop only show or keep what a round returned, so that they can run after the loop."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from ..syntax import loaded

#: Functions of Python, and methods of arrays and texts, that return numbers or texts.
_READING = frozenset({"bool", "float", "format", "int", "item", "len", "str", "tolist"})

#: Functions that return arrays of NumPy, whether they get such arrays or arrays of JAX.
_GETTING = frozenset({"jax.device_get", "np.array", "np.asarray"})

#: Functions of Python that compute from their arguments alone, but may return an array.
_COMPUTING = frozenset({"abs", "max", "min", "round"})


def can_run_later(statements: Sequence[ast.stmt], fixed: Collection[str], values: Collection[str]) -> bool:
    """Return whether statements do nothing but print, and append numbers, texts and arrays of NumPy to lists.

    Args:
        statements: the statements.
        fixed: variables that they must not read, nor append to, because a round changes or reads them.
        values: variables that will be arrays of NumPy by then. They may be read, but not kept as they are.

    >>> can_run_later(ast.parse("if i % 9 == 0: print(i, float(loss))").body, {"w"}, {"loss"})
    True
    >>> can_run_later(ast.parse("losses.append(loss)").body, {"w"}, {"loss"})
    False
    >>> can_run_later(ast.parse("losses.append(jax.device_get(loss))").body, {"w"}, {"loss"})
    True
    >>> can_run_later(ast.parse("save(i)").body, {"w"}, {"loss"})
    False
    """
    return all(_only_shows(each, values) for each in statements) and not loaded(statements) & {*fixed}


def _only_shows(statement: ast.stmt, values: Collection[str]) -> bool:
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            return _computes(test) and all(_only_shows(each, values) for each in [*body, *orelse])
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=given, keywords=options)):
            shown = [*given, *(each.value for each in options)]
            return all(isinstance(each, ast.Name) or (_computes(each) and not _keeps(each, values)) for each in shown)
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=into), attr="append"), args=[given], keywords=[])
        ):
            return into not in values and _computes(given) and not _keeps(given, values)
    return False


def _keeps(expression: ast.AST, values: Collection[str]) -> bool:
    """Return whether an expression may hand on an array: one that is not read as a number or text."""
    match expression:
        case ast.Name(id=name):
            return name in values
        case ast.JoinedStr():
            return _shows_repr(expression)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _READING:
            return _shows_repr(expression)
        case ast.Call(func=function) if ast.unparse(function) in _GETTING:
            return False
    return any(_keeps(each, values) for each in ast.iter_child_nodes(expression))


def _shows_repr(expression: ast.AST) -> bool:
    """Return whether a text may have the ``repr`` of an array, as ``str([x])`` and ``f"{x!r}"`` have."""
    nodes = [*ast.walk(expression)]
    written = any(isinstance(each, ast.FormattedValue) and each.conversion == ord("r") for each in nodes)
    return written or any(isinstance(each, ast.List | ast.Tuple | ast.Dict | ast.Set) for each in nodes)


def _computes(expression: ast.expr) -> bool:
    """Return whether an expression calls nothing but functions that compute from their arguments alone."""
    nodes = [*ast.walk(expression)]
    if any(isinstance(each, ast.Await | ast.Lambda | ast.NamedExpr | ast.Yield | ast.YieldFrom) for each in nodes):
        return False
    return all(_is_plain(each.func) for each in nodes if isinstance(each, ast.Call))


def _is_plain(function: ast.expr) -> bool:
    match function:
        case ast.Name(id=name):
            return name in _READING | _COMPUTING
        case ast.Attribute(attr=name):
            return name in _READING or ast.unparse(function) in _GETTING
    return False
