"""Reads the source of the functions in a profile, so that the record keeps it."""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Iterable, Sequence

from ...records.call_stack import Frame
from ...records.cell_names import text_of
from ..record.profile import Code

#: At most this many lines of a function are kept before and after each line with time.
_MOST_LINES = 400


def codes_of(frames: Iterable[Frame], *, trusted: bool = True) -> tuple[Code, ...]:
    """Return the source of the functions that contain these lines; for a line outside functions, the line itself.

    Args:
        frames: the lines. Lines of unreadable files are left out.
        trusted: whether the frames come from this process. A recording made elsewhere may name any file, so that only
            cells and Python files are read.
    """
    wanted: dict[tuple[str, str | None], set[int]] = {}
    for frame in frames:
        if trusted or _is_code(frame.file):
            wanted.setdefault((frame.file, frame.cell), set()).add(frame.line)
    return tuple(
        Code(file=file, cell=cell, first=first, lines=tuple(text[first - 1 : last]))
        for (file, cell), lines in wanted.items()
        if (text := text_of(file))
        for first, last in _stretches([line.rstrip("\n") for line in linecache.getlines(file)], lines)
    )


def _is_code(file: str) -> bool:
    """Return whether Python has the file's lines already, or it is a regular ``.py`` file."""
    return file in linecache.cache or (file.endswith(".py") and os.path.isfile(file))


def _stretches(text: Sequence[str], lines: set[int]) -> list[tuple[int, int]]:
    """Return first and last line of the innermost functions around some lines, in order; neighbors are joined."""
    functions = _functions(text)
    stretches: set[tuple[int, int]] = set()
    for line in lines:
        around = [each for each in functions if each[0] <= line <= each[1]]
        first, last = min(around, key=lambda each: each[0] - each[1], default=(line, line))
        stretches.add((max(first, line - _MOST_LINES), min(last, line + _MOST_LINES)))
    joined: list[tuple[int, int]] = []
    for first, last in sorted(stretches):
        if joined and first <= joined[-1][1] + 3:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        elif first <= len(text):
            joined.append((first, min(last, len(text))))
    return joined


def _functions(text: Sequence[str]) -> list[tuple[int, int]]:
    """Return first line, with decorators, and last line of each function; none if the text is not valid Python."""
    try:
        tree = ast.parse("\n".join(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # not Python, or changed since it ran
        return []
    return [
        (min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
