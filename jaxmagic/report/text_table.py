"""Formats sentences and tables for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from .. import units
from ..records.names import shortened
from ..terminal import printable
from .style import Style

#: Cells are not cut to less than this many columns, so that numbers stay whole.
_NARROWEST = 11

#: The space between a number and its unit, at which lines are not broken.
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(ns|µs|ms|s|%|B|[KMGT]iB)(?!\w))")


def more(there_are: int, shown: int, noun: str, where: str = "to_frame()") -> list[str]:
    """Say how many rows of a table are not shown."""
    rest = there_are - shown
    return [f"  … and {units.count(rest, f'more {noun}')}: see {where}"] if rest > 0 else []


def table(rows: Iterable[Sequence[str]], most: int | None = None, widest: int = 44) -> list[str]:
    """Align rows in columns that are as wide as necessary; the first row has the heads.

    Args:
        rows: the cells of each row.
        most: the maximum width of the table. The widest cells are shortened in the middle to fit, so that different
            cells stay different.
        widest: the maximum width of a cell.
    """
    columns = list(zip(*(map(printable, row) for row in rows), strict=True))
    widths = [min(max(map(len, column)), widest) for column in columns]
    while most is not None and sum(widths) + 2 * len(widths) > most and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    cut = [shortened(column, width) for column, width in zip(columns, widths, strict=True)]
    aligned = [[cell.ljust(max(map(len, column))) for cell in column] for column in cut]
    return [("  " + "  ".join(row)).rstrip() for row in zip(*aligned, strict=True)]


def wrapped(sentence: str, style: Style, indent: str, further: str | None = None) -> list[str]:
    """Wrap a sentence into lines.

    Args:
        sentence: the sentence.
        style: gives the width.
        indent: the indent of the first line.
        further: the indent of the other lines; the same as `indent` if left out.
    """
    width = max(style.width, 40)
    if sentence.isprintable() and len(indent) + len(sentence) <= width:
        return [indent + sentence]
    lines = textwrap.wrap(
        _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", sentence),
        width,
        initial_indent=indent,
        subsequent_indent=indent if further is None else further,
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
