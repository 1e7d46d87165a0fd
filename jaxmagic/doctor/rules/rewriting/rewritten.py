"""Divides code to paste into its places, and puts it there in a copy of the user's syntax."""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from .syntax import around, loops_around

#: Comments on lines of their own, in code to paste, that say where the lines below them belong.
INSTEAD = "# instead of the loop"
AFTER = "# after the loop"
_IN_LOOP = re.compile(r"^# in the loop, instead of lines? (\d+)(?: to (\d+))?$", re.MULTILINE)


_Tree = TypeVar("_Tree", ast.Module, ast.FunctionDef)


class Pasted(NamedTuple):
    """Statements to paste, by their places.

    Attributes:
        beside: definitions beside the function or cell that is changed.
        statement: what comes in place of the statement at a line.
        loop: what comes in place of the loop around it.
        after: what follows this loop.
        lines: what comes in place of some lines of the loop.
        first: the first of them.
        last: the last one.
    """

    beside: Sequence[ast.stmt] = ()
    statement: Sequence[ast.stmt] = ()
    loop: Sequence[ast.stmt] = ()
    after: Sequence[ast.stmt] = ()
    lines: Sequence[ast.stmt] = ()
    first: int = 0
    last: int = 0


def in_loop(first: int, last: int) -> str:
    """Return the comment that says that the lines below it belong in the loop, in place of others.

    >>> in_loop(5, 8), in_loop(5, 5)
    ('# in the loop, instead of lines 5 to 8', '# in the loop, instead of line 5')
    """
    return f"# in the loop, instead of line{f's {first} to {last}' if last > first else f' {first}'}"


def replaces_loop(code: str) -> bool:
    """Return whether code to paste belongs in place of a loop, or of a part of one."""
    return INSTEAD in code or _IN_LOOP.search(code) is not None


def pasted(code: str) -> Pasted:
    """Divide code to paste by the comments in it. Without such comments, it replaces the statement at the line."""
    first, instead, second = code.partition(f"\n{INSTEAD}\n")
    if instead:
        return Pasted(beside=_parsed(first), loop=_parsed(second))
    inside = _IN_LOOP.search(code)
    if inside is not None:
        begin, end = int(inside[1]), int(inside[2] or inside[1])
        new = _parsed(code[inside.end() :])
        return Pasted(beside=_parsed(code[: inside.start()]), lines=new, first=begin, last=end)
    first, _, second = code.partition(f"\n{AFTER}\n")
    return Pasted(statement=_parsed(first), after=_parsed(second))


def _parsed(code: str) -> list[ast.stmt]:
    return ast.parse(textwrap.dedent(code)).body


def rewritten(tree: _Tree, line: int, new: Pasted, *, before: int = 0) -> _Tree | None:
    """Return a copy of some syntax with new statements at a line; ``None`` if it is unclear which ones they replace.

    Args:
        tree: the function or module.
        line: the line, as the tree numbers them.
        new: the statements; those beside it are left out.
        before: how many lines precede the tree where the lines of a loop were counted.
    """
    made = copy.deepcopy(tree)
    if new.lines:
        return _with_lines(made, new.first - before, new.last - before, new.lines)
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


def _with_lines(tree: _Tree, first: int, last: int, new: Sequence[ast.stmt]) -> _Tree | None:
    """Replace the statements from one line to another; ``None`` if these are not whole statements of one block."""
    for node in ast.walk(tree):
        for _, body in ast.iter_fields(node):
            if not isinstance(body, list) or not any(isinstance(each, ast.stmt) for each in body):
                continue
            inside = [each for each in body if first <= each.lineno and (each.end_lineno or each.lineno) <= last]
            if inside and inside[0].lineno == first and inside[-1].end_lineno == last:
                at = body.index(inside[0])
                body[at : at + len(inside)] = [*new]
                return ast.fix_missing_locations(tree)
    return None


def _replace(tree: ast.AST, old: ast.stmt, new: Sequence[ast.stmt]) -> None:
    for node in ast.walk(tree):
        for _, body in ast.iter_fields(node):
            if isinstance(body, list) and any(each is old for each in body):
                at = next(number for number, each in enumerate(body) if each is old)
                body[at : at + 1] = [*new]
                return
