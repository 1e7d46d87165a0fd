"""The blocks of a report, in their order, before it is known whether they become text or HTML.

A report says each thing once. Width, folding and colours belong to the writers, ``text`` and ``html``, which know no
record; so what one medium says, the other says too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..charts.spec import Chart

#: Rows of cells, the first row the heads.
Rows = Sequence[Sequence[str]]


class Headline(NamedTuple):
    """The answer in one sentence; alone where a report is a single line."""

    text: str


class Part(NamedTuple):
    """A part of a whole.

    Attributes:
        name: of the part.
        told: its size in words.
        share: of the whole, between 0 and 1.
    """

    name: str
    told: str
    share: float


class Split(NamedTuple):
    """A headline whose number has parts that add up to it.

    Attributes:
        label: the name of the whole.
        total: its size in words.
        remark: what is most important about the parts; may be empty.
        parts: all of them, in the order in which they happen.
        summary: the parts that fit a line, with their sizes.
    """

    label: str
    total: str
    remark: str
    parts: tuple[Part, ...]
    summary: tuple[str, ...]


class Sentence(NamedTuple):
    """A sentence.

    Attributes:
        text: it.
        faint: whether it is less important than its neighbours.
        inner: whether it belongs to the headline.
    """

    text: str
    faint: bool = False
    inner: bool = False


class Caution(NamedTuple):
    """A sentence that readers must not miss."""

    text: str


class Entry(NamedTuple):
    """A row of :class:`Entries`.

    Attributes:
        name: what it is about.
        cells: one for each of the inner heads; empty where there is nothing to tell.
        remark: the last column.
        details: sentences below it.
        advice: what to do; may be empty.
        place: where it is in the source; may be empty.
    """

    name: str
    cells: tuple[str, ...]
    remark: str
    details: tuple[str, ...] = ()
    advice: str = ""
    place: str = ""


class Entries(NamedTuple):
    """A table whose rows end in sentences.

    Attributes:
        rows: at least one.
        heads: of the name, of each cell, and of the remark; empty if the columns need none.
    """

    rows: tuple[Entry, ...]
    heads: tuple[str, ...] = ()


class Table(NamedTuple):
    """A table.

    Attributes:
        rows: its heads, and its rows; nothing is shown where there are heads alone.
        there_are: number of rows that it would have if it were not cut.
        noun: what a row is.
        where: what lists all of them.
        narrow: the same in fewer letters, for a narrow page; may be empty.
        numbers: whether its cells are numbers.
        long: whether a cell may be as wide as the page.
    """

    rows: Rows
    there_are: int
    noun: str = "row"
    where: str = "to_frame()"
    narrow: Rows = ()
    numbers: bool = False
    long: bool = False


class SourceLine(NamedTuple):
    """A line of source with what was measured of it.

    Attributes:
        number: of the line in its file; ``None`` where lines are left out.
        text: the source.
        cells: one for each head of the listing; empty where nothing was measured.
        share: of the whole, between 0 and 1.
        inside: the library functions that it calls; may be empty.
        operations: its operations; may be empty.
    """

    number: int | None
    text: str
    cells: tuple[str, ...]
    share: float
    inside: str
    operations: str


class Listing(NamedTuple):
    """The source of a function with figures beside its lines.

    Attributes:
        place: its name, and where it is.
        heads: of the figures.
        lines: the source.
    """

    place: str
    heads: tuple[str, ...]
    lines: tuple[SourceLine, ...]


class Picture(NamedTuple):
    """A chart.

    Attributes:
        chart: makes it, which may take long; returns ``None`` where there is nothing to draw.
        alt: a sentence for those who do not see it; the chart's title if empty.
        letters: the same as a line of text; may be empty.
    """

    chart: Callable[[], Chart | None]
    alt: str = ""
    letters: str = ""


class Lines(NamedTuple):
    """Lines of text whose columns are aligned."""

    lines: tuple[str, ...]


class Fold(NamedTuple):
    """Blocks that can be folded under a title, which says what is inside."""

    title: str
    blocks: tuple[Block, ...]


Block = Headline | Split | Sentence | Caution | Entries | Table | Listing | Picture | Lines | Fold
