"""Finds the call whose program failed: on a device that runs asynchronously, the wait for its result raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import NamedTuple

from .....runtime.around import is_exactly
from ..calls import value_of, wrapped_function
from ..libraries.jitted import jits_itself
from ..statement import Place, definition

#: No more assignments are followed.
_MOST = 8

#: No more cells before the failing one are read.
_MOST_CELLS = 20

#: A longer call is not quoted.
_LONGEST_CALL = 100

#: The methods of IPython's shell that run a magic, whose last argument is the code.
_MAGICS = "run_line_magic", "run_cell_magic"

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
    if place.statement is None:
        return
    before, seen = _statements_before(place, place.statement, frame), list[_Statement]()
    own = _code_below(place) or _run_by([place.statement])
    todo = [_Statement(each, len(before) + number) for number, each in enumerate(own)][::-1]
    before += own
    for _ in range(_MOST):
        if not todo:
            return
        at = todo.pop(0)
        inside = list(_evaluated(at.node))
        for each in inside:
            if _is_jitted(each, frame):
                yield place._replace(node=each, statement=at.node)
        for each in inside:
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                assigned = _assigned(each.id, before[: at.position])[-1:]
                todo += [each for each in assigned if each not in seen]
                seen += assigned


def as_arguments(node: ast.AST | None) -> str:
    """Return a call as the arguments of ``jaxmagic.memory_requirement``; empty if it is long or no call."""
    if not isinstance(node, ast.Call):
        return ""
    text = ", ".join(map(ast.unparse, [node.func, *node.args, *node.keywords]))
    return text if len(text) <= _LONGEST_CALL else ""


class _Statement(NamedTuple):
    """A statement, and how many stand before it."""

    node: ast.stmt
    position: int


def _is_jitted(node: ast.AST | None, frame: FrameType) -> bool:
    called = value_of(node.func, frame) if isinstance(node, ast.Call) else None
    return wrapped_function(called) is not None or jits_itself(called)


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions of a statement itself, without bodies and without code that runs later."""
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, _LATER | ast.stmt | ast.ExceptHandler):
            yield each
            yield from _evaluated(each)


def _assigned(name: str, before: Sequence[ast.stmt]) -> list[_Statement]:
    """Return the assignments to a variable, in their order."""
    assignments = [(number, each) for number, each in enumerate(before) if isinstance(each, ast.Assign)]
    return [_Statement(each, number) for number, each in assignments if name in _stored(each)]


def _statements_before(place: Place, statement: ast.stmt, frame: FrameType) -> list[ast.stmt]:
    """Return the statements above one in the same function, or in its cell and in the cells before it."""
    code = frame.f_code
    if not code.co_name.startswith(("<module>", "<cell line")):  # as IPython 7 names the code of cells
        home = definition(place.tree, code.co_name, code.co_firstlineno)
        return [] if home is None else [each for each in _statements(home) if each.lineno < statement.lineno]
    own = [] if place.tree is None else [*_statements(place.tree)]
    above = [each for each in own if (each.lineno, each.col_offset) < (statement.lineno, statement.col_offset)]
    return [*_of_cells(place, frame), *_run_by(above)]


def _of_cells(place: Place, frame: FrameType) -> list[ast.stmt]:
    """Return the statements of the cells that ran before the failing one; none outside of a notebook."""
    ran = frame.f_globals.get("In")
    cells = [each for each in ran if is_exactly(each, str)] if isinstance(ran, list) else []
    own = "".join(place.lines).strip()
    while cells and cells[-1].strip() != own:
        cells.pop()
    trees = (_parsed(each) for each in cells[-1 - _MOST_CELLS : -1])
    return [each for tree in trees if tree is not None for each in _run_by([*_statements(tree)])]


def _run_by(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return statements, with the code of a magic in place of the call that runs it."""
    found: list[ast.stmt] = []
    for statement in statements:
        call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
        match call:
            case ast.Call(func=ast.Attribute(attr=name), args=[*_, ast.Constant(value=str(text))]) if name in _MAGICS:
                found += _code_of_magic(text)
            case _:
                found.append(statement)
    return found


def _code_below(place: Place) -> list[ast.stmt]:
    """Return the statements of a cell magic that waited for what they dispatched; its text stands below its call."""
    call = place.statement.value if isinstance(place.statement, ast.Expr) else None
    match call:
        case ast.Call(func=ast.Attribute(attr="run_cell_magic"), args=[*_, ast.Constant(value=text)]) if text is ...:
            own = [] if place.tree is None else [*_statements(place.tree)]
            return [each for each in own if each.lineno > call.lineno]
    return []


def _code_of_magic(text: str) -> list[ast.stmt]:
    """Return the statements behind the options of a magic."""
    words = text.split(" ")
    trees = (_parsed(" ".join(words[number:])) for number in range(len(words)))
    tree = next((each for each in trees if each is not None), None)
    return [] if tree is None else [*_statements(tree)]


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


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
