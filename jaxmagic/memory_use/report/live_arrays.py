"""Reports live arrays."""

from __future__ import annotations

from collections.abc import Iterator

from ... import units
from ...report.blocks import Block, Excerpt, Headline, Picture, Sentence, Table
from ...report.style import Style
from ..charts.live_arrays import arrays_chart
from ..record.live_arrays import LiveArrays
from . import sentences as words

#: At most this many arrays are seen at once.
_FEW_ARRAYS = 8


def report(live: LiveArrays, style: Style, explain: bool) -> Iterator[Block]:
    """Report the memory of arrays, and the names that hold them."""
    yield Headline(text=words.live_headline(live))
    yield from (Sentence(text=each, inner=True) for each in words.about_roots(live.arrays))
    yield from (Sentence(text=each, inner=True) for each in words.about_outputs(live))
    yield from (Sentence(text=each, inner=True) for each in words.about_traceback(live))
    if len(live.arrays) > 1:
        yield Picture(chart=lambda: arrays_chart(live))
    whole, part = _table(live, style.rows), _table(live, _FEW_ARRAYS)
    if min(len(live.arrays), style.rows) > _FEW_ARRAYS:
        title = f"{units.count(len(live.arrays), 'array')}, the {min(len(live.arrays), style.rows)} largest"
        yield Excerpt(title=title, part=(part._replace(there_are=_FEW_ARRAYS),), whole=(whole,))
    else:
        yield whole
    yield from (Sentence(text=each, inner=True) for each in words.about_unnamed(live))
    yield from (Sentence(text=str(note), faint=True) for note in live.notes)


def _table(live: LiveArrays, most: int) -> Table:
    rows = words.array_table(live.arrays[:most])
    return Table(rows=rows, there_are=len(live.arrays), noun="array", code=("array", "held by"))
