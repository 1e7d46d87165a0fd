"""The report of a session: its last records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .. import units
from ..charts.chart_of import chart_of
from ..records.names import truncated
from ..report.blocks import Block, Headline, Lines, Picture
from ..report.compose import brief
from ..report.style import Style
from ..session.history import History
from .analysis import Run, runs

#: At most this many records are listed.
_MOST_RECORDS = 10

#: Letters of the code in the first line.
_MOST_LETTERS = 40


def report(history: History, style: Style, explain: bool) -> Iterator[Block]:
    """Name the longest run, and list the last records, one per line, the newest first as in a live view."""
    if not history:
        yield Lines(lines=("No records yet: run %jaxtime or jaxmagic.stopwatch().",))
        return
    timed = runs(list(history))
    yield Headline(text=f"{units.count(len(history), 'record')}{_longest(timed, style.digits)}")
    if timed:
        yield Picture(chart=lambda: chart_of(history), alt="where the time of the last runs went")
    newest = list(enumerate(history))[: -_MOST_RECORDS - 1 : -1]
    last = f"The last {len(newest)}, newest first:" if len(history) > len(newest) else "Newest first:"
    lines = [last] if len(newest) > 1 else []
    told = [brief(record, style.digits) for _, record in newest]
    numbers = _column([f"[{index}]" for index, _ in newest], str.rjust)
    times, remarks = (
        _column([each.time for each in told], str.rjust),
        _column([each.remark for each in told], str.ljust),
    )
    for number, time, remark, (what, *_) in zip(numbers, times, remarks, told, strict=True):
        cells = (number, time, remark, " ".join((what or "").split()))
        lines.append(f"  {'  '.join(filter(None, cells))}".rstrip())
    yield Lines(lines=tuple(lines))


def _column(cells: Sequence[str], aligned: Callable[[str, int], str]) -> list[str]:
    """Align cells in a column that is as wide as the longest one; without a value it has no width."""
    return [aligned(each, max(map(len, cells))) for each in cells]


def _longest(timed: Sequence[Run], digits: int) -> str:
    """Say how long the longest of several runs took."""
    if len(timed) < 2:
        return ""
    longest = max(timed, key=lambda run: run.timing.wall_ns)
    name = truncated(longest.name, _MOST_LETTERS)
    return f"; the longest run took {units.time(longest.timing.wall_ns, digits)}: [{longest.number}] {name}"


REPORTS = {History: report}
