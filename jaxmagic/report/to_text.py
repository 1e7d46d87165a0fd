"""Writes reports as text for a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from ..records.names import shortened
from ..terminal import line_written_to, printable, printable_lines, written_to
from .blocks import (
    Block,
    Caution,
    Entries,
    Entry,
    Excerpt,
    Fold,
    Headline,
    Lines,
    Listing,
    Picture,
    Sentence,
    SourceLine,
    Split,
    Table,
)
from .compose import compose
from .glance import glance
from .style import DEFAULT, Style
from .text_table import clipped, ending, more, table, wrapped

#: The maximum width of an entry's name.
_WIDEST_NAME = 24

#: The widths of the measurements beside a source line: the same in all listings, so that their columns align.
_FIGURES = (9, 6, 10, 6)

#: The width of a line number and its margin, and the least width of code: where it is not left, the last measurements
#: are left out.
_LINE_NUMBER = 6
_LEAST_CODE = 24


def to_text(record: object, style: Style = DEFAULT, *, explain: bool = False, stream: object = None) -> str:
    """Write a record as plain text of at most ``style.width`` columns, without control characters.

    Unless ``style.whole``, it has at most 14 lines.

    Args:
        record: the record.
        style: the style of its report.
        explain: whether the report explains how it was measured.
        stream: where it will be written, such as ``sys.stdout``: characters that its encoding lacks are replaced.
    """

    def composed(style: Style) -> Iterator[Block]:
        return (_in_encoding(each, stream) for each in compose(record, style, explain=explain))

    def joined(lines: Iterable[str]) -> str:
        whole = printable_lines("\n".join(lines))
        return "\n".join(line_written_to(each, stream, style.width) for each in whole.split("\n"))

    if style.form == "line":
        return joined([next(filter(None, (_first_line(each, style) for each in composed(style))), "")])
    if style.whole:
        return joined(_written(composed(style), style))

    def lines_in_all() -> int:
        rows = sys.maxsize if style.shows_all_rows else style.rows
        everything = replace(style, whole=True, rows=rows)
        return len(list(_written(composed(everything), everything)))

    def write(some: Iterable[Block]) -> list[str]:
        return list(_written(some, style))

    return joined(glance(composed(style), write, style.width, style.whole_by, lines_in_all, style.lines))


def _in_encoding(part: Any, stream: object) -> Any:
    """Replace the characters that a stream lacks in all texts of a block, before text is cut, aligned and wrapped."""
    if isinstance(part, str):
        return written_to(part, stream)
    if isinstance(part, Lines) or not isinstance(part, tuple | list):  # lines are aligned already
        return part
    parts = [_in_encoding(each, stream) for each in part]
    return type(part)(*parts) if hasattr(part, "_fields") else type(part)(parts)


def _written(blocks: Iterable[Block], style: Style) -> Iterator[str]:
    return (line for block in blocks for line in _WRITERS[type(block)](block, style))


def _first_line(block: Block, style: Style) -> str:
    match block:
        case Headline(text=text) | Fold(title=text):
            return printable(text)
        case Split(label=label, total=total, summary=summary):
            return "   ".join((f"{label}: {total}", *summary))
        case _:
            return "".join(islice(_WRITERS[type(block)](block, style), 1))


def _headline(block: Headline, style: Style) -> list[str]:
    return wrapped(printable(block.text), style, "", "  ")


def _split(block: Split, style: Style) -> list[str]:
    return _filled([f"{block.label}: {block.total}", *block.summary], "   ", "  ", style.width)


def _filled(parts: Sequence[str], between: str, indent: str, width: int) -> list[str]:
    """Write parts beside each other, on as many lines as it takes."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]}{between}{part}"
        lines[-1:] = [longer] if len(longer) <= width else [lines[-1], f"{indent}{part}"]
    return lines


def _sentence(block: Sentence, style: Style) -> list[str]:
    first = "  " if block.inner else ""
    return wrapped(printable(block.text), style, first, f"{first}  ")


def _caution(block: Caution, style: Style) -> list[str]:
    return wrapped(printable(f"Warning: {block.text}"), style, "", "  ")


def _entries(block: Entries, style: Style) -> Iterator[str]:
    names = shortened([printable(each.name) for each in block.rows], _WIDEST_NAME)
    widest = max(map(len, names))
    between, indent = ("   ", "    ") if block.heads else ("  ", "    " + " " * widest)
    for each, name, cells in zip(block.rows, names, _cells(block), strict=True):
        first = _filled([f"  {name.ljust(widest)}", *cells], between, indent, style.width)
        yield from _entry(each, first, between, indent, style)


def _cells(block: Entries) -> list[list[str]]:
    """Write the cells of each row: each after its head, or aligned in columns if there are no heads."""
    heads = block.heads[1:]
    if block.heads:
        return [[f"{head} {cell}" for head, cell in zip(heads, row.cells, strict=True) if cell] for row in block.rows]
    columns = zip(*(row.cells for row in block.rows), strict=True)
    aligned = [[cell.rjust(max(map(len, column))) for cell in column] for column in columns]
    return [list(row) for row in zip(*aligned, strict=True)]


def _entry(entry: Entry, first: list[str], between: str, indent: str, style: Style) -> Iterator[str]:
    """Write a row: its remark beside its name if there is nothing else or room, its details and advice below."""
    remark = printable(entry.remark)
    yield from first[:-1]
    if not any(entry.cells) and len(first[-1]) <= len(indent):
        yield from wrapped(remark, style, first[-1].ljust(len(indent)), indent)
    elif len(first[-1]) + len(between) + len(remark) <= style.width and not entry.advice:
        yield f"{first[-1]}{between}{remark}"
    else:
        yield first[-1]
        yield from wrapped(remark, style, indent)
    for detail in entry.details:
        yield from wrapped(printable(detail), style, indent)
    if entry.advice:
        yield from wrapped(printable(f"→ {entry.advice}"), style, indent, f"{indent}  ")
    yield from (f"{indent}  {printable(line)}" for line in entry.code)


def _table(block: Table, style: Style) -> list[str]:
    rows = block.narrow or block.rows
    if len(rows) < 2:
        return []
    lines = table(rows, style.width, numbers=block.numbers, continued=block.continued, keys=block.keys)
    return [*lines, *more(block.there_are, len(rows) - 1, block.noun, style.rows_by(block.where))]


def _listing(block: Listing, style: Style) -> Iterator[str]:
    """Write source lines, without the columns that are empty in all of them, or that leave code no room."""
    kept = [at for at in range(len(block.heads)) if any(line.cells[at] for line in block.lines)]
    while len(kept) > 2 and style.width - sum(_FIGURES[at] + 2 for at in kept) - _LINE_NUMBER < _LEAST_CODE:
        kept.pop()
    rows = (block.heads, *(line.cells for line in block.lines))
    heads, *figures = ("  ".join(row[at].rjust(_FIGURES[at]) for at in kept) for row in rows)
    yield f"{heads}  {ending(printable(block.place), style.width - len(heads) - 2)}"
    for line, cells in zip(block.lines, figures, strict=True):
        yield from _source(f"{cells} {str(line.number or '').rjust(5)}  ", line, style.width)


def _source(before: str, line: SourceLine, width: int) -> Iterator[str]:
    """Write a source line, followed by the library functions that it calls, on the next line if there is no room."""
    called = printable(line.inside)
    written = f"{before}{printable(line.text)}".rstrip()
    if called and len(written) + len(called) + 4 <= width:
        yield f"{written}  [{called}]"
        return
    yield clipped(written, width)
    if called:
        yield clipped(f"[{called}]".rjust(min(width, len(before) + len(called) + 2)), width)


def _picture(block: Picture, style: Style) -> list[str]:
    return [f"  {block.letters}"] if block.letters else []


def _lines(block: Lines, style: Style) -> list[str]:
    return [clipped(each, style.width) for each in block.lines]


def _fold(block: Fold, style: Style) -> list[str]:
    inside = list(_written(block.blocks, style))
    title = [] if block.repeats else wrapped(printable(f"{block.title}."), style, "", "  ")
    return [*title, *inside] if inside else []


def _excerpt(block: Excerpt, style: Style) -> Iterator[str]:
    return _written(block.whole, style)


_WRITERS: dict[type, Callable[[Any, Style], Any]] = {
    Headline: _headline,
    Split: _split,
    Sentence: _sentence,
    Caution: _caution,
    Entries: _entries,
    Table: _table,
    Listing: _listing,
    Picture: _picture,
    Lines: _lines,
    Fold: _fold,
    Excerpt: _excerpt,
}
