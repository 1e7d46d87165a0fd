"""Reports memory by call stack."""

from __future__ import annotations

from collections.abc import Iterator

from ... import units
from ...report.blocks import Block, Excerpt, Fold, Headline, Picture, Sentence, Table
from ...report.style import Style
from ..analysis.heap import stacks
from ..charts.heap_flame import heap_flame
from ..record.heap import HeapDifference, HeapProfile
from . import heap_sentences as words

#: At most this many stacks are seen at once.
_FEW_STACKS = 8


def folded(heap: HeapDifference, style: Style) -> Fold:
    """Report which calls allocated the memory that is held, as a part of another report."""
    return Fold(title=words.headline(heap), blocks=(_picture(heap), _table(heap, style.rows), *_sentences(heap)))


def difference(heap: HeapDifference, style: Style, explain: bool) -> Iterator[Block]:
    """Report which calls allocated the memory that is held."""
    yield Headline(text=f"{words.headline(heap)}.")
    yield _picture(heap)
    rows = min(len(stacks(heap)), style.rows)
    if rows > _FEW_STACKS:
        part = _table(heap, _FEW_STACKS)
        title = f"{units.count(len(stacks(heap)), 'stack')}, the {rows} largest"
        yield Excerpt(title=title, part=(part._replace(there_are=_FEW_STACKS),), whole=(_table(heap, rows),))
    else:
        yield _table(heap, style.rows)
    yield from _sentences(heap)


def _picture(heap: HeapDifference) -> Picture:
    return Picture(chart=lambda: heap_flame(heap))


def _table(heap: HeapDifference, most: int) -> Table:
    rows = stacks(heap)
    return Table(rows=words.stack_table(rows[:most]), there_are=len(rows), noun="stack", code=("allocated by",))


def _sentences(heap: HeapDifference) -> Iterator[Sentence]:
    sentences = (*words.about_devices(heap), *map(str, heap.after.notes))
    return (Sentence(text=each, faint=True) for each in sentences)


def profile(heap: HeapProfile, style: Style, explain: bool) -> Iterator[Block]:
    """Report a single heap profile."""
    return difference(HeapDifference(before=None, after=heap), style, explain)
