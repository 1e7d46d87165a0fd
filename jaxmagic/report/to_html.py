"""Writes reports as HTML, from the pieces in `html_parts`.

The HTML is saved in notebooks, reopened without a kernel and untrusted, and shown in light and dark themes. So there
is no ``<style>``, no class and no external address: only inline styles that JupyterLab's sanitiser keeps, the page's
own text colour, and hues of medium lightness that are legible on white and on black. Pictures are followed by a
script that makes them live; if it is removed, the pictures stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from itertools import groupby
from typing import Any

from ..drawing.colours import GREY_PARTS, PARTS
from ..drawing.scripts import with_scripts
from ..records.names import shortened, truncated
from ..terminal import printable
from . import html_parts
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
from .html_parts import CELL, CODE, FAINT, NUMBER, safe
from .style import DEFAULT, Style

#: The maximum lengths of an entry's name, of a headline, and of a source line.
_WIDEST_NAME = 40
_LONGEST_HEADLINE = 400
_WIDEST_SOURCE = 160

_CODE = f"{CODE};white-space:pre-wrap;min-width:16em;text-align:left;padding-left:9px"

#: Written into each cell, because JupyterLab centres cells.
_TOP = "vertical-align:top"

#: The longest row, in characters, whose sentence stands beside its numbers.
_WIDEST_BESIDE = 44

#: A longer cell is no number, and needs no column of its own.
_LONGEST_NUMBER = 16

#: The font of JupyterLab, so that a report looks the same in a page without a font of its own.
_PAGE = "font-family:system-ui,sans-serif"


def to_html(record: object, style: Style = DEFAULT, *, explain: bool = False) -> str:
    """Write a record as HTML that needs no kernel and no network, and is complete without scripts.

    Unless ``style.whole``, most of it is folded.
    """
    inside = _written(compose(record, style, explain=explain), style)
    return with_scripts(f'<div style="{_PAGE};line-height:1.5;overflow-wrap:break-word">{inside}</div>')


def _writer(style: Style) -> Callable[[Block], str]:
    return lambda block: _WRITERS[type(block)](block, style)


#: How much the background of a line with all of the time covers the page: text on it has to be legible in the dark.
_WARMEST = 0.48


def _headline(block: Headline, style: Style) -> str:
    return f"<div><b>{safe(truncated(block.text, _LONGEST_HEADLINE))}</b></div>"


def _split(block: Split, style: Style) -> str:
    """Write a stacked bar of the parts, and a legend with their numbers."""
    colours = PARTS if style.colour else GREY_PARTS
    segments, legend = [], []
    for part in block.parts:
        label, colour = f"{part.name} {part.told}", colours[part.name]
        segments.append(
            f'<div title="{safe(label)}" style="width:{100 * part.share:.2f}%;background:{colour};height:12px"></div>'
        )
        swatch = f'<span style="color:{colour}">&#9632;</span>'
        legend.append(f'<span style="margin-right:1.2em;white-space:nowrap">{swatch} {safe(label)}</span>')
    remark = f", {safe(block.remark)}" if block.remark else ""
    return (
        f"<div><b>{safe(block.total)}</b> {safe(block.label.lower())}{remark}</div>"
        f'<div style="display:flex;width:100%;margin:3px 0">{"".join(segments)}</div><div>{" ".join(legend)}</div>'
    )


def _sentence(block: Sentence, style: Style) -> str:
    return html_parts.line(block.text, FAINT if block.faint else "")


def _caution(block: Caution, style: Style) -> str:
    return html_parts.line(f"⚠ {block.text}")


def _entries(block: Entries, style: Style) -> str:
    names = shortened([printable(each.name) for each in block.rows], _WIDEST_NAME)
    beside = all(
        len(name) + sum(map(len, each.cells)) + len(each.remark) <= _WIDEST_BESIDE
        for each, name in zip(block.rows, names, strict=True)
    )
    in_columns = beside or all(len(cell) <= _LONGEST_NUMBER for each in block.rows for cell in each.cells)
    rows = "".join(_entry(each, name, beside, in_columns) for each, name in zip(block.rows, names, strict=True))
    inside = f'<table style="border-collapse:collapse;margin:4px 0">{_heads(block, beside)}{rows}</table>'
    return html_parts.in_its_width(inside, truncated(", ".join(names), 30))


def _heads(block: Entries, beside: bool) -> str:
    if not block.heads:
        return ""
    heads = block.heads if beside else block.heads[:-1]
    styles = [CELL, *(NUMBER for _ in block.heads[1:-1]), CELL]
    return f"<tr>{''.join(map(html_parts.head, heads, styles))}</tr>"


def _entry(entry: Entry, name: str, beside: bool, in_columns: bool) -> str:
    """Write a row, and below it, in the whole width, what a narrow page has no column for."""
    where = f' title="{safe(truncated(entry.place, 80))}"' if entry.place else ""
    code, remark = f"<code{where}>{safe(name)}</code>", safe(truncated(entry.remark, 200))
    if in_columns:
        cells = "".join(f'<td style="{NUMBER};{_TOP};white-space:nowrap">{safe(each)}</td>' for each in entry.cells)
        last = f'<td style="{CELL}">{remark}</td>' if beside else '<td style="width:100%"></td>'
        row = f'<td style="{CELL};{_TOP}">{code}</td>{cells}{last}'
    else:
        row = f'<td style="{CELL}">{" &nbsp; ".join((code, *map(safe, entry.cells)))}</td>'
    faint = [*entry.details, *([f"→ {entry.advice}"] if entry.advice else [])]
    sentences = [] if beside or not remark else [remark]
    sentences += [f'<span style="{FAINT}">{safe(each)}</span>' for each in faint]
    lines = "\n".join(map(safe, entry.code))
    pasted = f'<pre style="{FAINT};margin:2px 0 0 18px;white-space:pre-wrap">{lines}</pre>' if lines else ""
    below = "<br>".join(sentences) + pasted
    across = f'colspan="{len(entry.cells) + 2 if in_columns else 1}" style="{CELL};padding-left:18px"'
    return f"<tr>{row}</tr>" + (f"<tr><td {across}>{below}</td></tr>" if below else "")


def _table(block: Table, style: Style) -> str:
    where = style.rows_by(block.where)
    return html_parts.table(block.rows, block.there_are, block.noun, where, block.numbers, block.code)


def _listing(block: Listing, style: Style) -> str:
    block = block.without_empty_columns()
    heads = "".join(html_parts.head(name, NUMBER) for name in block.heads)
    place = html_parts.head(truncated(block.place, 80), "padding-left:9px;text-align:left")
    rows = "".join(_source(each, style) for each in block.lines)
    line = html_parts.head("line", f"{NUMBER};{FAINT}")
    inside = f'<table style="border-collapse:collapse;margin:4px 0"><tr>{heads}{line}{place}</tr>{rows}</table>'
    return html_parts.in_its_width(inside, truncated(block.place, 80))


def _source(line: SourceLine, style: Style) -> str:
    """Write a source line; the larger its share, the stronger the background of its numbers."""
    hue = "214,90,60" if style.colour else "128,128,128"
    heat = f";background:rgba({hue},{0.08 + _WARMEST * line.share:.2f})" if line.share else ""
    what = f' title="{safe(line.operations)}"' if line.share and line.operations else ""
    numbers = "".join(f'<td style="{NUMBER};white-space:nowrap{heat}">{safe(each)}</td>' for each in line.cells)
    number = f'<td style="{NUMBER};{FAINT};padding-left:9px">{line.number or ""}</td>'
    inside = safe(truncated(line.inside, _WIDEST_SOURCE))
    library = f'<span style="{FAINT};padding-left:18px">{inside}</span>' if inside else ""
    source = safe(truncated(line.text, _WIDEST_SOURCE))
    return f'<tr{what}>{numbers}{number}<td style="{_CODE}">{source}{library}</td></tr>'


def _picture(block: Picture, style: Style) -> str:
    if not style.picture or (chart := block.chart()) is None:
        return ""
    from .pictures import picture  # imports NumPy; most timings have no picture

    return picture(chart, block.alt)


def _lines(block: Lines, style: Style) -> str:
    text = "\n".join(map(printable, block.lines))
    return f"<pre>{escape(text)}</pre>"


def _fold(block: Fold, style: Style) -> str:
    inside = _written(block.blocks, style)
    return html_parts.folded(block.title, inside, opened=style.whole) if inside else ""


def _excerpt(block: Excerpt, style: Style) -> str:
    whole = _written(block.whole, style)
    return whole if style.whole else _written(block.part, style) + html_parts.folded(block.title, whole, opened=False)


def _written(blocks: Iterable[Block], style: Style) -> str:
    """Write blocks below each other; pictures take the width of the page, and text a width in which it is read."""
    pieces = []
    for wide, some in groupby(blocks, lambda block: isinstance(block, _AS_WIDE_AS_THE_PAGE)):
        inside = "".join(map(_writer(style), some))
        pieces.append(inside if wide or not inside else f'<div style="max-width:60em">{inside}</div>')
    return "".join(pieces)


_AS_WIDE_AS_THE_PAGE = (Picture, Fold, Excerpt)


_WRITERS: dict[type, Callable[[Any, Style], str]] = {
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
