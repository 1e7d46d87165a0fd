"""Reports live arrays."""

from __future__ import annotations

from collections.abc import Iterator

from ...report.blocks import Block, Headline, Picture, Sentence, Table
from ...report.style import Style
from ..charts.live_arrays import arrays_chart
from ..record.live_arrays import LiveArrays
from . import sentences as words


def report(live: LiveArrays, style: Style, explain: bool) -> Iterator[Block]:
    """Report the memory of arrays, and the names that hold them."""
    yield Headline(text=words.live_headline(live))
    if len(live.arrays) > 1:
        yield Picture(chart=lambda: arrays_chart(live))
    yield Table(rows=words.array_table(live.arrays[: style.rows]), there_are=len(live.arrays), noun="array")
    yield from (Sentence(text=str(note), faint=True) for note in live.notes)
