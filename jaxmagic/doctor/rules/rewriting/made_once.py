"""Tells whether some code makes a jitted function once, and which of several jitted forms a line calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ....records.call_stack import Frame
from ..host.syntax import around
from .hoisting import Around, Making, makings_of
from .syntax import first_line, last_name, stored

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


def making_called(function: str, place: tuple[str, int], site: Frame) -> Frame | None:
    """Return the line that makes the jitted form which a line calls; ``None`` without several, or if it is unknown.

    Args:
        function: the name of the function that is jitted.
        place: file and line of its definition.
        site: the line that calls one of its jitted forms.
    """
    makings = makings_of(function, place, [(site.file, site.line)])
    calls = {id(each): each for node in around(site)[-1:] for each in ast.walk(node) if isinstance(each, ast.Call)}
    names = {last_name(each.func) for each in calls.values()} - {None}
    found = [
        (file, making) for file, path, making in makings if id(making) in calls or _names(path[-1], making) & names
    ]
    if len(makings) < 2 or len(found) != 1:
        return None
    ((file, making),) = found
    line = first_line(making) if isinstance(making, ast.FunctionDef) else making.lineno
    return Frame(function=function, file=file, line=line)


def _names(parent: ast.AST, making: Making) -> set[str | None]:
    """Return the variables that have the jitted form."""
    if isinstance(making, ast.FunctionDef):
        return {making.name}
    return {last_name(each) for each in parent.targets} if isinstance(parent, ast.Assign) else set()
