"""The report of a session: its last records."""

from __future__ import annotations

from collections.abc import Iterator

from .. import units
from ..charts.chart_of import chart_of
from ..report.blocks import Block, Lines, Picture
from ..report.compose import brief
from ..report.style import Style
from ..session.history import History
from .analysis import runs

#: At most this many records are listed.
_MOST_RECORDS = 10


def report(history: History, style: Style, explain: bool) -> Iterator[Block]:
    """List the last records, one per line, the newest first as in a live view."""
    if not history:
        yield Lines(lines=("No records yet: run %jaxtime or jaxmagic.stopwatch().",))
        return
    if runs(list(history)):
        yield Picture(chart=lambda: chart_of(history), alt="where the time of the last runs went")
    newest = list(enumerate(history))[: -_MOST_RECORDS - 1 : -1]
    last = f", the last {len(newest)}" if len(history) > len(newest) else ""
    order = ", newest first" if len(newest) > 1 else ""
    lines = [f"{units.count(len(history), 'record')}{last}{order}:"]
    for index, record in newest:
        what, time, remark = brief(record, style.digits)
        code = " ".join((what or "").split())
        number = f"[{index}]".rjust(len(f"[{len(history) - 1}]"))
        lines.append(f"  {number} {time:>9}  {remark:13}  {code}".rstrip())
    yield Lines(lines=tuple(lines))


REPORTS = {History: report}
