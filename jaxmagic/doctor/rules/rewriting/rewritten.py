"""Divides code to paste into its places, and puts it there in a copy of the user's syntax."""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from .syntax import around, loops_around

#: Comments on lines of their own, in code to paste, that say where the lines below them belong.
INSTEAD = "# instead of the loop"
AFTER = "# after the loop"


_Tree = TypeVar("_Tree", ast.Module, ast.FunctionDef)


class Pasted(NamedTuple):
    """Statements to paste, by their places.

    Attributes:
        beside: definitions beside the function or cell that is changed.
        statement: what comes in place of the statement at a line.
        loop: what comes in place of the loop around it.
        after: what follows this loop.
    """

    beside: Sequence[ast.stmt] = ()
    statement: Sequence[ast.stmt] = ()
    loop: Sequence[ast.stmt] = ()
    after: Sequence[ast.stmt] = ()


def pasted(code: str) -> Pasted:
    """Divide code to paste by the comments in it. Without such comments, it replaces the statement at the line."""
    first, instead, second = code.partition(f"\n{INSTEAD}\n")
    if instead:
        return Pasted(beside=_parsed(first), loop=_parsed(second))
    first, _, second = code.partition(f"\n{AFTER}\n")
    return Pasted(statement=_parsed(first), after=_parsed(second))


def _parsed(code: str) -> list[ast.stmt]:
    return ast.parse(textwrap.dedent(code)).body


def rewritten(tree: _Tree, line: int, new: Pasted) -> _Tree | None:
    """Return a copy of some syntax with new statements at a line; ``None`` if it is unclear which ones they replace.

    Args:
        tree: the function or module.
        line: the line, as the tree numbers them.
        new: the statements; those beside it are left out.
    """
    made = copy.deepcopy(tree)
    statements = [each for each in around(made, line) if isinstance(each, ast.stmt)]
    loops = [each for each in loops_around(made, line) if isinstance(each, ast.For | ast.While)]
    if statements and isinstance(statements[-1], ast.While):  # its condition
        loops.append(statements[-1])
    loop = loops[-1] if loops else None
    at_line = [each for each in statements if not getattr(each, "body", None)]
    if (new.statement and len(at_line) != 1) or (loop is None and (new.loop or new.after)):
        return None
    if new.statement:
        _replace(made, at_line[0], new.statement)
    if loop is not None:
        _replace(made, loop, new.loop or [loop, *new.after])
    return ast.fix_missing_locations(made)


def _replace(tree: ast.AST, old: ast.stmt, new: Sequence[ast.stmt]) -> None:
    for node in ast.walk(tree):
        for _, body in ast.iter_fields(node):
            if isinstance(body, list) and any(each is old for each in body):
                at = next(number for number, each in enumerate(body) if each is old)
                body[at : at + 1] = [*new]
                return
