"""Tells which of several jitted forms of a function a line calls: its own, or that of its gradient."""

from __future__ import annotations

import ast

from ....records.call_stack import Frame
from ..host.syntax import around
from .hoisting import Making, makings_of
from .syntax import first_line, last_name


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
