"""What a reader may choose to see of a comparison or a benchmark: another metric, another statistic; as charts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np

from ...benchmarking.record.benchmark import Benchmark, Trial
from ...charts.spec import Bar, Bars, Chart, Curves, Forest, Row, Scale, Series
from ...report.chart_of import around, chart, ratio_scale
from ...statistics.medians import median, quantile
from ..record.comparison import Candidate, Comparison

#: What of a candidate is looked at.
Metric = Literal["latency", "pipelined", "first call", "compile"]

#: One number for all samples.
Statistic = Literal["median", "minimum", "mean", "90th percentile"]

STATISTICS: dict[Statistic, Callable[[Sequence[float]], float]] = {
    "median": median,
    "minimum": min,
    "mean": lambda samples: float(np.mean(samples)),
    "90th percentile": lambda samples: quantile(samples, 0.9),
}

METRICS: tuple[Metric, ...] = ("latency", "pipelined", "first call", "compile")


def time_of(candidate: Candidate, metric: Metric, statistic: Statistic) -> float | None:
    """One number for a candidate, in nanoseconds; ``None`` where it was not measured."""
    if metric == "first call":
        return float(candidate.first_call.wall_ns)
    if metric == "compile":
        return float(candidate.first_call.compile_ns)
    trial = candidate.latency if metric == "latency" else candidate.pipelined
    return None if trial is None else STATISTICS[statistic](trial.calls_ns)


def times_chart(comparison: Comparison, metric: Metric, statistic: Statistic, hidden: Collection[str] = ()) -> Bars:
    """A bar for each candidate, as long as its time.

    Raises:
        ValueError: nothing of that was measured.
    """
    found = {}
    for each in comparison.candidates:
        time_ns = time_of(each, metric, statistic)
        if time_ns is not None and each.label not in hidden:
            found[each.label] = time_ns
    if not found:
        raise ValueError(f"{metric} was not measured for any of these candidates")
    label = metric if metric in ("first call", "compile") else f"{statistic} {metric}"
    return Bars(
        title=f"{label} of each candidate",
        x=Scale(label=label, quantity="time", low=0.0, high=max(1.0, *found.values())),
        bars=tuple(Bar(name=name, parts=((label, time_ns),)) for name, time_ns in found.items()),
    )


def ratios_chart(
    comparison: Comparison, metric: Metric, statistic: Statistic, hidden: Collection[str] = ()
) -> Forest:
    """The time of each candidate over that of the baseline.

    For the median latency that is the median of the ratios of the rounds, with its interval and the noise. Whatever
    else is chosen is a ratio of two numbers, which has none.

    Raises:
        ValueError: the baseline's was not measured, or is 0.
    """
    if (metric, statistic) == ("latency", "median"):
        return without_rows(chart(comparison), hidden)
    whole = time_of(comparison.candidate(comparison.baseline), metric, statistic)
    if not whole:
        raise ValueError(f"{comparison.baseline} has no {metric} to compare with. Choose another baseline or metric")
    rows = []
    for hue, each in enumerate(comparison.candidates):
        time_ns = time_of(each, metric, statistic)
        if time_ns and each.label not in hidden:
            rows.append(Row(name=each.label, value=time_ns / whole, hue=hue))
    what = metric if metric in ("first call", "compile") else f"{statistic} {metric} time"
    return Forest(
        title=f"{what} over that of {comparison.baseline}",
        x=ratio_scale(what, comparison.baseline, [each.value for each in rows]),
        rows=tuple(rows),
    )


def without_rows(found: Chart, hidden: Collection[str]) -> Forest:
    """A forest without some of its rows."""
    assert isinstance(found, Forest)
    return replace(found, rows=tuple(each for each in found.rows if each.name not in hidden))


def without_series(found: Curves, hidden: Collection[str]) -> Curves:
    """Curves without some of them."""
    return replace(found, series=tuple(each for each in found.series if each.name not in hidden))


def over_time(benchmark: Benchmark) -> Curves:
    """The time of each call in the order in which they were made, warm-up first: drift and modes are seen there."""
    warmup = Trial(samples_ns=benchmark.warmup_ns, evaluations=1).calls_ns
    latency = benchmark.latency.calls_ns
    before = len(warmup)
    series = []
    if warmup:
        series.append(_in_order("warm-up", warmup, 1, hue=1))
    series.append(_in_order("samples", latency, before + 1, hue=0))
    heights = [*warmup, *latency]
    positive = min(heights) > 0
    low, high = around(heights, log=positive)
    return Curves(
        title="calls in the order in which they were made",
        x=Scale(label="sample", quantity="number", low=0.0, high=float(len(heights) + 1)),
        y=Scale(label="time of a call", quantity="time", low=low, high=high, log=positive and high > 20 * low),
        series=tuple(series),
    )


#: Of a long series the lowest and the highest sample of each of so many stretches are drawn.
_STRETCHES = 150


def _in_order(name: str, calls: Sequence[float], first: int, hue: int) -> Series:
    if len(calls) <= 2 * _STRETCHES:
        places = list(range(len(calls)))
    else:
        edges = np.linspace(0, len(calls), _STRETCHES + 1).astype(int)
        ends = [(int(a + np.argmin(calls[a:b])), int(a + np.argmax(calls[a:b]))) for a, b in pairwise(edges)]
        places = sorted({each for pair in ends for each in pair})
    return Series(
        name=name, x=tuple(float(first + at) for at in places), y=tuple(calls[at] for at in places), hue=hue
    )
