"""Writes pieces of HTML, such as lines and tables. Other HTML tags are in `to_html` and `pictures` alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from html import escape

from .. import units
from ..drawing.scripts import script
from ..records.names import shortened, truncated_sentence
from ..terminal import printable
from .blocks import Rows

FAINT = "opacity:.75"
_NARROW = "padding:2px 6px 2px 2px"
CELL = f"{_NARROW};text-align:left"
NUMBER = f"{_NARROW};text-align:right"
CODE = "font-family:monospace"

#: A cell of several numbers and words, which would read as one sentence with the cell beside it.
_APART = "padding:2px 14px 2px 2px;text-align:right"

#: The width of a letter of code in em, how much deeper than its line the rest of a wrapped one is indented, in
#: letters, and how deep at most: a narrow page has no room for more.
LETTER_OF_CODE = 0.6
_HANGING, _DEEPEST = 2, 14

#: The font of JupyterLab, so that a report looks the same in a page without a font of its own.
FONT = "font-family:system-ui,sans-serif"

#: A longer name may be wrapped, after a dot or an underscore if it is in a column of code, so that a table is narrow.
_LONG_NAME = 30
LONG_CODE = 11

#: A longer cell may be wrapped even if it begins with a number, because words follow.
_LONG_NUMBER = 16

#: An option of a magic, or a number with its unit.
_UNBROKEN = re.compile(rf"(?<![\w-])--?[a-zA-Z][\w-]*|{units.WITH_UNIT.pattern}")

#: The folders and the name of a file: with its line, or in a folder. Brackets and punctuation belong to the name.
_FILE = re.compile(
    r"(?<!\S)(?:(?P<folders>(?:[^\s/\\]*[/\\])*)(?P<name>[^\s/\\]+\.[a-z]+(?::\d+)+[^\s\w]*)"
    r"|(?P<above>(?:[^\s/\\]*[/\\])+)(?P<alone>[^\s/\\]+\.[a-z]+[^\s\w]*))(?!\S)"
)

#: A longer name of a file may be wrapped, but not in what follows its last underscore.
_LONG_FILE = 16


def line(sentence: str, style: str = "", attributes: str = "") -> str:
    """Write a sentence on a line of its own; a very long one is cut."""
    attributes = (f' style="{style}"' if style else "") + attributes
    return f"<div{attributes}>{prose(truncated_sentence(sentence, 400))}</div>"


def table(
    rows: Rows,
    there_are: int,
    noun: str = "row",
    where: str = "to_frame()",
    numbers: bool = False,
    code: Collection[str] = (),
) -> str:
    """Write a table, or nothing if it has no rows.

    Args:
        rows: its heads, followed by its rows.
        there_are: the number of rows before it was cut.
        noun: the name of a row, in the singular.
        where: the option or method that shows all rows.
        numbers: whether all columns are of quantities, which are aligned at their right.
        code: the heads of columns of names from code.
    """
    heads, *others = rows
    if not others:
        return ""
    columns = [shortened(column, 90) for column in zip(*others, strict=True)]
    styles = [_APART if numbers else NUMBER if units.are_quantities(column) else CELL for column in columns]
    top = "".join(map(head, heads, styles))
    fonts = [f";{CODE}" if each in code else "" for each in heads]
    cells = [
        [_cell(each, style, font) for each in column]
        for column, style, font in zip(columns, styles, fonts, strict=True)
    ]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
    rest = there_are - len(others)
    more = line(f"… and {units.count(rest, f'more {noun}')}: see {where}", FAINT) if rest > 0 else ""
    inside = f'<table style="border-collapse:collapse;margin:4px 0;grid-area:1/1"><tr>{top}</tr>{body}</table>'
    return in_its_width(inside + _SHADOW, units.count(len(others), noun), style=_SHADED) + more


def in_its_width(wide: str, label: str, attributes: str = "", style: str = "") -> str:
    """Write what may be wider than a narrow page: it is scrolled there, with keys as well."""
    group = f'style="overflow-x:auto{style}" tabindex="0" role="group" aria-label="{safe(label)}"{attributes}'
    return f"<div {group}>{wide}</div>"


#: Of what may be scrolled, to have a shadow at its right edge.
_SHADED = ";display:grid;justify-content:start"

#: A shadow that sticks to the right edge of what is seen of a table, as long as there is more to be scrolled to. It
#: is inside of a window that does so too, but stops one width of the shadow before the end of the table: there, the
#: shadow has left the window. Where a page removes these styles, nothing is seen of either.
_STICKY = "position:sticky;left:calc(100% - 16px);width:16px;margin-right"
_SHADOW = (
    f'<div style="{_STICKY}:16px;grid-area:1/1;overflow:clip;pointer-events:none">'
    f'<div style="{_STICKY}:-16px;height:100%;background:linear-gradient(90deg,#8880,#888a)"></div></div>'
)


#: Where a name from code may be wrapped, and how many letters without such a place are kept together.
_BREAK = re.compile(r"(?<=[._])(?=[^\W\d])")
_MOST_UNBROKEN = 12


def code_name(name: str) -> str:
    """Write a name from code, which may be wrapped if it is long."""
    escaped = safe(name)
    return _BREAK.sub("<wbr>", escaped) if len(name) > LONG_CODE else escaped


def _cell(text: str, style: str, font: str) -> str:
    is_short = len(text) <= (LONG_CODE if style == CELL else _LONG_NUMBER)
    whole = ";white-space:nowrap" if is_short else ""  # keeps a number with its unit
    escaped = safe(text) if is_short else prose(text)
    if font:
        escaped = safe(text) if is_short else _with_files(text, code_name)
        needs = min(max(map(len, _BREAK.split(text))), _MOST_UNBROKEN)
        whole = whole or f";min-width:{needs}ch;overflow-wrap:anywhere"  # a narrow page wraps names, not their words
    elif len(text) > _LONG_NAME and " " not in text and escaped == safe(text):
        escaped = escaped.replace(".", ".<wbr>")
    return f'<td style="{style}{whole}{font}">{escaped}</td>'


def head(label: str, cell: str) -> str:
    """Write the head of a column, in the style of its cells; without a label it is no head for a screen reader."""
    return f'<th style="{cell};font-weight:600">{safe(label)}</th>' if label else "<td></td>"


def folded(title: str, inside: str, *, opened: bool) -> str:
    """Write a title, and below it what is shown when a reader opens it."""
    return (
        f"<details{' open' * opened}><summary>{prose(truncated_sentence(title, 100))}</summary>"
        f'<div style="margin:2px 0 6px 14px">{inside}</div></details>'
    )


def hanging(code: str) -> str:
    """Return a style in which the rest of a wrapped line of code is indented deeper than its beginning."""
    letters = min(len(code) - len(code.lstrip()) + _HANGING, _DEEPEST)
    return f"padding-left:{LETTER_OF_CODE * letters:.1f}em;text-indent:-{LETTER_OF_CODE * letters:.1f}em"


def beside_to_html(pieces: Sequence[str]) -> str:
    """Write pieces side by side, or below each other if the page is narrow."""
    cells = "".join(f'<div style="flex:1 1 330px;min-width:0">{each}</div>' for each in pieces)
    return f'<div style="display:flex;flex-wrap:wrap;gap:16px">{cells}</div>'


def beside_view(html: str, view: str) -> str:
    """Let HTML be hidden while the live view with this class is drawn."""
    return f'<div data-beside="{view}">{html}</div><script>{script("beside.js", view)}</script>'


def error_to_html(message: str) -> str:
    """Write an error message, to be shown in place of a report."""
    lines = "\n".join(map(safe, message.splitlines()))
    return f'<pre style="{CODE};white-space:pre-wrap">{lines}</pre>'


def prose(text: str) -> str:
    """Escape a sentence; no line ends inside an option or a file with its line, or between a number and its unit.

    The spaces are ordinary ones, so that what is copied from a page is what the text says.
    """
    return _with_files(text, lambda rest: _UNBROKEN.sub(lambda found: _unbroken(found[0]), safe(rest)))


def _unbroken(html: str) -> str:
    return f'<span style="white-space:nowrap">{html}</span>'


def _with_files(text: str, write: Callable[[str], str]) -> str:
    """Write a text so that a line ends after the folders of a file at most, and not between its name and its line."""
    pieces, at = [], 0
    for found in _FILE.finditer(text):
        folders, name = found["folders"] or found["above"] or "", found["name"] or found["alone"]
        path = re.sub(r"(?<=[/\\])", "<wbr>", safe(folders))
        pieces += [write(text[at : found.start()]), path, _file_name(name)]
        at = found.end()
    return "".join([*pieces, write(text[at:])])


def _file_name(name: str) -> str:
    if len(name) <= _LONG_FILE:
        return _unbroken(safe(name))
    *words, end = re.split(r"(?<=_)", name)
    pieces = "<wbr>".join([*map(safe, words), _unbroken(safe(end)) if len(end) <= _LONG_FILE else safe(end)])
    return f'<span style="display:inline-block;max-width:100%">{pieces}</span>'


def safe(text: str) -> str:
    """Escape a line of text for HTML, and replace unprintable characters."""
    return escape(printable(text))
