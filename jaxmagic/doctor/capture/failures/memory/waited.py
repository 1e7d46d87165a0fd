"""Finds the call whose program failed: on a device that runs asynchronously, the wait for its result raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType

from ..calls import value_of, wrapped_function
from ..statement import Place, definition

#: No more assignments are followed.
_MOST = 8

#: Code that runs at another time than the statement around it.
_LATER = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def calls_that_may_have_failed(place: Place, frame: FrameType) -> Iterator[Place]:
    """Yield the places of calls of jitted functions whose program may have failed, nearest first.

    If the failing expression is such a call, it is the only one. Otherwise the failing statement may have waited: for
    a call within it, or for a variable, which was assigned above.
    """
    if _is_jitted(place.node, frame):
        yield place
        return
    statement, seen = place.statement, set[str]()
    todo = [] if statement is None else [statement]
    for _ in range(_MOST):
        if not todo:
            return
        at = todo.pop(0)
        inside = list(_evaluated(at))
        for each in inside:
            if _is_jitted(each, frame):
                yield place._replace(node=each, statement=at)
        names = [each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
        for name in names:
            if name not in seen and (found := _assigned(name, at, place, frame)) is not None:
                todo.append(found)
            seen.add(name)


def _is_jitted(node: ast.AST | None, frame: FrameType) -> bool:
    return isinstance(node, ast.Call) and wrapped_function(value_of(node.func, frame)) is not None


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions of a statement itself, without bodies and without code that runs later."""
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, _LATER | ast.stmt | ast.ExceptHandler):
            yield each
            yield from _evaluated(each)


def _assigned(name: str, statement: ast.stmt, place: Place, frame: FrameType) -> ast.Assign | None:
    """Return the last assignment to a variable above a statement of the same function."""
    code = frame.f_code
    home = place.tree if code.co_name == "<module>" else definition(place.tree, code.co_name, code.co_firstlineno)
    above = [] if home is None else [each for each in _statements(home) if each.lineno < statement.lineno]
    found = [each for each in above if isinstance(each, ast.Assign) and name in _stored(each)]
    return max(found, key=lambda each: each.lineno, default=None)


def _statements(home: ast.AST) -> Iterator[ast.stmt]:
    for each in ast.iter_child_nodes(home):
        if isinstance(each, _LATER):
            continue
        if isinstance(each, ast.stmt):
            yield each
        yield from _statements(each)


def _stored(assignment: ast.Assign) -> set[str]:
    nodes = (node for target in assignment.targets for node in ast.walk(target))
    return {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
