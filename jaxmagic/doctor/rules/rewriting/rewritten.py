"""Divides code to paste into its places, and puts it there in a copy of the user's syntax."""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from .syntax import around, first_line, loops_around

#: Comments on lines of their own, in code to paste, that say where the lines below them belong.
INSTEAD = "# instead of the loop"
AFTER = "# after the loop"
_AFTER = re.compile(rf"^{AFTER}(?: at line (\d+))?$", re.MULTILINE)
_IN_LOOP = re.compile(r"^# in (?:the loop|\w+), instead of lines? (\d+)(?: to (\d+))?$", re.MULTILINE)

#: The comment of :func:`then`.
_THEN = re.compile(
    r"^# Then (?:remove )?lines? (\d+)(?: to (\d+))?(?: of \w+)?(?:\.| becomes?:\n#     (.*))$", re.MULTILINE
)

_Tree = TypeVar("_Tree", ast.Module, ast.FunctionDef)


class Pasted(NamedTuple):
    """Statements to paste, by their places.

    Attributes:
        beside: definitions beside the function or cell that is changed.
        statement: what comes in place of the statement at a line.
        loop: what comes in place of the loop around it.
        after: what follows this loop, or one around it.
        after_line: the first line of that one; 0 if it is this loop.
        lines: what comes in place of some lines; nothing, if they are removed.
        first: the first of them; 0 if there are none.
        last: the last one.
        whole: what comes in place of the outermost function around the line, or else of the outermost loop.
    """

    beside: Sequence[ast.stmt] = ()
    statement: Sequence[ast.stmt] = ()
    loop: Sequence[ast.stmt] = ()
    after: Sequence[ast.stmt] = ()
    after_line: int = 0
    lines: Sequence[ast.stmt] = ()
    first: int = 0
    last: int = 0
    whole: ast.stmt | None = None


def in_loop(first: int, last: int) -> str:
    """Return the comment that says that the lines below it belong in the loop, in place of others.

    >>> in_loop(5, 8), in_loop(5, 5)
    ('# in the loop, instead of lines 5 to 8', '# in the loop, instead of line 5')
    """
    return f"# in the loop, instead of line{f's {first} to {last}' if last > first else f' {first}'}"


def in_function(name: str, first: int, last: int) -> str:
    """Return the comment that says that the lines below it belong in a function, in place of others.

    >>> in_function("step", 5, 8)
    '# in step, instead of lines 5 to 8'
    """
    return in_loop(first, last).replace("the loop", name, 1)


def after(line: int = 0) -> str:
    """Return the comment that says that the lines below it follow the loop, or one around it that begins at a line.

    >>> after(), after(3)
    ('# after the loop', '# after the loop at line 3')
    """
    return f"{AFTER} at line {line}" if line else AFTER


def then(first: int, last: int, instead: str, function: str = "") -> str:
    """Return the comment that says what some lines of a function become; that they are removed, if nothing.

    >>> then(3, 5, "", "train")
    '# Then remove lines 3 to 5 of train.'
    >>> print(then(4, 4, "y = f(x)"))
    # Then line 4 becomes:
    #     y = f(x)
    """
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    place = f"{lines} of {function}" if function else lines
    return f"# Then {place} becomes:\n#     {instead}" if instead else f"# Then remove {place}."


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
        new = pasted(code[inside.end() :])
        beside = _parsed(code[: inside.start()])
        return new._replace(beside=beside, statement=(), lines=new.statement, first=begin, last=end)
    behind = _AFTER.search(code)
    if behind is None:
        return Pasted(statement=_parsed(code))
    last = _parsed(code[behind.end() :])
    return Pasted(statement=_parsed(code[: behind.start()]), after=last, after_line=int(behind[1] or 0))


def moved_out(code: str) -> Pasted:
    """Divide code that moves a definition out of a function or loop: the definition, and what is left of it."""
    found = _THEN.search(code)
    if found is None:
        *beside, whole = _parsed(code)
        return Pasted(beside=beside, whole=whole)
    first, last = int(found[1]), int(found[2] or found[1])
    return Pasted(beside=_parsed(code[: found.start()]), lines=_parsed(found[3] or ""), first=first, last=last)


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
    if new.whole is not None:
        return _with_whole(made, line, new.whole)
    if new.first and not new.after:
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
    if new.after_line:
        loop = next((each for each in loops if each.lineno == new.after_line - before), None)
        if loop is None:
            return None
    if new.first and _with_lines(made, new.first - before, new.last - before, new.lines) is None:
        return None
    if loop is not None:
        _replace(made, loop, new.loop or [loop, *new.after])
    return ast.fix_missing_locations(made)


def _with_whole(tree: _Tree, line: int, new: ast.stmt) -> _Tree | None:
    """Replace the outermost function around a line, or else the outermost loop; ``None`` if that is another one."""
    found = [each for each in around(tree, line) if isinstance(each, ast.FunctionDef | ast.For | ast.While)]
    outer = next((each for each in found if isinstance(each, ast.FunctionDef)), found[0] if found else None)
    if type(outer) is not type(new) or getattr(outer, "name", "") != getattr(new, "name", ""):
        return None
    if outer is tree:
        tree.body = new.body if isinstance(new, ast.FunctionDef) else tree.body
    elif outer is not None:
        _replace(tree, outer, [new])
    return ast.fix_missing_locations(tree)


def _with_lines(tree: _Tree, first: int, last: int, new: Sequence[ast.stmt]) -> _Tree | None:
    """Replace the statements from one line to another; ``None`` if these are not whole statements of one block."""
    for node in ast.walk(tree):
        for _, body in ast.iter_fields(node):
            if not isinstance(body, list) or not any(isinstance(each, ast.stmt) for each in body):
                continue
            inside = [each for each in body if first <= first_line(each) and (each.end_lineno or 0) <= last]
            if inside and first_line(inside[0]) == first and inside[-1].end_lineno == last:
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
