"""Draws the charts that a reader can choose for a comparison: another metric, another statistic."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from ...charts.chart_of import chart_of
from ...charts.curves import Curves
from ...charts.distribution import distributions
from ...charts.scale import Scale, ratio_scale
from ...charts.spec import Bar, Bars, Chart, Forest, Row
from ...statistics.medians import median, quantile
from ..record.candidate import Candidate
from ..record.comparison import Comparison

#: The time of a candidate to show.
Metric = Literal["latency", "pipelined", "first call", "compile"]

#: The number that summarizes all samples.
Statistic = Literal["median", "minimum", "mean", "90th percentile"]

STATISTICS: dict[Statistic, Callable[[Sequence[float]], float]] = {
    "median": median,
    "minimum": min,
    "mean": lambda samples: float(np.mean(samples)),
    "90th percentile": lambda samples: quantile(samples, 0.9),
}

METRICS: tuple[Metric, ...] = ("latency", "pipelined", "first call", "compile")


def time_of(candidate: Candidate, metric: Metric, statistic: Statistic) -> float | None:
    """Return one number for a candidate, in nanoseconds; ``None`` if it was not measured."""
    if metric == "first call":
        return float(candidate.first_call.wall_ns)
    if metric == "compile":
        return float(candidate.first_call.compile_ns)
    trial = candidate.latency if metric == "latency" else candidate.pipelined
    return None if trial is None else STATISTICS[statistic](trial.calls_ns)


def times_chart(comparison: Comparison, metric: Metric, statistic: Statistic, hidden: Collection[str] = ()) -> Bars:
    """Draw a bar for each candidate, as long as its time.

    Raises:
        ValueError: the metric was not measured for any candidate.
    """
    times = {}
    for each in comparison.candidates:
        time_ns = time_of(each, metric, statistic)
        if time_ns is not None and each.label not in hidden:
            times[each.label] = time_ns
    if not times:
        raise ValueError(f"{metric} was not measured for any of these candidates. Choose another metric")
    label = metric if metric in ("first call", "compile") else f"{statistic} {metric}"
    return Bars(
        title=f"{label} of each candidate",
        x=Scale(label=label, quantity="time", low=0.0, high=max(1.0, *times.values())),
        bars=tuple(Bar(name=name, parts=((label, time_ns),)) for name, time_ns in times.items()),
    )


def ratios_chart(
    comparison: Comparison, metric: Metric, statistic: Statistic, hidden: Collection[str] = ()
) -> Forest:
    """Draw the ratio of each candidate's time to the baseline's.

    For the median latency it is the median of the ratios of the rounds, with its interval and the noise. For other
    choices it is a ratio of two numbers, without an interval.

    Raises:
        ValueError: the baseline's time was not measured, or is 0.
    """
    if (metric, statistic) == ("latency", "median"):
        return without_rows(chart_of(comparison), hidden)
    baseline_ns = time_of(comparison.candidate(comparison.baseline), metric, statistic)
    if not baseline_ns:
        raise ValueError(f"{comparison.baseline} has no {metric} to compare with. Choose another baseline or metric")
    rows = []
    for hue, each in enumerate(comparison.candidates):
        time_ns = time_of(each, metric, statistic)
        if time_ns and each.label not in hidden:
            rows.append(Row(name=each.label, value=time_ns / baseline_ns, hue=hue))
    what = metric if metric in ("first call", "compile") else f"{statistic} {metric} time"
    return Forest(
        title=f"{what} relative to {comparison.baseline}",
        x=ratio_scale(what, comparison.baseline, [each.value for each in rows]),
        rows=tuple(rows),
    )


def without_rows(chart: Chart, hidden: Collection[str]) -> Forest:
    """Return a forest chart without the hidden rows."""
    assert isinstance(chart, Forest)
    return replace(chart, rows=tuple(each for each in chart.rows if each.name not in hidden))


def without_series(chart: Curves, hidden: Collection[str]) -> Curves:
    """Return a chart without the hidden curves."""
    return replace(chart, series=tuple(each for each in chart.series if each.name not in hidden))


def latencies(comparison: Comparison) -> Curves:
    """Draw the distribution of each candidate's samples."""
    drawn = {each.label: each.latency.calls_ns for each in comparison.candidates}
    return distributions(drawn, "distribution of each candidate's samples")
