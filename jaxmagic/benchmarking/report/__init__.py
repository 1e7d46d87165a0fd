"""Writes the report of a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from ...charts.chart_of import chart_of
from ...report.blocks import Block, Headline, Picture, Sentence
from ...report.compose import Brief
from ...report.style import Style
from ..record.benchmark import Benchmark
from ..record.versus import Versus
from . import sentences as words
from . import versus


def report(benchmark: Benchmark, style: Style, explain: bool) -> Iterator[Block]:
    """Report the time of a call with its interval, then the distribution of the samples."""
    headline = words.headline(benchmark, style.digits)
    yield Headline(text=headline)
    requested = words.about_device(benchmark, style.digits)  # first, so that warnings never leave no room for it
    inner = [*([requested] if requested else []), *words.about_samples(benchmark, style.digits, style.compared)]
    yield from (Sentence(text=each, inner=True) for each in inner)
    if len(benchmark.samples_ns) > 1:
        yield Picture(
            chart=lambda: chart_of(benchmark), alt=headline, letters=words.histogram(benchmark, style.digits) or ""
        )
    sentences = (
        words.about_pipelined(benchmark, style.digits),
        words.about_first_call(benchmark, style.digits),
    )
    yield from (Sentence(text=each, inner=True) for each in sentences if each)
    yield Sentence(text=words.about_end(benchmark))
    yield from versus.cautions(benchmark.warnings, style)


def brief(benchmark: Benchmark) -> Brief:
    """Return how long a call takes."""
    return Brief(benchmark.code, benchmark.median_ns, "per call")


BRIEFS = {Benchmark: brief}


REPORTS = {Benchmark: report, Versus: versus.report}
