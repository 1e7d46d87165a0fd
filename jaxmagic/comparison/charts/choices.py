"""What a reader may choose to see of a comparison or a benchmark: another metric, another statistic; as charts."""

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
        return without_rows(chart_of(comparison), hidden)
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


def latencies(comparison: Comparison) -> Curves:
    """The distribution of each candidate's time, as curves."""
    drawn = {each.label: each.latency.calls_ns for each in comparison.candidates}
    return distributions(drawn, "distribution of each candidate's samples")
