"""Finds what a traced condition decides in Python's control flow that no function of JAX can decide."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FrameType, FunctionType
from typing import Any

from .....runtime.around import attribute, is_exactly
from ....record.failing_code import Decision
from ..calls import value_of
from ..statement import Place

#: Methods that change which elements a container has.
_CHANGING = frozenset({"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "update"})

#: Methods that write a line, and whose.
_WRITES = frozenset({"critical", "debug", "error", "exception", "info", "log", "warn", "warning"})
_LOGS = frozenset({"log", "logger", "logging"})

_LOOPS = ast.For, ast.AsyncFor, ast.While
_FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef


def decision_of(place: Place, frame: FrameType, running: Sequence[CodeType]) -> Decision | None:
    """Return what the failing condition decides; ``None`` if both branches can be computed, or if it is unknown.

    Args:
        place: where the code stopped.
        frame: the frame of the user's code.
        running: the code of the user's calls, that of the frame among them.
    """
    test = _test(place)
    if isinstance(test, ast.IfExp):
        return _of_branches([ast.Expr(test.body), ast.Expr(test.orelse)], [test.body, test.orelse], frame, running)
    if not isinstance(test, ast.If):
        return None
    branches = [*test.body, *test.orelse]
    following = _following(place, test)
    leaves = any(branch and _leaves(branch[-1]) for branch in (test.body, test.orelse))
    next_one = following[:1] if leaves else []
    if any(branch and isinstance(branch[-1], ast.Raise) for branch in (test.body, test.orelse, next_one)):
        return "raise"
    exits = list(_walk(branches, (*_FUNCTIONS, *_LOOPS)))
    if any(isinstance(each, ast.Break) for each in exits):
        return "break"
    if any(isinstance(each, ast.Continue) for each in exits):
        return "continue"
    other = test.orelse or next_one
    both = isinstance(test.body[-1], ast.Return) and bool(other) and isinstance(other[-1], ast.Return)
    if not both and _is_in_loop(place, test) and any(isinstance(each, ast.Return) for each in exits):
        return "return"
    if all(_prints(each) for each in branches):
        return "print"
    if any(_changes(each, frame) for each in branches) or any(
        isinstance(each, ast.Yield | ast.YieldFrom) for each in exits
    ):
        return "container"
    values = [each.value for each in (*branches, *next_one) if isinstance(each, ast.Return | ast.Assign)]
    return _of_branches([*branches, *(following if leaves else [])], values, frame, running)


def _of_branches(
    branches: Iterable[ast.stmt], values: Sequence[ast.expr | None], frame: FrameType, running: Sequence[CodeType]
) -> Decision | None:
    calls = (each.func for each in _walk(branches, ()) if isinstance(each, ast.Call))
    if any(_calls_again(value_of(each, frame), running) for each in calls):
        return "recursion"
    return "value" if any(_is_no_number(each) for each in values) else None


def _calls_again(function: object, running: Sequence[CodeType]) -> bool:
    """Return whether a function is running already, or names one that is."""
    code = code_of(function)
    inner = attribute(function, "__wrapped__") or function
    if code in running or not isinstance(code, CodeType) or not isinstance(inner, FunctionType):
        return code in running
    return any(code_of(inner.__globals__.get(each)) in running for each in code.co_names)


def code_of(function: Any) -> Any:
    """Return the code of a function, or of the function that was jitted; ``None`` if it has none."""
    for each in (attribute(function, "__wrapped__"), function):
        code = getattr(each, "__code__", None) if type(each).__name__ == "function" else None
        if code is not None:
            return code
    return None


def _test(place: Place) -> ast.AST | None:
    """Return the innermost statement or expression whose condition is, or has in it, what failed."""
    found = None
    for each in ast.walk(place.statement) if place.statement is not None else ():
        if isinstance(each, ast.If | ast.IfExp | ast.While) and (
            place.node is each or any(place.node is part for part in ast.walk(each.test))
        ):
            found = each
    return found


def _walk(nodes: Iterable[ast.AST], without: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    """Iterate over nodes and what is in them, but not into nodes of some types."""
    for each in nodes:
        if not isinstance(each, without):
            yield each
            yield from _walk(ast.iter_child_nodes(each), without)


def _blocks(place: Place) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    """Iterate over the blocks of statements in the file, each with its owner."""
    for owner in ast.walk(place.tree) if place.tree is not None else ():
        for name in ("body", "orelse", "finalbody"):
            block = getattr(owner, name, None)
            if isinstance(block, list):
                yield owner, block


def _following(place: Place, test: ast.If) -> list[ast.stmt]:
    """Return the statements after an ``if`` in its block; an ``elif`` is followed by what follows on its ``if``."""
    for _, block in _blocks(place):
        for position, each in enumerate(block):
            if each is (test if place.statement is None else place.statement):
                return block[position + 1 :]
    return []


def _is_in_loop(place: Place, test: ast.If) -> bool:
    """Return whether an ``if`` is in a loop of its function."""
    return any(
        isinstance(owner, _LOOPS) and name == "body" and any(each is test for each in _walk(block, _FUNCTIONS))
        for owner, block in _blocks(place)
        for name in ("body" if block is getattr(owner, "body", None) else "",)
    )


def _leaves(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue)


def _prints(statement: ast.stmt) -> bool:
    """Return whether a statement only writes a line."""
    function = (
        statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    )
    if isinstance(function, ast.Attribute):
        return ast.unparse(function.value) in _LOGS and function.attr in _WRITES
    return isinstance(function, ast.Name) and function.id == "print"


def _changes(statement: ast.stmt, frame: FrameType) -> bool:
    """Return whether a statement adds an element to a list, a set or a dictionary, or removes one."""
    function = (
        statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    )
    if not isinstance(function, ast.Attribute) or function.attr not in _CHANGING:
        return False
    return is_exactly(value_of(function.value, frame), list, dict, set)


def _is_no_number(value: ast.expr | None) -> bool:
    """Return whether a result is ``None`` or a text, which JAX cannot choose."""
    return (
        value is None
        or isinstance(value, ast.JoinedStr)
        or (isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, str | bytes)))
    )
