"""Writes the report of a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...charts.chart_of import chart_of
from ...report.blocks import Block, Caution, Excerpt, Fold, Headline, Picture, Sentence, Table
from ...report.style import Style
from ..record.sweep import Sweep
from . import sweep_sentences as words
from .at_points import about_conditions, about_medians, about_outputs
from .comparison import tradeoff_chart
from .growth import about_growth, about_known_growth
from .labels import for_sentences
from .profile_diff import about_missing_profiles, about_scaling, scaling_table
from .sweep_verdicts import about_verdicts

#: This many of many points are seen at once. If only one more would be left out, it takes no more room than a fold.
_FEW_POINTS = 5


def report(sweep: Sweep, style: Style, explain: bool) -> Iterator[Block]:
    """Report where candidates overtake each other, and the time at each point; how times grow is folded."""
    spoken = for_sentences(sweep)
    measured = words.headline(spoken)
    found = [*about_scaling(spoken), *words.about_crossings(spoken)]
    first, *others = found or about_verdicts(spoken) or about_known_growth(spoken) or [measured]
    yield Headline(text=first.rstrip("."))
    if first is not measured:
        yield Sentence(text=measured, inner=True)
    if sweep.curves:
        yield Picture(chart=lambda: chart_of(sweep), alt=measured)
    yield from _sentences(others)
    scaled = scaling_table(sweep)
    if scaled:
        if len(sweep.labels) == 1:  # which the first lines name
            scaled = [row[1:] for row in scaled]
        yield Table(rows=scaled, there_are=len(scaled) - 1, code=("candidate",))
    if len(scaled) - 1 < len(sweep.points) * len(sweep.labels):  # or it has their times
        yield from _points(sweep, style)
        yield from _sentences(words.about_marks(spoken), faint=True)
    yield from _sentences(about_medians(spoken))
    yield from _sentences(words.about_values(spoken))
    yield from _sentences(about_missing_profiles(spoken))
    yield from _sentences(about_outputs(spoken))
    yield from _sentences(words.about_end(spoken))
    yield Fold(title="Memory against time", blocks=(Picture(chart=lambda: tradeoff_chart(sweep)),))
    grows = [] if scaled else about_growth(spoken)  # it scales, or not
    growth = tuple(_sentences(each for each in grows if each not in (first, *others)))
    work = tuple(_sentences(words.about_work(spoken), faint=True))
    compiling = tuple(_sentences(words.about_compiling(spoken, style.digits), faint=True))
    if growth or work or compiling:
        yield Fold(
            title=words.fold_title(spoken, [each.text for each in (*growth, *work, *compiling)], style.digits),
            blocks=(*work, *growth, *compiling),
            repeats=True,
        )
    yield from (Caution(text=each) for each in about_conditions(spoken, style.compared))


def _sentences(about: Iterable[str], faint: bool = False) -> Iterator[Sentence]:
    return (Sentence(text=each, faint=faint) for each in about)


def _points(sweep: Sweep, style: Style) -> Iterator[Block]:
    """Tabulate the points; a few of many, from the first to the last."""
    shown = sweep.points[: words.MOST_POINTS]
    heads, *rows = [words.heads(sweep), *(words.cells(sweep, point, style.digits) for point in shown)]
    keys = len(sweep.variables)
    whole = Table(rows=[heads, *rows], there_are=len(sweep.points), noun="point", numbers=True, keys=keys)
    if len(rows) <= _FEW_POINTS + 1:
        yield whole
        return
    few = [rows[round(at * (len(rows) - 1) / (_FEW_POINTS - 1))] for at in range(_FEW_POINTS)]
    part = Table(rows=[heads, *few], there_are=_FEW_POINTS, noun="point", numbers=True, keys=keys)
    yield Excerpt(title=f"All {len(rows)} points", part=(part,), whole=(whole,))
