"""Sentences and tables in the columns of a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from .. import units
from . import words
from .style import Style

#: A cell is not cut any further: a number has to stay whole.
_NARROWEST = 11

#: A number is not torn from its unit.
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(ns|µs|ms|s|%|B|[KMGT]iB)(?!\w))")


def more(there_are: int, shown: int, noun: str, where: str = "to_frame()") -> list[str]:
    """How many rows a table might have had beyond those shown."""
    rest = there_are - shown
    return [f"  … and {units.count(rest, f'more {noun}')}: see {where}"] if rest > 0 else []


def sentences(told: Iterable[str], style: Style) -> list[str]:
    """Sentences below each other, their further lines indented."""
    return [line for each in told for line in wrapped(words.printable(each), style, "", "  ")]


def table(rows: Iterable[Sequence[str]], most: int | None = None, widest: int = 44) -> list[str]:
    """Rows in columns as wide as they have to be, the first row the heads.

    Args:
        rows: their cells.
        most: columns of text for all of it: where they are too few, the widest cells are cut.
        widest: columns for a cell.
    """
    printable = [[words.printable(each) for each in row] for row in rows]
    widths = [min(max(map(len, column)), widest) for column in zip(*printable, strict=True)]
    while most is not None and sum(widths) + 2 * len(widths) > most and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return [
        ("  " + "  ".join(_cut(each, width).ljust(width) for each, width in zip(row, widths, strict=True))).rstrip()
        for row in printable
    ]


#: What tells two long names apart: the number of a line, or of an operation.
_NUMBER = re.compile(r"[.:]\d+$")


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    number = _NUMBER.search(text)
    end = number[0] if number and len(number[0]) <= most // 2 else ""
    return f"{text[: most - 1 - len(end)]}…{end}"


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
