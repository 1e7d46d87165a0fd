"""Writes the report of a sweep."""

from __future__ import annotations

from collections.abc import Iterator

from ...charts.chart_of import chart_of
from ...report.blocks import Block, Caution, Headline, Picture, Sentence, Table
from ...report.style import Style
from ..record.sweep import Sweep
from . import sweep_sentences as words
from .comparison import tradeoff_chart
from .profile_diff import scaling_table
from .sentences import cut


def report(sweep: Sweep, style: Style, explain: bool) -> Iterator[Block]:
    """Report the time at each point, then how times grow and where candidates overtake each other."""
    headline = words.headline(sweep)
    yield Headline(text=headline)
    if sweep.curves:
        yield Picture(chart=lambda: chart_of(sweep), alt=headline)
    shown = sweep.points[: words.MOST_POINTS]
    rows = [words.heads(sweep), *(words.cells(sweep, point, style.digits) for point in shown)]
    yield Table(rows=rows, there_are=len(sweep.points), noun="point", numbers=True)
    yield Picture(chart=lambda: tradeoff_chart(sweep))
    if scaled := scaling_table(sweep):
        yield Table(rows=scaled, there_are=len(scaled) - 1)
    yield from (Sentence(text=cut(each, sweep)) for each in words.about_outputs(sweep))
    yield from (Sentence(text=each, faint=True) for each in words.about_work(sweep))
    growth = (*words.about_growth(sweep), *words.about_crossings(sweep))
    yield from (Sentence(text=cut(each, sweep)) for each in growth)
    yield from (Sentence(text=cut(each, sweep), faint=True) for each in words.about_compiling(sweep, style.digits))
    yield from (Sentence(text=cut(each, sweep)) for each in words.about_end(sweep))
    yield from (Caution(text=cut(each, sweep)) for each in words.about_conditions(sweep))
