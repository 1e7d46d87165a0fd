"""Reports memory by call stack."""

from __future__ import annotations

from collections.abc import Iterator

from ...report.blocks import Block, Fold, Picture, Sentence, Table
from ...report.style import Style
from ..analysis.heap import stacks
from ..charts.heap_flame import heap_flame
from ..record.heap import HeapDifference, HeapProfile
from . import heap_sentences as words


def difference(heap: HeapDifference, style: Style, explain: bool) -> Iterator[Block]:
    """Report which calls allocated the memory that is held."""
    yield Fold(title=words.headline(heap), blocks=tuple(_inside(heap, style)))


def _inside(heap: HeapDifference, style: Style) -> Iterator[Block]:
    rows = stacks(heap)
    yield Picture(chart=lambda: heap_flame(heap))
    yield Table(rows=words.stack_table(rows[: style.rows]), there_are=len(rows), noun="stack", long=True)
    sentences = (*words.about_devices(heap), *map(str, heap.after.notes))
    yield from (Sentence(text=each, faint=True) for each in sentences)


def profile(heap: HeapProfile, style: Style, explain: bool) -> Iterator[Block]:
    """Report a single heap profile."""
    return difference(HeapDifference(before=None, after=heap), style, explain)
