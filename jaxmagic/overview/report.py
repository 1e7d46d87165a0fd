"""The report of a session: its last records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .. import units
from ..charts.chart_of import chart_of
from ..records.names import truncated
from ..report.blocks import Block, Headline, Lines, Picture
from ..report.compose import Brief, brief
from ..report.style import Style
from ..session.history import History
from .analysis import runs

#: At most this many records are listed.
_MOST_RECORDS = 10

#: Letters of the code in the first line.
_MOST_LETTERS = 40


def report(history: History, style: Style, explain: bool) -> Iterator[Block]:
    """Name the longest run, and list the last records, one per line, the newest first as in a live view."""
    if not history:
        yield Lines(lines=("No records yet: run %jaxtime or jaxmagic.stopwatch().",))
        return
    told = [brief(record) for record in history]
    yield Headline(text=f"{units.count(len(history), 'record')}{_longest(history, told, style.digits)}")
    if runs(list(history)):
        yield Picture(chart=lambda: chart_of(history), alt="where the time of the last runs went")
    newest = list(enumerate(told))[: -_MOST_RECORDS - 1 : -1]
    last = f"The last {len(newest)}, newest first:" if len(history) > len(newest) else "Newest first:"
    lines = [last] if len(newest) > 1 else []
    numbers = _column([f"[{index}]" for index, _ in newest], str.rjust)
    times = _column(
        ["" if each.time_ns is None else units.time(each.time_ns, style.digits) for _, each in newest], str.rjust
    )
    remarks = _column([each.remark for _, each in newest], str.ljust)
    for number, time, remark, (_, each) in zip(numbers, times, remarks, newest, strict=True):
        cells = (number, time, remark, _in_a_line(each))
        lines.append(f"  {'  '.join(filter(None, cells))}".rstrip())
    yield Lines(lines=tuple(lines))


def _column(cells: Sequence[str], aligned: Callable[[str, int], str]) -> list[str]:
    """Align cells in a column that is as wide as the longest one; without a value it has no width."""
    return [aligned(each, max(map(len, cells))) for each in cells]


def _in_a_line(record: Brief) -> str:
    return " ".join((record.what or "").split())


def _longest(history: History, told: Sequence[Brief], digits: int) -> str:
    """Say how long the longest of several runs took, of all timings and of the times in the list."""
    timed = {(each.number, each.name): float(each.timing.wall_ns) for each in runs(list(history))}
    for number, each in enumerate(told):
        if each.time_ns is not None:
            timed.setdefault((number, _in_a_line(each) or "(no code)"), each.time_ns)
    if len({number for number, _ in timed}) < 2:
        return ""
    (number, name), longest_ns = max(timed.items(), key=lambda entry: entry[1])
    return f"; the longest run took {units.time(longest_ns, digits)}: [{number}] {truncated(name, _MOST_LETTERS)}"


REPORTS = {History: report}
