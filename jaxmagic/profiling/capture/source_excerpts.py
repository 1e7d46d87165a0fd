"""The text of functions that a profile speaks of, as Python has it now: a record keeps it for later."""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Iterable, Sequence

from ...records.call_stack import Frame
from ...records.cell_names import text_of
from ..record.profile import Code

#: Of a function, or of a cell, no more is kept around the lines that are asked for.
_MOST_LINES = 400


def codes_of(frames: Iterable[Frame], *, trusted: bool = True) -> tuple[Code, ...]:
    """The source of the functions that these lines are in; of a line outside of all, what stands around it.

    Args:
        frames: the lines. Those whose file cannot be read are left out.
        trusted: whether the names of files are those of this process. A recording from elsewhere may name any file:
            then only code is read, that of cells and of files of Python.
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
    """Tell whether Python knows it, or it is a file of Python.

    Not a device, nor anything else that is on this machine.
    """
    return file in linecache.cache or (file.endswith(".py") and os.path.isfile(file))


def _stretches(text: Sequence[str], lines: set[int]) -> list[tuple[int, int]]:
    """First and last line of the functions around some lines, in order; functions within others are part of them."""
    functions = _functions(text)
    found: set[tuple[int, int]] = set()
    for line in lines:
        around = [each for each in functions if each[0] <= line <= each[1]]
        first, last = min(around, key=lambda each: each[0] - each[1], default=(line, line))
        found.add((max(first, line - _MOST_LINES), min(last, line + _MOST_LINES)))
    joined: list[tuple[int, int]] = []
    for first, last in sorted(found):
        if joined and first <= joined[-1][1] + 3:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        elif first <= len(text):
            joined.append((first, min(last, len(text))))
    return joined


def _functions(text: Sequence[str]) -> list[tuple[int, int]]:
    """Find where functions begin, with their decorators, and end; none where the text is no Python by itself."""
    try:
        tree = ast.parse("\n".join(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # no Python, or changed since it was run
        return []
    return [
        (min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
