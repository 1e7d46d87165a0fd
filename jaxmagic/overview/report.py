"""The report of a session: its last records."""

from __future__ import annotations

from collections.abc import Iterator

from .. import units
from ..benchmarking.record.benchmark import Benchmark
from ..charts.chart_of import chart_of
from ..comparison.record.comparison import Comparison
from ..comparison.record.sweep import Sweep
from ..memory_use.record.memory_profile import MemoryProfile
from ..profiling.record.profile import Profile
from ..report.blocks import Block, Lines, Picture
from ..report.style import Style
from ..session.history import History
from ..session.kinds import Record
from .analysis import runs

#: Records that are listed.
_MOST_RECORDS = 10


def report(history: History, style: Style, explain: bool) -> Iterator[Block]:
    """List the last records, a line each."""
    if not history:
        yield Lines(lines=("No records yet: run %jaxtime or jaxmagic.stopwatch().",))
        return
    if runs(list(history)):
        yield Picture(chart=lambda: chart_of(history), alt="where the time of the last runs went")
    newest = list(history)[-_MOST_RECORDS:]
    first = len(history) - len(newest)
    lines = [f"{units.count(len(history), 'record')}" + (f", the last {len(newest)}:" if first else ":")]
    for index, record in enumerate(newest, first):
        code = " ".join((record.code or _labels(record)).split())
        time, remark = _told(record, style)
        number = f"[{index}]".rjust(len(f"[{len(history) - 1}]"))
        lines.append(f"  {number} {time:>9}  {remark:13}  {code}".rstrip())
    yield Lines(lines=tuple(lines))


def _labels(record: Record) -> str:
    return ", ".join(record) if isinstance(record, Comparison | Sweep) else ""


def _told(record: Record, style: Style) -> tuple[str, str]:
    """Return the time of a record, and what it is in a word or two."""
    if isinstance(record, Benchmark):
        return units.time(record.median_ns, style.digits), "per call"
    if isinstance(record, Comparison):
        return "", f"{len(record)} compared"
    if isinstance(record, Sweep):
        return "", units.count(len(record), "point")
    if isinstance(record, MemoryProfile):
        return "", units.size_change(sum(record.delta_bytes.values()))
    if isinstance(record, Profile):
        return "" if record.wall_ns is None else units.time(record.wall_ns, style.digits), "profiled"
    compiled = f"{units.share(record.compile_ns, record.wall_ns)} compile" if record.compile_ns else ""
    return units.time(record.wall_ns, style.digits), compiled


REPORTS = {History: report}
