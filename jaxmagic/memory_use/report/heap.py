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

#: At most this many stacks are seen at once: of a report, and of a part of another report.
_FEW_STACKS = 8
_FEW_INSIDE = 2


def difference(heap: HeapDifference, style: Style, explain: bool) -> Iterator[Block]:
    """Report which calls allocated the memory that is held."""
    yield Headline(text=f"{words.headline(heap)}.")
    yield _picture(heap)
    yield from _stacks(heap, style, _FEW_STACKS)
    yield from _sentences(heap)


def inside(heap: HeapDifference, style: Style) -> Iterator[Block]:
    """Report which calls allocated the memory that is held, as a part of another report."""
    yield Sentence(text=f"{words.headline(heap)}.")
    yield from _stacks(heap, style, _FEW_INSIDE)
    yield from _sentences(heap)
    yield Fold(title="Flame graph of the memory held, by call stack", blocks=(_picture(heap),))


def _stacks(heap: HeapDifference, style: Style, few: int) -> Iterator[Block]:
    rows = min(len(stacks(heap)), style.rows)
    if rows <= few:
        yield _table(heap, style.rows)
        return
    part = _table(heap, few)._replace(there_are=few)
    title = f"{units.count(len(stacks(heap)), 'stack')}, the {rows} largest"
    yield Excerpt(title=title, part=(part,), whole=(_table(heap, rows),))


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
