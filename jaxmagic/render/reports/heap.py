"""The reports of memory by call stack."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.flame_chart import heap_flame
from ...analysis.heap import stacks
from ...model.heap import HeapDifference, HeapProfile
from .. import heap_words as words
from ..blocks import Block, Fold, Picture, Sentence, Table
from ..style import Style


def difference(found: HeapDifference, style: Style, explain: bool) -> Iterator[Block]:
    """Tell which calls put there what is held."""
    yield Fold(title=words.headline(found), blocks=tuple(_inside(found, style)))


def _inside(found: HeapDifference, style: Style) -> Iterator[Block]:
    rows = stacks(found)
    yield Picture(chart=lambda: heap_flame(found))
    yield Table(rows=words.stack_table(rows[: style.rows]), there_are=len(rows), noun="stack", long=True)
    yield from (Sentence(text=each, faint=True) for each in (*words.about_devices(found), *found.after.notes))


def profile(found: HeapProfile, style: Style, explain: bool) -> Iterator[Block]:
    """Tell the same of a single look."""
    return difference(HeapDifference(before=None, after=found), style, explain)


REPORTS = {HeapDifference: difference, HeapProfile: profile}
