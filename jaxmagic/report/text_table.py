"""Sentences and tables in the columns of a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from .. import units
from ..records.names import shortened
from ..terminal import printable
from .style import Style

#: A cell is not cut any further: a number has to stay whole.
_NARROWEST = 11

#: A number is not torn from its unit.
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(ns|µs|ms|s|%|B|[KMGT]iB)(?!\w))")


def more(there_are: int, shown: int, noun: str, where: str = "to_frame()") -> list[str]:
    """Tell how many rows a table might have had beyond those shown."""
    rest = there_are - shown
    return [f"  … and {units.count(rest, f'more {noun}')}: see {where}"] if rest > 0 else []


def sentences(told: Iterable[str], style: Style) -> list[str]:
    """Sentences below each other, their further lines indented."""
    return [line for each in told for line in wrapped(printable(each), style, "", "  ")]


def table(rows: Iterable[Sequence[str]], most: int | None = None, widest: int = 44) -> list[str]:
    """Rows in columns as wide as they have to be, the first row the heads.

    Args:
        rows: their cells.
        most: columns of text for all of it: where they are too few, the widest cells are cut, in the middle and so
            that different ones stay different.
        widest: columns for a cell.
    """
    columns = list(zip(*([printable(each) for each in row] for row in rows), strict=True))
    widths = [min(max(map(len, column)), widest) for column in columns]
    while most is not None and sum(widths) + 2 * len(widths) > most and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    cut = [shortened(column, width) for column, width in zip(columns, widths, strict=True)]
    aligned = [[each.ljust(max(map(len, column))) for each in column] for column in cut]
    return [("  " + "  ".join(row)).rstrip() for row in zip(*aligned, strict=True)]


def wrapped(sentence: str, style: Style, indent: str, further: str | None = None) -> list[str]:
    """A sentence in lines.

    Args:
        sentence: it.
        style: has the width.
        indent: before its first line.
        further: before the others; as before the first if left out.
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
