"""Writes the report of a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from ...charts.chart_of import chart_of
from ...charts.spec import Chart
from ...report.blocks import Block, Caution, Entries, Entry, Headline, Picture, Sentence, Table
from ...report.style import Style
from ..charts.memory_time import is_worth_a_picture, tradeoff
from ..record.comparison import Comparison
from ..record.sweep import Sweep
from . import sentences as words
from .profile_diff import about_profiles, profile_tables


def report(comparison: Comparison, style: Style, explain: bool) -> Iterator[Block]:
    """Report which candidate is fastest, then each one compared with the baseline."""
    headline = words.headline(comparison)
    yield Headline(text=headline)
    yield Picture(chart=lambda: chart_of(comparison), alt=headline)
    rows = (
        Entry(
            name=each.label,
            cells=(words.call_time(each, style.digits),),
            remark=words.row(comparison, each),
            details=(words.details(comparison, each, style.digits),),
        )
        for each in comparison.candidates
    )
    yield Entries(rows=tuple(rows))
    yield Picture(chart=lambda: tradeoff_chart(comparison))
    yield Sentence(text=words.cut(words.about_rounds(comparison), comparison), faint=True)
    yield from (Sentence(text=words.cut(each, comparison)) for each in words.about_outputs(comparison))
    yield from (Sentence(text=each) for each in about_profiles(comparison))
    for table, there_are in profile_tables(comparison, style.rows):
        yield Table(rows=table, there_are=there_are)
    yield from (Caution(text=str(each)) for each in comparison.warnings)


def tradeoff_chart(record: Comparison | Sweep) -> Chart | None:
    """Draw memory against time if candidates differ noticeably in memory."""
    return tradeoff(record) if is_worth_a_picture(record) else None
