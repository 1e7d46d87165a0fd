"""Tells whether some code makes a jitted function once, and keeps it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .hoisting import Around, Making, makings_of
from .syntax import stored

#: What runs code inside of it repeatedly, or later.
_REPEATING = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def is_made_once(function: str, place: tuple[str, int], ran: Sequence[tuple[str, int]], code: ast.Module) -> bool:
    """Return whether some code makes a jitted function outside of loops, and keeps it: itself, or by a call.

    Args:
        function: as for :func:`find_making`.
        place: likewise.
        ran: likewise.
        code: the code; what it calls may make the function, and return it or keep it in an object.
    """
    found = makings_of(function, place, ran)
    return bool(found) and all(_is_kept(path, making, code) for _, path, making in found)


def _is_kept(path: Sequence[ast.AST], making: Making, code: ast.Module) -> bool:
    nodes = {id(each) for each in (*path, making)}
    is_called = any(isinstance(each, ast.Call) and id(each.func) in nodes for each in path)
    if is_called or any(isinstance(each, ast.For | ast.While | _REPEATING) for each in path):
        return False
    assigned = [each for each in path if isinstance(each, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.Return)]
    if not assigned and not isinstance(making, ast.FunctionDef):
        return False
    makers = [each for each in path if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    if not makers:
        return True
    names = stored(assigned[-1:]) | ({making.name} if isinstance(making, ast.FunctionDef) else set())
    classes = [each.name for each in path if isinstance(each, ast.ClassDef)]
    return len(makers) == 1 and not names & _called(makers[0]) and _calls_once(code, classes or [makers[0].name])


def _called(node: ast.AST) -> set[str]:
    """Return the variables that a piece of code calls."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return {each.func.id for each in calls if isinstance(each.func, ast.Name)}


def _calls_once(code: ast.Module, names: Sequence[str]) -> bool:
    """Return whether code calls one of some functions or classes outside of functions and loops."""
    pending: list[ast.AST] = [code]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            return True
        pending += [each for each in ast.iter_child_nodes(node) if not isinstance(each, Around | _REPEATING)]
    return False
