"""The report of a session: its last records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    for index, record in newest:
        what, time, remark = brief(record, style.digits)
        code = " ".join((what or "").split())
        number = f"[{index}]".rjust(len(f"[{len(history) - 1}]"))
        lines.append(f"  {number} {time:>9}  {remark:13}  {code}".rstrip())
    yield Lines(lines=tuple(lines))


def _longest(timed: Sequence[Run], digits: int) -> str:
    """Say how long the longest of several runs took."""
    if len(timed) < 2:
        return ""
    longest = max(timed, key=lambda run: run.timing.wall_ns)
    name = truncated(longest.name, _MOST_LETTERS)
    return f"; the longest run took {units.time(longest.timing.wall_ns, digits)}: [{longest.number}] {name}"


REPORTS = {History: report}
