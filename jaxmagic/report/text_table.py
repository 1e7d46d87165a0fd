"""Formats sentences and tables for a terminal."""

from __future__ import annotations

import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from .. import units
from ..records.names import shortened
from ..terminal import WIDEST_SENTENCE, printable
from .style import Style

#: Cells are not cut to less than this many columns, so that numbers stay whole.
_NARROWEST = 11

#: The room for an ellipsis in place of columns.
_ELLIPSIS = 3

#: A number with its unit, or the number of a cell, in which lines are not broken.
_UNBROKEN = re.compile(rf"{units.WITH_UNIT.pattern}|\bcell \d")


def more(there_are: int, shown: int, noun: str, where: str = "to_frame()") -> list[str]:
    """Say how many rows of a table are not shown."""
    rest = there_are - shown
    return [f"  … and {units.count(rest, f'more {noun}')}: see {where}"] if rest > 0 else []


def clipped(line: str, width: int) -> str:
    """Cut a line to a width, which an ellipsis shows.

    >>> clipped("y = jnp.dot(x, x)", 12), clipped("y = x", 12)
    ('y = jnp.dot…', 'y = x')
    """
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"


def ending(path: str, width: int) -> str:
    """Cut a path to a width at its start, because its end tells more.

    >>> ending("/home/me/experiments/train.py", 12), ending("train.py", 12)
    ('…ts/train.py', 'train.py')
    """
    return path if len(path) <= width else f"…{path[len(path) - max(width - 1, 1) :]}"


def table(
    rows: Iterable[Sequence[str]],
    most: int | None = None,
    widest: int | None = None,
    numbers: bool = False,
    continued: bool = False,
    keys: int = 1,
) -> list[str]:
    """Align rows in columns that are as wide as necessary; the first row has the heads.

    Columns of quantities are aligned at their right, others at their left. Where all columns are of quantities, none
    is cut, and columns for which there is no room follow below.

    Args:
        rows: the cells of each row.
        most: the maximum width of the table. The widest cells are shortened in the middle to fit, so that different
            cells stay different where there is room for that. If that is not enough, the last columns are left out,
            which an ellipsis shows.
        widest: the maximum width of a cell, if there is one.
        numbers: whether all columns are of quantities.
        continued: whether the last columns follow below, beside the first ones, where they would be left out.
        keys: how many first columns tell rows apart.
    """
    columns = list(zip(*(map(printable, row) for row in rows), strict=True))
    if most is None or _narrowest(columns, numbers) <= most:
        return _lines(columns, most, widest, numbers)
    if not continued and not numbers:
        kept = _with_room(columns, most - _ELLIPSIS)
        lines = _lines(columns[:kept], most - _ELLIPSIS, widest, numbers)
        width = max(map(len, lines))
        return [f"{line.ljust(width)}  …" for line in lines]
    lines, first, rest = [], columns[:keys], columns[keys:]
    counts = Counter(column[0] for column in columns)
    heads = [head for head in counts if counts[head] > 1]  # which only the column before tells apart
    while rest:
        kept = max(_with_room([*first, *rest], most, numbers) - keys, 1)
        while 1 < kept < len(rest) and rest[kept][0] in heads:
            kept -= 1
        lines += _lines([*first, *rest[:kept]], most, widest, numbers)
        rest = rest[kept:]
    return lines


def fits(rows: Iterable[Sequence[str]], most: int) -> bool:
    """Return whether a table has room for all columns, some of them perhaps shortened."""
    return _narrowest(list(zip(*rows, strict=True))) <= most


def _narrowest(columns: Iterable[Sequence[str]], numbers: bool = False) -> int:
    """Return the width of a table whose cells are all cut as far as they may be."""
    return sum(2 + _least(column, numbers) for column in columns)


def _least(column: Sequence[str], numbers: bool) -> int:
    """Return the width of a column whose cells are cut as far as they may be; of numbers, only the head is cut."""
    head, *cells = column
    longest = max(map(len, cells), default=0)
    return max(longest if numbers else min(longest, _NARROWEST), min(len(head), _NARROWEST))


def _with_room(columns: Sequence[Sequence[str]], most: int, numbers: bool = False) -> int:
    """Return the number of columns, at least one, that a width has room for."""
    return max(sum(_narrowest(columns[: number + 1], numbers) <= most for number in range(len(columns))), 1)


def _lines(columns: Sequence[Sequence[str]], most: int | None, widest: int | None, numbers: bool) -> list[str]:
    """Align columns, and cut their cells to fit."""
    widths = [min(max(map(len, column)), widest or sys.maxsize) for column in columns]
    fits = most is not None and _narrowest(columns, numbers) <= most
    least = [_least(column, numbers and fits) for column in columns]
    while most is not None and sum(widths) + 2 * len(widths) > most:
        wider = [at for at, width in enumerate(widths) if width > least[at]]
        if not wider:
            break
        widths[max(wider, key=widths.__getitem__)] -= 1
    cut = [shortened(column, width) for column, width in zip(columns, widths, strict=True)]
    if most is not None:
        cut = [_fitted(*each) for each in zip(columns, cut, widths, strict=True)]
    right = [numbers or units.are_quantities(column[1:]) for column in columns]
    aligned = [_aligned(column, at_right) for column, at_right in zip(cut, right, strict=True)]
    return [("  " + "  ".join(row)).rstrip() for row in zip(*aligned, strict=True)]


def _fitted(column: Sequence[str], cut: Sequence[str], width: int) -> tuple[str, ...]:
    """Cut the ends of the cells that have to be longer than a column to stay different."""
    return tuple(
        short if len(short) <= width else clipped(cell, width) for cell, short in zip(column, cut, strict=True)
    )


def _aligned(column: Sequence[str], at_right: bool) -> list[str]:
    width = max(map(len, column))
    return [cell.rjust(width) if at_right else cell.ljust(width) for cell in column]


def wrapped(sentence: str, style: Style, indent: str, further: str | None = None) -> list[str]:
    """Wrap a sentence into lines.

    Args:
        sentence: the sentence.
        style: gives the width, of which a sentence takes at most 100 columns to stay easy to read.
        indent: the indent of the first line.
        further: the indent of the other lines; the same as `indent` if left out.
    """
    width = min(max(style.width, 40), WIDEST_SENTENCE)
    if sentence.isprintable() and len(indent) + len(sentence) <= width:
        return [indent + sentence]
    lines = textwrap.wrap(
        _UNBROKEN.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), sentence),
        width,
        initial_indent=indent,
        subsequent_indent=indent if further is None else further,
        break_on_hyphens=False,  # a path or an option stays whole
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
