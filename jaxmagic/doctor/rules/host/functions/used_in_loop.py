"""Tells what else a loop does with arrays that it passes to a function."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from .....records.call_stack import Frame
from ..syntax import Comprehension, Function, Loop, around, calls_of

#: Attributes of arrays that cost nothing.
_FREE = frozenset({"shape", "ndim", "size", "dtype", "nbytes"})


def used_otherwise(names: Collection[str], called: str, line: Frame) -> bool:
    """Return whether a loop uses arrays for more than passing them whole to a function.

    What NumPy does with an array in a loop, such as a slice, is an operation outside jit for an array of JAX.

    Args:
        names: the arrays, as the loop writes them.
        called: the function.
        line: the line in the loop, or with a comprehension, that calls it.
    """
    return any(_otherwise(loop, names, called, line) for loop in loops_of(line)[:1])


def loops_of(line: Frame) -> list[ast.AST]:
    """Return the loops around a line in the same function, and the comprehensions in its statement."""
    nodes = around(line)
    inner = max((number for number, each in enumerate(nodes) if isinstance(each, Function)), default=-1)
    loops: list[ast.AST] = [each for each in nodes[inner + 1 :] if isinstance(each, Loop)]
    return loops + [each for node in nodes[-1:] for each in ast.walk(node) if isinstance(each, Comprehension)]


def _otherwise(loop: ast.AST, names: Collection[str], called: str, line: Frame) -> bool:
    spared = {id(each) for each in _spared(loop, called, line)}
    return any(
        isinstance(each, ast.Name | ast.Attribute | ast.Subscript)
        and id(each) not in spared
        and ast.unparse(each) in names
        for each in ast.walk(loop)
    )


def _spared(loop: ast.AST, called: str, line: Frame) -> Iterator[ast.expr]:
    """Yield what a call of the function is given, and what only a length or a shape is asked of."""
    for call in calls_of(called, loop, line):
        given = (*call.args, *(each.value for each in call.keywords))
        yield from (each.value if isinstance(each, ast.Starred) else each for each in given)
    for node in ast.walk(loop):
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[value]):
                yield value
            case ast.Attribute(value=value, attr=name) if name in _FREE:
                yield value
