"""Draws charts of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..charts.chart_of import Pictured
from ..charts.curves import Curves, Mark, Series
from ..charts.distribution import distributions
from ..charts.scale import Scale, around
from ..statistics import medians
from .record.benchmark import Benchmark
from .record.samples import Trial

#: A long series is divided into this many stretches, and the lowest and highest sample of each are drawn.
_STRETCHES = 150


def distribution_chart(record: Benchmark) -> Curves:
    """Draw the distribution of the samples, with the median."""
    drawn = {"latency": record.latency.calls_ns}
    if record.pipelined is not None and _is_worth_a_curve(record, record.pipelined):
        drawn["pipelined"] = record.pipelined.calls_ns
    interval = record.interval_ns or (None, None)
    median = Mark(label="median", at=record.median_ns, low=interval[0], high=interval[1], hue=0)
    curves = distributions(drawn, "distribution of the samples", marks=(median,))
    latency, *pipelined = curves.series
    faint = (replace(each, hue=1, muted=True) for each in pipelined)
    return replace(curves, series=(latency, *faint))


def over_time(benchmark: Benchmark) -> Curves:
    """Draw the time of each call in the order of the calls, warm-up first. It shows drift and modes."""
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
        title="calls in order",
        x=Scale(label="sample", quantity="number", low=0.0, high=float(len(heights) + 1)),
        y=Scale(label="time of a call", quantity="time", low=low, high=high, log=positive and high > 20 * low),
        series=tuple(series),
    )


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


def _is_worth_a_curve(record: Benchmark, pipelined: Trial) -> bool:
    """Return whether pipelined calls differ from the others, and lie within the same chart."""
    median = medians.median(pipelined.calls_ns)
    low = (record.interval_ns or (0.0, 0.0))[0]
    return len(pipelined.samples_ns) >= 6 and 0.5 * record.median_ns <= median < min(low, 0.98 * record.median_ns)


CHARTS = {Benchmark: {"distribution": Pictured(distribution_chart), "order": Pictured(over_time)}}
