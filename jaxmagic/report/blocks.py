"""Declares the blocks that reports are composed of, independently of the medium.

A report states everything once. Width, folding and colours are the business of the writers, `to_text` and `to_html`,
which do not know the kinds of records; so both media say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..charts.spec import Chart

#: Rows of cells; the first row has the heads.
Rows = Sequence[Sequence[str]]


class Headline(NamedTuple):
    """The result in one sentence, which is also the whole report in the form of a single line."""

    text: str


class Part(NamedTuple):
    """A part of a whole.

    Attributes:
        name: its name.
        told: its size as text.
        share: its share of the whole, from 0 to 1.
    """

    name: str
    told: str
    share: float


class Split(NamedTuple):
    """A headline whose number has parts that add up to it.

    Attributes:
        label: the name of the whole.
        total: its size as text.
        remark: the most important remark about the parts; may be empty.
        parts: all parts, in the order in which they happen.
        summary: the parts that fit on a line, with their sizes.
    """

    label: str
    total: str
    remark: str
    parts: tuple[Part, ...]
    summary: tuple[str, ...]


class Sentence(NamedTuple):
    """A sentence.

    Attributes:
        text: the sentence.
        faint: whether it is less important than its neighbours.
        inner: whether it belongs to the headline.
    """

    text: str
    faint: bool = False
    inner: bool = False


class Caution(NamedTuple):
    """A warning that readers must not miss."""

    text: str


class Entry(NamedTuple):
    """A row of :class:`Entries`.

    Attributes:
        name: its name, in the first column.
        cells: one cell for each head but the first; empty if there is no value.
        remark: the last column.
        details: sentences below it.
        advice: a recommendation; may be empty.
        place: its source line; may be empty.
        code: lines of code to paste, below the advice.
    """

    name: str
    cells: tuple[str, ...]
    remark: str
    details: tuple[str, ...] = ()
    advice: str = ""
    place: str = ""
    code: tuple[str, ...] = ()


class Entries(NamedTuple):
    """A table whose rows end in sentences.

    Attributes:
        rows: at least one row.
        heads: the heads of the name and of each cell; empty if the columns need none.
        major: how many rows stay where a page with little room folds others; ``None`` if all do.
        noun: the name of a row, in the singular, if a short text counts the rows that it leaves out.
        there_are: the number of rows before it was cut; ``None`` if it was not.
    """

    rows: tuple[Entry, ...]
    heads: tuple[str, ...] = ()
    major: int | None = None
    noun: str = ""
    there_are: int | None = None


class Table(NamedTuple):
    """A table.

    Attributes:
        rows: its heads, followed by its rows; a table without rows is not shown.
        there_are: the number of rows before it was cut.
        noun: the name of a row, in the singular.
        where: the method that lists all rows.
        narrow: a narrower version for text; may be empty.
        numbers: whether all its columns are of quantities, of which none is cut; otherwise each is aligned by what is
            in it.
        code: the heads of columns of names from code.
        continued: whether text shows columns for which it has no room below the others, instead of leaving them out.
        keys: how many first columns tell its rows apart, and are repeated beside columns that are shown below.
    """

    rows: Rows
    there_are: int
    noun: str = "row"
    where: str = "to_frame()"
    narrow: Rows = ()
    numbers: bool = False
    code: tuple[str, ...] = ()
    continued: bool = False
    keys: int = 1


class SourceLine(NamedTuple):
    """A source line with its measurements.

    Attributes:
        number: its number in the file; ``None`` where lines are left out.
        text: the source.
        cells: one cell for each head of the listing; empty if nothing was measured.
        share: its share of the whole, from 0 to 1.
        inside: the library functions that it calls; may be empty.
        operations: its operations; may be empty.
        with_calls: its share of the whole with that of the functions that it calls.
    """

    number: int | None
    text: str
    cells: tuple[str, ...]
    share: float
    inside: str
    operations: str
    with_calls: float = 0.0


class Listing(NamedTuple):
    """The source of a function with measurements beside its lines.

    Attributes:
        place: its name and source file.
        heads: the heads of the measurements.
        lines: the source lines.
    """

    place: str
    heads: tuple[str, ...]
    lines: tuple[SourceLine, ...]

    def without_empty_columns(self) -> Listing:
        """Return the listing without the columns that are empty in all of its lines."""
        kept = [at for at in range(len(self.heads)) if any(line.cells[at] for line in self.lines)]
        lines = (line._replace(cells=tuple(line.cells[at] for at in kept)) for line in self.lines)
        return self._replace(heads=tuple(self.heads[at] for at in kept), lines=tuple(lines))


class Picture(NamedTuple):
    """A chart.

    Attributes:
        chart: describes the chart, which may take long; returns ``None`` if there is nothing to draw.
        alt: a text alternative; the chart's title if empty.
        letters: the chart as a line of text; may be empty.
    """

    chart: Callable[[], Chart | None]
    alt: str = ""
    letters: str = ""


class Lines(NamedTuple):
    """Lines of text whose columns are aligned."""

    lines: tuple[str, ...]


class Fold(NamedTuple):
    """Blocks under a title that says what is inside. Where a report is not shown whole, only the title is seen.

    Attributes:
        title: says what is inside, and the most important of it. Up to its first comma or colon, it is also the name
            under which a short text mentions the fold.
        blocks: what is inside; a fold with nothing to show is left out.
        repeats: whether the title repeats what is inside, so that a whole text needs none.
    """

    title: str
    blocks: tuple[Block, ...]
    repeats: bool = False


class Excerpt(NamedTuple):
    """The most important part of some blocks, which a report shows in their place unless it is shown whole.

    Attributes:
        title: says what the whole is, like the title of a :class:`Fold`.
        part: what is seen at once.
        whole: everything, including what is in the part.
        saved: what HTML has of the whole, if that could be of any size, and a sentence that says how to see the rest;
            empty if HTML has the whole.
    """

    title: str
    part: tuple[Block, ...]
    whole: tuple[Block, ...]
    saved: tuple[Block, ...] = ()


Block = Headline | Split | Sentence | Caution | Entries | Table | Listing | Picture | Lines | Fold | Excerpt
