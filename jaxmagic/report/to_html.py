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
from ..drawing.scripts import mark, with_scripts
from ..records.names import shortened, truncated, truncated_sentence
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
from .html_parts import CELL, CODE, FAINT, FONT, LETTER_OF_CODE, NUMBER, hanging, prose, safe
from .style import DEFAULT, Style

#: The maximum lengths of an entry's name, of a headline, and of a source line.
_WIDEST_NAME = 40
_LONGEST_HEADLINE = 400
_WIDEST_SOURCE = 160

#: A row whose last cell stands below the others where a page is narrow. JupyterLab has a padding for rows.
_ROW = "display:flex;flex-wrap:wrap;align-items:flex-start;padding:0"
_READABLE = 22  #: The width in em in which sentences and code are read.
_CODE = f"flex:1 1 {_READABLE}em;min-width:0;display:flex;padding:2px 0;text-align:left"
_LETTER = 0.55  #: The width of a letter in em.
_EM = 0.63  #: The width of a digit in most fonts. Where nobody trusts a notebook, JupyterLab removes widths in ch.
_LINE_NUMBER = "flex:none;min-width:2.5em;padding-right:9px;text-align:right"
_SOURCE = f"{CODE};min-width:0;white-space:pre-wrap"

#: The width in em of a line number, and of what is between columns, code and the library functions that it calls.
_BESIDE_CODE = 7

#: What is read as a sentence is no wider than that, however wide the page is.
_MEASURE = "max-width:60em"

#: The background of a line of code that has measurements, but no share.
_MEASURED = "rgba(128,128,128,0.1)"

#: A column on a narrow page has at least this part of the width that it needs, or is below the others.
_SQUEEZED = 0.85

#: A longer cell is no number, and needs no column of its own.
_LONGEST_NUMBER = 16

#: As large as the words in tables, so that two parts fit into a line of a narrow page.
_LEGEND = "display:flex;flex-wrap:wrap;gap:0 1.2em;font-size:13px"

#: The width in em that a name has at least. A long one has half of its width, above its numbers if a page is narrow.
_SHORT_NAME = 5


def to_html(record: object, style: Style = DEFAULT, *, explain: bool = False) -> str:
    """Write a record as HTML that needs no kernel and no network, and is complete without scripts.

    Unless ``style.whole``, most of it is folded, and ``fold.js`` folds what is still too much.
    """
    folds = "" if style.whole else f' data-glance="{mark("fold.js")}"'
    return _page(compose(record, style, explain=explain), style, folds)


def answer_and_rest(record: object, style: Style = DEFAULT) -> tuple[str, str]:
    """Write the sentence with which a report begins, and the rest, so that a live view stands between them."""
    answer, *rest = compose(record, style)
    return _page([answer], style), _page(rest, style)


def _page(blocks: Iterable[Block], style: Style, attributes: str = "") -> str:
    inside = _written(blocks, style)
    return with_scripts(f'<div style="{FONT};line-height:1.5;overflow-wrap:break-word"{attributes}>{inside}</div>')


def _writer(style: Style) -> Callable[[Block], str]:
    return lambda block: _WRITERS[type(block)](block, style)


#: How much the background of a line with all of the time covers the page: text on it has to be legible in the dark.
_WARMEST = 0.48


def _headline(block: Headline, style: Style) -> str:
    return f"<div><b>{prose(truncated_sentence(block.text, _LONGEST_HEADLINE))}</b></div>"


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
        legend.append(f'<span style="white-space:nowrap">{swatch} {safe(label)}</span>')
    remark = f", {prose(block.remark)}" if block.remark else ""
    return (
        f"<div><b>{safe(block.total)}</b> {safe(block.label.lower())}{remark}</div>"
        f'<div style="display:flex;width:100%;margin:3px 0">{"".join(segments)}</div>'
        f'<div style="{_LEGEND}">{" ".join(legend)}</div>'
    )


def _sentence(block: Sentence, style: Style) -> str:
    return html_parts.line(block.text, FAINT if block.faint else "", "" if style.whole else " data-fold")


def _caution(block: Caution, style: Style) -> str:
    return html_parts.line(f"⚠ {block.text}", attributes="" if style.whole else ' data-fold="last"')


def _entries(block: Entries, style: Style) -> str:
    names = shortened([printable(each.name) for each in block.rows], _WIDEST_NAME)
    in_columns = all(len(cell) <= _LONGEST_NUMBER for each in block.rows for cell in each.cells)
    columns = zip(*((block.heads[1:],) if block.heads else ()), *(each.cells for each in block.rows), strict=True)
    ems = [_in_em(column) for column in columns] if in_columns else []
    named = _in_em((*names, *block.heads[:1]))
    needs = sum(ems) + min(named, max(_SHORT_NAME, named / 2))
    # All of the row where it has no room for a name and the numbers; otherwise less than nothing.
    first = f"{CELL};box-sizing:border-box;width:{named:.1f}em;min-width:min(100%,({needs:.0f}em - 100%)*99)"
    first += f";max-width:calc(100% - {sum(ems) + 0.2:.1f}em)"  # leaves room for the numbers
    widths = [first, *map(_column, ems)] if in_columns else [CELL]
    of_heads = [f"{first};white-space:nowrap", *widths[1:]]
    heads = _row("".join(map(html_parts.head, block.heads, of_heads))) if block.heads else ""
    rows = [
        _row(_numbers(each, name, widths) + _told(each, in_columns))
        for each, name in zip(block.rows, names, strict=True)
    ]
    stay = len(rows) if style.whole else block.major
    table = _in_rows(heads + "".join(rows[:stay]), truncated(", ".join(names[:stay]), 30))
    alone = zip(rows[stay:], names[stay:], strict=True) if stay is not None else ()
    return table + "".join(_in_rows(row, truncated(name, 30), " data-fold") for row, name in alone)


def _numbers(entry: Entry, name: str, widths: Sequence[str]) -> str:
    """Write the name of a row and its cells: in columns, or behind each other if they are no numbers."""
    first, *others = widths
    if not others:
        return f'<td style="{CELL}">{" &nbsp; ".join((_name(name, entry), *map(prose, entry.cells)))}</td>'
    cells = "".join(f'<td style="{it}">{safe(each)}</td>' for it, each in zip(others, entry.cells, strict=True))
    return f'<td style="{first}">{_name(name, entry)}</td>{cells}'


def _told(entry: Entry, beside: bool) -> str:
    """Write what a row says in sentences: beside its numbers if there is room for them, or below."""
    sentences = [prose(truncated_sentence(entry.remark, 300))] if entry.remark else []
    sentences += [f'<span style="{FAINT}">{prose(each)}</span>' for each in entry.details]
    sentences += [prose(f"→ {entry.advice}")] if entry.advice else []
    lines = "".join(f'<span style="display:block;{hanging(each)}">{safe(each)}</span>' for each in entry.code)
    pasted = f'<pre style="{CODE};margin:2px 0 0 18px;white-space:pre-wrap">{lines}</pre>' if lines else ""
    inside = "<br>".join(sentences) + pasted
    longest = max(map(len, (entry.remark, *entry.details)))
    room = f"{min(_LETTER * longest, _READABLE):.1f}em" if beside else "100%"
    return (
        f'<td style="{CELL};padding-left:18px;min-width:0;flex:1 1 {room};{_MEASURE}">{inside}</td>' if inside else ""
    )


def _name(name: str, entry: Entry) -> str:
    where = f' title="{safe(truncated(entry.place, 80))}"' if entry.place else ""
    return f'<code{where} style="padding:0;background:none">{html_parts.code_name(name)}</code>'


def _in_em(column: Iterable[str]) -> float:
    """Return the width of a column in em, with its padding."""
    return _EM * (max(map(len, column)) + 1)


def _column(ems: float) -> str:
    return f"{NUMBER};flex:none;box-sizing:border-box;white-space:nowrap;width:{ems:.1f}em"


def _squeezed(em: float, need: float, of: float) -> str:
    """Return a style of a column, which may be narrower than `em` where all columns together have no room."""
    part = f"width:{99 * need / of:.1f}%;max-width:{em:.1f}em;min-width:{_SQUEEZED * need:.1f}em"
    return f"{NUMBER};flex:none;box-sizing:border-box;white-space:nowrap;{part}"


def _row(cells: str, attributes: str = "", style: str = "") -> str:
    return f'<tr style="{_ROW}{style}"{attributes}>{cells}</tr>'


def _in_rows(rows: str, label: str, attributes: str = "", width: str = "") -> str:
    """Write rows whose last cell stands below the others if a page is narrow."""
    inside = (
        f'<table style="display:block;border-collapse:collapse;margin:4px 0{width}">'
        f'<tbody style="display:block">{rows}</tbody></table>'
    )
    return html_parts.in_its_width(inside, label, attributes)


def _table(block: Table, style: Style) -> str:
    where = style.rows_by(block.where)
    return html_parts.table(block.rows, block.there_are, block.noun, where, block.numbers, block.code)


def _listing(block: Listing, style: Style) -> str:
    block = block.without_empty_columns()
    columns = list(zip(block.heads, *(line.cells for line in block.lines), strict=True))
    ems = [round(_in_em(column), 1) for column in columns]
    needs = [_in_em((*head.split(), *cells)) for head, *cells in columns]  # where a head may take two lines
    widths = [_squeezed(em, need, sum(needs)) for em, need in zip(ems, needs, strict=True)]
    beside = f'<td colspan="{len(ems)}" style="{_squeezed(sum(ems), sum(needs), sum(needs))};padding:0"></td>'
    heads = "".join(
        html_parts.head(each, f"{it};white-space:normal;overflow-wrap:normal")
        for each, it in zip(block.heads, widths, strict=True)
    )
    where = f'<span style="min-width:0">{prose(truncated(block.place, 80))}</span>'
    place = f'<th style="{_CODE};font-weight:600">{_numbered("line", where, FAINT)}</th>'
    rows = "".join(
        _source(each, widths, style) if any(each.cells) else _row(beside + _code(each), style=";background:none")
        for each in block.lines
    )
    letters = max(len(line.text) + len(line.inside) for line in block.lines)
    widest = sum(ems) + LETTER_OF_CODE * min(letters, _WIDEST_SOURCE) + _BESIDE_CODE
    return _in_rows(_row(heads + place) + rows, truncated(block.place, 80), width=f";max-width:{widest:.0f}em")


def _source(line: SourceLine, widths: Sequence[str], style: Style) -> str:
    """Write a source line with its numbers; the larger its share, the stronger the background of both."""
    hue = "214,90,60" if style.colour else "128,128,128"
    warm = f"rgba({hue},{0.08 + _WARMEST * line.share:.2f})" if line.share else _MEASURED
    what = f' title="{safe(line.operations)}"' if line.share and line.operations else ""
    numbers = "".join(
        f'<td style="{width}">{safe(each) or "&#160;"}</td>' for width, each in zip(widths, line.cells, strict=True)
    )
    share = f' data-share="{line.share:.3g}"' if line.share and not style.whole else ""  # fold.js keeps the largest
    return _row(numbers + _code(line), what + share, f";background:{warm}")


def _code(line: SourceLine) -> str:
    """Write a source line beside its number. Faint text on a warm background would be hard to read."""
    faint = "" if line.share else FAINT
    inside = safe(truncated(line.inside, _WIDEST_SOURCE))
    library = f'<span style="padding-left:18px;{faint}">{inside}</span>' if inside else ""
    source = truncated(line.text, _WIDEST_SOURCE)
    written = f'<span style="{_SOURCE};{hanging(source)}">{safe(source)}{library}</span>' if source else ""
    code = _numbered(str(line.number or ""), written, faint)
    return f'<td style="{_CODE}">{code}</td>'


def _numbered(number: str, code: str, style: str) -> str:
    return f'<span style="{_LINE_NUMBER};{style}">{number}</span>{code}'


def _picture(block: Picture, style: Style) -> str:
    if not style.picture or (chart := block.chart()) is None:
        return ""
    from .pictures import picture  # imports NumPy; most timings have no picture

    return picture(chart, block.alt)


def _lines(block: Lines, style: Style) -> str:
    texts = (truncated(printable(each), _WIDEST_SOURCE) for each in block.lines)
    row = "display:block;overflow:hidden;text-overflow:ellipsis"
    lines = "".join(f'<span style="{row}" title="{safe(each.strip())}">{escape(each)}</span>' for each in texts)
    return f'<pre style="{CODE};white-space:pre">{lines}</pre>'


def _fold(block: Fold, style: Style) -> str:
    inside = _written(block.blocks, style)
    return html_parts.folded(block.title, inside, opened=style.whole) if inside else ""


def _excerpt(block: Excerpt, style: Style) -> str:
    whole = _written(block.saved or block.whole, style)
    return whole if style.whole else _written(block.part, style) + html_parts.folded(block.title, whole, opened=False)


def _written(blocks: Iterable[Block], style: Style) -> str:
    """Write blocks below each other: sentences in a width in which they are read, and others as wide as the page."""
    pieces = []
    for are_read, some in groupby(blocks, lambda block: isinstance(block, _READ)):
        inside = "".join(map(_writer(style), some))
        pieces.append(f'<div style="{_MEASURE}">{inside}</div>' if are_read and inside else inside)
    return "".join(pieces)


_READ = (Headline, Sentence, Caution)


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
