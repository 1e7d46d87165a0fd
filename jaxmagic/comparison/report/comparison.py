"""Writes the report of a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from ... import units
from ...benchmarking.report.versus import cautions
from ...charts.chart_of import chart_of
from ...charts.spec import Chart
from ...report.blocks import Block, Entries, Entry, Excerpt, Fold, Headline, Picture, Sentence, Table
from ...report.style import Style
from ...statistics.medians import median
from ..charts.memory_time import is_worth_a_picture, tradeoff
from ..record.candidate import Candidate
from ..record.comparison import Comparison
from ..record.sweep import Sweep
from ..record.verdict import counterpart
from . import sentences as words
from .labels import for_sentences
from .medians import about_medians
from .outputs import about_outputs
from .profile_diff import about_profiles, profile_tables
from .rounds import about_rounds

#: At most this many candidates are seen at once.
_FEW_CANDIDATES = 6


def report(comparison: Comparison, style: Style, explain: bool) -> Iterator[Block]:
    """Report which candidate is fastest, then each one compared with the baseline; what else is known is folded."""
    spoken = for_sentences(comparison)
    headline = words.headline(spoken)
    yield Headline(text=headline)
    yield Picture(chart=lambda: chart_of(comparison), alt=headline)
    rows = tuple(
        _row(spoken, each, label, style.digits) for label, each in zip(comparison, spoken.candidates, strict=True)
    )
    fastest = sorted(comparison.candidates, key=lambda each: median(each.latency.calls_ns))[:_FEW_CANDIDATES]
    few = {comparison.baseline, *(each.label for each in fastest)}
    part = tuple(each._replace(details=_throughput(comparison, each.name)) for each in rows if each.name in few)
    yield Excerpt(
        title=_details_title(comparison)
        + (f", and {units.count(len(rows) - len(part), 'more candidate')}" if len(part) < len(rows) else ""),
        part=(Entries(rows=part),),
        whole=(Entries(rows=rows),),
    )
    yield from (Sentence(text=each) for each in (*about_medians(spoken), *about_outputs(spoken)))
    yield Sentence(text=about_rounds(spoken), faint=True)
    yield Fold(title="Memory against time", blocks=(Picture(chart=lambda: tradeoff_chart(comparison)),))
    profiled = about_profiles(spoken)
    tables = [
        Table(rows=table, there_are=there_are, code=("line", "operation"))
        for table, there_are in profile_tables(comparison, style.rows)
    ]
    if profiled:
        first, *more = (Sentence(text=each) for each in profiled)
        yield first
        yield Fold(title="Lines and operations under the profiler", blocks=(*more, *tables), repeats=True)
    yield from cautions(spoken.warnings, style)


def _details_title(comparison: Comparison) -> str:
    """Name what the details of the candidates are about."""
    compiled = [each for each in comparison.candidates if each.first_call.compile_ns]
    paid = any(words.pays_off(each, counterpart(comparison, each)) for each in compiled)
    weighed = any(each.memory_bytes is not None for each in comparison.candidates)
    known = (("compiling", bool(compiled)), ("break-even", paid), ("memory", weighed))
    *others, last = ["first calls", *(name for name, there in known if there)]
    return f"Details: {', '.join(others)}{' and ' if others else ''}{last}"


def _throughput(comparison: Comparison, label: str) -> tuple[str, ...]:
    """Return the throughput of a candidate, if it was asked for."""
    told = words.throughput(comparison.candidate(label))
    return () if told is None else (told,)


def _row(comparison: Comparison, candidate: Candidate, label: str, digits: int) -> Entry:
    return Entry(
        name=label,
        cells=(words.call_time(candidate, digits),),
        remark=words.row(comparison, candidate),
        details=(words.details(comparison, candidate, digits),),
    )


def tradeoff_chart(record: Comparison | Sweep) -> Chart | None:
    """Draw memory against time if candidates differ noticeably in memory."""
    return tradeoff(record) if is_worth_a_picture(record) else None
