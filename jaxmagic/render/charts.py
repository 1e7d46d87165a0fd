"""Records as pictures: what is on which axis, and what stands beside it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import exp, log

from .. import units
from ..analysis import statistics
from ..analysis.comparison import ratios
from ..model.benchmark import Benchmark
from ..model.comparison import Comparison
from .axis import Axis
from .svg import FAINT, GREY, Drawing

WIDTH = 560

#: Okabe and Ito's palette, safe for the colour-blind, in the order in which candidates take it.
HUES = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#b39b00", "#999999")

#: A distribution is drawn through so many of its quantiles: more would not be seen.
_POINTS = 120


def distribution(benchmark: Benchmark) -> Drawing:
    """The share of calls that took no longer than a time, with the median and its interval."""
    calls = sorted(benchmark.latency.calls_ns)
    low, high = _window(calls)
    unit = units.time_unit(high)
    drawing = Drawing(WIDTH, 150, "distribution of the samples")
    x = Axis(low, high, 40, WIDTH - 16)
    y = Axis(0, 1, 116, 12)
    for share in (0, 0.5, 1):
        drawing.line(x.start, y.at(share), x.end, y.at(share), colour=FAINT)
        drawing.words(x.start - 6, y.at(share) + 4, units.percent(share), anchor="end")
    _time_axis(drawing, x, 116, unit)
    drawing.words(x.end, 146, f"time of a call ({unit})", anchor="end")
    if benchmark.interval_ns is not None:
        left, right = map(x.at, benchmark.interval_ns)
        drawing.box(left, 12, right - left, 104, colour=f"{HUES[0]}44", title="95 % interval of the median")
    drawing.line(x.at(benchmark.median_ns), 12, x.at(benchmark.median_ns), 116, colour=HUES[0])
    drawing.path(_steps(calls, x, y), colour=HUES[0])
    beyond = sum(each > high for each in calls)
    if beyond:
        drawing.words(x.end, 24, f"{beyond} beyond →", anchor="end")
    return drawing


def forest(comparison: Comparison) -> Drawing:
    """The ratio of each candidate to the baseline: its rounds, their median, and its interval; and the noise."""
    found = [(label, comparison[label], ratios(comparison, label)) for label in comparison]
    noise = comparison.noise
    everything = [each for _, _, rounds in found for each in _middle(rounds)]
    everything += [each for _, versus, _ in found for each in versus.interval or ()]
    low, high = min([0.9, *everything]), max([1.1, *everything])
    height = 26 * len(found)
    drawing = Drawing(WIDTH, height + 46, "time of each candidate over that of the baseline")
    margin = (high / low) ** 0.04
    x = Axis(low / margin, high * margin, 120, WIDTH - 16, log=True)
    if noise is not None:
        left, right = x.at(noise.low), x.at(noise.high)
        drawing.box(left, 6, right - left, height, colour=FAINT, title="the baseline beside itself")
    for tick in x.ticks():
        drawing.line(x.at(tick), 6, x.at(tick), height + 10, colour=FAINT)
        drawing.words(x.at(tick), height + 24, units.factor_tick(tick), anchor="middle")
    drawing.line(x.at(1), 6, x.at(1), height + 10)
    drawing.words(x.end, height + 40, f"time over that of {comparison.baseline}; less is faster", anchor="end")
    for row, (label, versus, rounds) in enumerate(found):
        middle, colour = 6 + 26 * row + 13, HUES[row % len(HUES)]
        shown = label if len(label) <= 16 else f"{label[:15]}…"
        drawing.words(112, middle + 4, shown, anchor="end", colour=GREY)
        if label != comparison.baseline:
            drawing.path(_hill(rounds, x, middle), colour="none", fill=f"{colour}66")
        if versus.interval is not None:
            drawing.line(x.at(versus.interval[0]), middle, x.at(versus.interval[1]), middle, colour=colour, width=3)
        drawing.dot(x.at(versus.ratio.value if versus.ratio else statistics.median(rounds)), middle, 4, colour=colour)
    return drawing


def _window(calls: Sequence[float]) -> tuple[float, float]:
    """From the smallest sample to where only outliers are left."""
    low, high = statistics.quartiles(calls)
    end = min(calls[-1], high + 4 * max(high - low, 0.01 * high))
    return (calls[0], end) if end > calls[0] else (0.9 * calls[0], 1.1 * calls[0])


def _steps(calls: Sequence[float], x: Axis, y: Axis) -> list[tuple[float, float]]:
    """The empirical distribution function, thinned."""
    points = [(x.start, y.at(0))]
    for index in range(_POINTS + 1):
        value = x.low + (x.high - x.low) * index / _POINTS
        points.append((x.at(value), y.at(bisect_right(calls, value) / len(calls))))
    return points


def _middle(rounds: Sequence[float]) -> list[float]:
    low, high = statistics.quantile(rounds, 0.05), statistics.quantile(rounds, 0.95)
    return [low, high]


def _hill(rounds: Sequence[float], x: Axis, middle: float) -> list[tuple[float, float]]:
    """The distribution of the rounds, mirrored: as wide as it is likely."""
    logs = [log(each) for each in rounds]
    low, high = log(x.low), log(x.high)
    bins = 60
    counts = [0] * bins
    for each in logs:
        if low <= each < high:
            counts[int((each - low) / (high - low) * bins)] += 1
    smooth = [
        (before + 2 * count + after) / 4
        for before, count, after in zip([0, *counts], counts, [*counts[1:], 0], strict=False)
    ]
    most = max(smooth, default=0) or 1
    at = [x.at(exp(low + (high - low) * (index + 0.5) / bins)) for index in range(bins)]
    above = [(left, middle - 10 * each / most) for left, each in zip(at, smooth, strict=True)]
    below = [(left, middle + 10 * each / most) for left, each in zip(at, smooth, strict=True)]
    return [*above, *reversed(below)]


def _time_axis(drawing: Drawing, x: Axis, y: float, unit: str) -> None:
    size = units.TIME_UNITS[unit]
    scaled = Axis(x.low / size, x.high / size, x.start, x.end)
    for tick in scaled.ticks():
        drawing.line(scaled.at(tick), y, scaled.at(tick), y + 4)
        drawing.words(scaled.at(tick), y + 16, f"{tick:g}", anchor="middle")
