"""The reports of memory by call stack."""

from __future__ import annotations

from collections.abc import Iterator

from ...report.blocks import Block, Fold, Picture, Sentence, Table
from ...report.style import Style
from ..analysis.heap import stacks
from ..charts.heap_flame import heap_flame
from ..record.heap import HeapDifference, HeapProfile
from . import heap_sentences as words


def difference(found: HeapDifference, style: Style, explain: bool) -> Iterator[Block]:
    """Tell which calls put there what is held."""
    yield Fold(title=words.headline(found), blocks=tuple(_inside(found, style)))


def _inside(found: HeapDifference, style: Style) -> Iterator[Block]:
    rows = stacks(found)
    yield Picture(chart=lambda: heap_flame(found))
    yield Table(rows=words.stack_table(rows[: style.rows]), there_are=len(rows), noun="stack", long=True)
    told = (*words.about_devices(found), *map(str, found.after.notes))
    yield from (Sentence(text=each, faint=True) for each in told)


def profile(found: HeapProfile, style: Style, explain: bool) -> Iterator[Block]:
    """Tell the same of a single look."""
    return difference(HeapDifference(before=None, after=found), style, explain)
