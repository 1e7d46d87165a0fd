"""Reads which options for static arguments the code passes to ``jit``: JAX infers one from the other, or nothing."""

from __future__ import annotations

import ast
import linecache
from types import FunctionType

from ....analysis.parsed_code import parsed
from ..statement import Place, definition

#: The options of ``jit`` that name static arguments. JAX infers each from the other unless both are given.
OPTIONS = "static_argnums", "static_argnames"


def static_options(called: ast.expr, home: ast.FunctionDef | None, place: Place) -> tuple[str, ...] | None:
    """Return which options for static arguments ``jit`` gets; ``None`` if its call is not found.

    Args:
        called: the jitted function as it is written at its call.
        home: the definition of the Python function, whose decorators may jit it.
        place: the call of the jitted function, with the file around it.
    """
    if isinstance(called, ast.Call):  # jax.jit(f)(x)
        return _given(called)
    jits = [each for each in home.decorator_list if _is_jit(each)] if home is not None else []
    jits = jits or [value for value in _assigned(called, place) if _is_jit(value)]
    return _given(jits[0]) if len(jits) == 1 else None


def jit_code(call: ast.Call, home: ast.FunctionDef | None, place: Place) -> str:
    """Return the code that jits a function: a decorator, an assignment, or the statement with ``jax.jit(f)(x)``.

    It is empty if it is unknown.
    """
    if isinstance(call.func, ast.Call):
        simple = isinstance(place.statement, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr)
        return ast.unparse(place.statement if place.statement is not None and simple else call)
    jits = [each for each in home.decorator_list if _is_jit(each)] if home is not None else []
    if jits:
        return f"@{ast.unparse(jits[0])}" if len(jits) == 1 else ""
    found = [each for each in _assigned(call.func, place) if _is_jit(each)]
    return f"{ast.unparse(call.func)} = {ast.unparse(found[0])}" if len(found) == 1 else ""


def definition_of(function: FunctionType, place: Place) -> ast.FunctionDef | None:
    """Return the definition of a function that is called at a place; its file is parsed unless it is the same."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename)
    tree = place.tree if tuple(lines) == place.lines else parsed("".join(lines))
    return definition(tree, function.__name__, code.co_firstlineno)


def _assigned(called: ast.expr, place: Place) -> list[ast.expr]:
    """Return what the file assigns to a variable or an attribute."""
    text = ast.unparse(called)
    found = [each for each in ast.walk(place.tree) if isinstance(each, ast.Assign)] if place.tree is not None else []
    return [each.value for each in found if any(ast.unparse(target) == text for target in each.targets)]


def _is_jit(node: ast.expr) -> bool:
    """Return whether an expression is ``jit`` or a call of it, also through ``functools.partial``."""
    functions = [node.func, *node.args[:1]] if isinstance(node, ast.Call) else [node]
    return any(ast.unparse(each).rpartition(".")[2] == "jit" for each in functions)


def _given(jit: ast.expr) -> tuple[str, ...] | None:
    keywords = [each.arg for each in jit.keywords] if isinstance(jit, ast.Call) else []
    return None if None in keywords else tuple(each for each in OPTIONS if each in keywords)
