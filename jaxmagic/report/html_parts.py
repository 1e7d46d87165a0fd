"""Writes the pieces of HTML: lines and tables. Tags stand here, in ``html`` and ``pictures``."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .. import units
from ..records.names import shortened
from ..terminal import printable
from .blocks import Rows

FAINT = "opacity:.75"
CELL = "padding-right:9px;text-align:left"
NUMBER = "padding-right:9px;text-align:right"

#: A longer name with dots may go on in the next line behind one of them.
_LONG_NAME = 30


def line(sentence: str, style: str = "") -> str:
    """A sentence on a line of its own; of a very long one the beginning."""
    attribute = f' style="{style}"' if style else ""
    return f"<div{attribute}>{safe(short(sentence, 400))}</div>"


def table(rows: Rows, there_are: int, noun: str = "row", where: str = "to_frame()", style: str = CELL) -> str:
    """Write a table; nothing where there are heads alone.

    Args:
        rows: its heads, and its rows.
        there_are: number of rows that it would have if it were not cut.
        noun: what a row is.
        where: what lists all of them.
        style: of its cells.
    """
    heads, *others = rows
    if not others:
        return ""
    columns = [shortened(column, 90) for column in zip(*others, strict=True)]
    top = "".join(head(each, style) for each in heads)
    body = "".join(f"<tr>{''.join(_cell(each, style) for each in row)}</tr>" for row in zip(*columns, strict=True))
    rest = there_are - len(others)
    more = line(f"… and {units.count(rest, f'more {noun}')}: see {where}", FAINT) if rest > 0 else ""
    return f'<table style="border-collapse:collapse;margin:4px 0"><tr>{top}</tr>{body}</table>{more}'


def _cell(text: str, style: str) -> str:
    whole = ";white-space:nowrap" if len(text) <= 11 or style == NUMBER else ""  # a number is not torn from its unit
    told = safe(text)
    if len(text) > _LONG_NAME and " " not in text:
        told = told.replace(".", ".<wbr>")
    return f'<td style="{style}{whole}">{told}</td>'


def head(label: str, cell: str) -> str:
    """Write the head of a column, in the style of its cells."""
    return f'<th style="{cell};font-weight:600">{safe(label)}</th>'


def beside_to_html(pieces: Sequence[str]) -> str:
    """Pieces beside each other, and below each other where the page is narrow."""
    cells = "".join(f'<div style="flex:1 1 330px;min-width:0">{each}</div>' for each in pieces)
    return f'<div style="display:flex;flex-wrap:wrap;gap:16px">{cells}</div>'


def error_to_html(message: str) -> str:
    """Show what went wrong, in the place of what was to be shown."""
    lines = "\n".join(map(safe, message.splitlines()))
    return f'<pre style="white-space:pre-wrap">{lines}</pre>'


def safe(text: str) -> str:
    """Text of one line as HTML: escaped, and nothing in it that a page or a file cannot hold."""
    return escape(printable(text))


def short(text: str, most: int) -> str:
    """Text of so many letters: its beginning, where it is longer."""
    return text if len(text) <= most else text[: most - 1] + "…"
