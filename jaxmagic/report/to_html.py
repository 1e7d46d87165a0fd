"""Writes reports as HTML, from the pieces in `html_parts`.

The HTML is saved in notebooks, reopened without a kernel and untrusted, and shown in light and dark themes. So there
is no ``<style>``, no class and no external address: only inline styles that JupyterLab's sanitiser keeps, the page's
own text colour, and hues of medium lightness that are legible on white and on black. Pictures are followed by a
script that makes them live; if it is removed, the pictures stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
from .html_parts import CELL, CODE, FAINT, NUMBER, prose, safe
from .style import DEFAULT, Style

#: The maximum lengths of an entry's name, of a headline, and of a source line.
_WIDEST_NAME = 40
_LONGEST_HEADLINE = 400
_WIDEST_SOURCE = 160

#: A line of a listing: its code stands below the numbers where a page is narrow. JupyterLab has a padding for rows.
_ROW = "display:flex;flex-wrap:wrap;align-items:flex-start;padding:0"
_CODE = "flex:1 1 22em;min-width:0;display:flex;padding:3px 0;text-align:left"
_EM = 0.63  #: The width of a digit in most fonts. Where nobody trusts a notebook, JupyterLab removes widths in ch.
_LINE_NUMBER = f"flex:none;min-width:2.5em;padding-right:9px;text-align:right;{FAINT}"
_SOURCE = f"{CODE};min-width:0;white-space:pre-wrap"

#: The part of a page's width that a row may take.
_ROW_OF_PAGE = "58vw"

#: Written into each cell, because JupyterLab centres cells.
_TOP = "vertical-align:top"

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
    return f"<div><b>{prose(truncated(block.text, _LONGEST_HEADLINE))}</b></div>"


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
    in_columns = all(len(cell) <= _LONGEST_NUMBER for each in block.rows for cell in each.cells)
    styles = [CELL, *(NUMBER for _ in block.heads[1:])]
    heads = "".join(map(html_parts.head, block.heads, styles)) if block.heads else ""
    rows = "".join(_entry(each, name, in_columns) for each, name in zip(block.rows, names, strict=True))
    inside = f"<tr>{heads}</tr>{rows}" if heads else rows
    return html_parts.in_its_width(
        f'<table style="border-collapse:collapse;margin:4px 0">{inside}</table>', truncated(", ".join(names), 30)
    )


def _entry(entry: Entry, name: str, in_columns: bool) -> str:
    """Write a row, and below it, in the whole width, what a narrow page has no column for."""
    if in_columns:
        cells = "".join(f'<td style="{NUMBER};{_TOP};white-space:nowrap">{safe(each)}</td>' for each in entry.cells)
        row = f'<td style="{CELL};{_TOP}">{_name(name, entry)}</td>{cells}<td style="width:100%;padding:0"></td>'
    else:
        row = f'<td style="{CELL}">{" &nbsp; ".join((_name(name, entry), *map(safe, entry.cells)))}</td>'
    faint = [*entry.details, *([f"→ {entry.advice}"] if entry.advice else [])]
    sentences = [prose(truncated(entry.remark, 200))] if entry.remark else []
    sentences += [f'<span style="{FAINT}">{prose(each)}</span>' for each in faint]
    lines = "\n".join(map(safe, entry.code))
    pasted = f'<pre style="{FAINT};margin:2px 0 0 18px;white-space:pre-wrap">{lines}</pre>' if lines else ""
    below = "<br>".join(sentences) + pasted
    across = f'colspan="{len(entry.cells) + 2 if in_columns else 1}" style="{CELL};padding-left:18px"'
    return f"<tr>{row}</tr>" + (f"<tr><td {across}>{below}</td></tr>" if below else "")


def _name(name: str, entry: Entry) -> str:
    """Write the name of a row, which is wrapped only where the numbers beside it leave no room."""
    where = f' title="{safe(truncated(entry.place, 80))}"' if entry.place else ""
    room = f"{_ROW_OF_PAGE} - {sum(len(each) + 1 for each in entry.cells)}ch"
    is_long = len(name) > html_parts.LONG_CODE
    width = f"display:inline-block;min-width:min({len(name) + 1}ch,{room})" if is_long else "white-space:nowrap"
    return f'<code{where} style="padding:0;background:none;{width}">{html_parts.code_name(name)}</code>'


def _table(block: Table, style: Style) -> str:
    where = style.rows_by(block.where)
    return html_parts.table(block.rows, block.there_are, block.noun, where, block.numbers, block.code)


def _listing(block: Listing, style: Style) -> str:
    block = block.without_empty_columns()
    columns = zip(block.heads, *(line.cells for line in block.lines), strict=True)
    widths = [f"{NUMBER};flex:none;width:{_EM * (max(map(len, column)) + 1):.1f}em" for column in columns]
    heads = "".join(map(html_parts.head, block.heads, widths))
    where = f'<span style="min-width:0">{safe(truncated(block.place, 80))}</span>'
    place = f'<th style="{_CODE};font-weight:600">{_numbered("line", where)}</th>'
    rows = "".join(_source(each, widths, style) for each in block.lines)
    inside = (
        f'<table style="display:block;border-collapse:collapse;margin:4px 0"><tbody style="display:block">'
        f'<tr style="{_ROW}">{heads}{place}</tr>{rows}</tbody></table>'
    )
    return html_parts.in_its_width(inside, truncated(block.place, 80))


def _source(line: SourceLine, widths: Sequence[str], style: Style) -> str:
    """Write a source line; the larger its share, the stronger the background of its numbers."""
    hue = "214,90,60" if style.colour else "128,128,128"
    heat = f";background:rgba({hue},{0.08 + _WARMEST * line.share:.2f})" if line.share else ""
    what = f' title="{safe(line.operations)}"' if line.share and line.operations else ""
    numbers = "".join(
        f'<td style="{width};white-space:nowrap{heat}">{safe(each) or "&#160;"}</td>'
        for width, each in zip(widths, line.cells, strict=True)
    )
    inside = safe(truncated(line.inside, _WIDEST_SOURCE))
    library = f'<span style="{FAINT};padding-left:18px">{inside}</span>' if inside else ""
    source = safe(truncated(line.text, _WIDEST_SOURCE))
    code = _numbered(str(line.number or ""), f'<span style="{_SOURCE}">{source}{library}</span>')
    return f'<tr style="{_ROW}"{what}>{numbers}<td style="{_CODE}">{code}</td></tr>'


def _numbered(number: str, code: str) -> str:
    return f'<span style="{_LINE_NUMBER}">{number}</span>{code}'


def _picture(block: Picture, style: Style) -> str:
    if not style.picture or (chart := block.chart()) is None:
        return ""
    from .pictures import picture  # imports NumPy; most timings have no picture

    return picture(chart, block.alt)


def _lines(block: Lines, style: Style) -> str:
    text = "\n".join(truncated(printable(each), _WIDEST_SOURCE) for each in block.lines)
    return html_parts.in_its_width(f'<pre style="white-space:pre">{escape(text)}</pre>', block.lines[0])


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
