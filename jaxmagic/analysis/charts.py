"""Records to the description of a picture: what is on which axis, thinned to what can be seen."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import singledispatch
from math import exp, log

from ..model.arrays import LiveArrays
from ..model.benchmark import Benchmark, Trial
from ..model.chart import Bar, Bars, Boxes, Chart, Curves, Flame, Forest, Mark, Row, Scale, Series, Treemap
from ..model.comparison import Comparison
from ..model.heap import HeapDifference, HeapProfile
from ..model.history import History
from ..model.memory import Executable, MemoryProfile
from ..model.profile import Profile
from ..model.sweep import Sweep, Variable
from ..model.timing import Timing
from ..units import time_unit
from . import report, statistics
from .arrays_chart import arrays_chart
from .comparison import ratios
from .flame_chart import heap_flame
from .memory_chart import map_chart, mapped
from .profile_timeline_chart import profile_timeline_chart
from .profile_tree import profile_flame
from .roofline import roofline_chart
from .runs import runs, runs_chart

#: A distribution is drawn through so many of its quantiles, and a hill at so many places: more would not be seen.
_POINTS = 100
_PLACES = 32

#: Runs of a session that fit below each other.
_MOST_BARS = 12

_SHARE = Scale(label="share of samples", quantity="share", low=0.0, high=1.0)


@singledispatch
def chart(record: object) -> Chart:
    """What a picture of `record` shows."""
    raise TypeError(f"chart() knows records and the history; found a {type(record).__name__}")


def chart_of(record: object, of: str | None) -> Chart:
    """The same of one of several pictures of a record, by its name.

    Raises:
        ValueError: there is no such picture, or nothing to draw.
    """
    if of is None:
        return chart(record)
    known = PROFILE_PICTURES if isinstance(record, Profile) else {}
    if of not in known:
        names = ", ".join(map(repr, known)) or "no other picture than that without a name"
        raise ValueError(f"of: a {type(record).__name__} has {names}; found {of!r}")
    assert isinstance(record, Profile)
    found = known[of](record)
    if found is None:
        raise ValueError(_NOTHING.get(of, "there is nothing to draw: no device time was recorded"))
    return found


_NOTHING = {"roofline": "there is nothing to draw: it is not known what the device can do, or no operation's work is"}

#: The pictures of a profile, by their names.
PROFILE_PICTURES: dict[str, Callable[[Profile], Chart | None]] = {
    "scopes": profile_flame,
    "stacks": lambda record: profile_flame(record, "stack"),
    "timeline": profile_timeline_chart,
    "roofline": roofline_chart,
}


@chart.register
def _(record: Timing) -> Bars:
    parts = tuple((part.name, float(part.time_ns)) for part in report.parts(record))
    return Bars(
        title="where the time went",
        x=Scale(label="time", quantity="time", low=0.0, high=float(max(1, record.wall_ns))),
        bars=(Bar(name=record.code or "", parts=parts),),
    )


@chart.register
def _(record: Executable) -> Boxes:
    found = map_chart(record)
    if found is None:
        raise ValueError(f"{record.name}: there is no map, because its buffers are not known or it needs no memory")
    return found


@chart.register
def _(record: MemoryProfile) -> Boxes:
    program = mapped(record)
    found = None if program is None else map_chart(program)
    if found is None:
        raise ValueError("there is no map: no program ran whose buffers are known and take memory")
    return found


@chart.register
def _(record: Profile) -> Chart:
    return chart_of(record, "scopes")


@chart.register
def _(record: LiveArrays) -> Treemap:
    found = arrays_chart(record)
    if found is None:
        raise ValueError("there is nothing to draw: no array takes any memory")
    return found


@chart.register
def _(record: HeapDifference) -> Flame:
    found = heap_flame(record)
    if found is None:
        raise ValueError("there is no flame graph: no memory is held")
    return found


@chart.register
def _(record: HeapProfile) -> Flame:
    return chart(HeapDifference(before=None, after=record))  # type: ignore[return-value]


@chart.register
def _(record: History) -> Bars:
    return runs_chart(runs(list(record))[-_MOST_BARS:])


@chart.register
def _(record: Benchmark) -> Curves:
    drawn = {"latency": record.latency}
    if record.pipelined is not None and _is_worth_a_curve(record, record.pipelined):
        drawn["pipelined"] = record.pipelined
    interval = record.interval_ns or (None, None)
    median = Mark(label="median", at=record.median_ns, low=interval[0], high=interval[1], hue=0)
    found = _distributions(drawn, "distribution of the samples", marks=(median,))
    latency, *pipelined = found.series
    faint = (Series(name=each.name, x=each.x, y=each.y, hue=1, step=True, muted=True) for each in pipelined)
    return Curves(
        title=found.title, x=found.x, y=found.y, series=(latency, *faint), marks=found.marks, note=found.note
    )


@chart.register
def _(record: Comparison) -> Forest:
    rows = []
    for hue, label in enumerate(record):
        found, rounds = record[label], ratios(record, label)
        low, high = found.interval or (None, None)
        value = found.ratio.value if found.ratio else statistics.median(rounds)
        if label == record.baseline:
            rows.append(Row(name=label, value=1.0, verdict="baseline", hue=hue))
        else:
            rows.append(
                Row(
                    name=label,
                    value=value,
                    low=low,
                    high=high,
                    verdict=found.verdict if found.ratio else "too few rounds to tell",
                    hue=hue,
                    hill=hill(rounds),
                )
            )
    noise = record.noise
    ends = [end for row in rows for end in (row.value, row.low, row.high) if end is not None]
    ends += [place for row in rows for place, _ in row.hill]
    ends += (noise.low, noise.high) if noise else ()
    return Forest(
        title="time of each candidate over that of the baseline",
        x=ratio_scale("time", record.baseline, ends),
        rows=tuple(rows),
        noise=(noise.low, noise.high) if noise else None,
        noise_label=f"{record.twice} beside itself",
    )


@chart.register
def _(record: Sweep) -> Curves:
    found = [each for each in record.curves if each.times]
    if not found:
        raise ValueError("nothing of the sweep could be measured, so that there is nothing to draw")
    variable = found[0].variable
    places = variable.numbers or tuple(map(float, range(len(variable.labels))))
    series = []
    for hue, curve in enumerate(found):
        x = tuple(places[at] for at in curve.positions)
        times = curve.times
        series.append(
            Series(
                name=curve.name,
                x=x,
                y=tuple(each.value for each in times),
                low=tuple(each.low for each in times),
                high=tuple(each.high for each in times),
                hue=hue,
                points=True,
            )
        )
        if any(curve.compile_ns) and not curve.others:  # of a grid there are curves enough
            compiling = tuple(float(each) if each else None for each in curve.compile_ns)
            series.append(Series(name=f"{curve.name}: compile", x=x, y=compiling, hue=hue, dashed=True, muted=True))
    heights = [y for each in series for y in (*each.y, *(each.low or ()), *(each.high or ())) if y is not None]
    low, high = around(heights, log=True)
    return Curves(
        title="time of a call, and of compiling",
        x=_along(variable, places),
        y=Scale(label="time", quantity="time", low=low, high=high, log=True),
        series=tuple(series),
        marks=tuple(
            Mark(label=f"{each.after} overtakes {each.before} near", at=each.value) for each in record.crossings
        ),
    )


def _along(variable: Variable, places: Sequence[float]) -> Scale:
    """The axis of a variable: of its numbers, in logarithms where they grow, or of its names."""
    if variable.numbers is None:
        return Scale(
            label=variable.name,
            quantity="name",
            low=-0.5,
            high=len(places) - 0.5,
            names=variable.labels,
        )
    growing = max(places) > 4 * min(places)
    low, high = around(places, log=growing)
    return Scale(label=variable.name, quantity="number", low=low, high=high, log=growing)


def ratio_scale(what: str, baseline: str, ratios: Sequence[float]) -> Scale:
    """The axis of ratios to a baseline, with one on it and a little around that.

    Args:
        what: has a ratio, such as ``time``.
        baseline: the label of the candidate that others are compared with.
        ratios: that have to lie on it.
    """
    low, high = around([0.95, 1.05, *ratios], log=True)
    label = f"{what} over that of {in_title(baseline)}; less is faster"
    return Scale(label=label, quantity="ratio", low=low, high=high, log=True)


def in_title(name: str) -> str:
    """A name of the user's, as long as the title of an axis may be."""
    return name if len(name) <= 24 else f"{name[:23]}…"


def latencies(comparison: Comparison) -> Curves:
    """The distribution of each candidate's time, as curves."""
    drawn = {each.label: each.latency for each in comparison.candidates}
    return _distributions(drawn, "distribution of each candidate's samples")


def around(values: Sequence[float], *, log: bool = False) -> tuple[float, float]:
    """The ends of an axis on which `values` lie, with some room beyond them.

    Args:
        values: at least one; above 0 on a logarithmic axis.
        log: whether the axis is logarithmic.

    >>> around([0, 100])
    (-4.0, 104.0)
    """
    low, high = min(values), max(values)
    if log:
        room = (high / low) ** 0.04 if high > low else 1.1
        return low / room, high * room
    room = 0.04 * (high - low) or 0.1 * abs(high) or 1.0
    return low - room, high + room


def share_until(name: str, samples: Sequence[float], *, end: float | None = None, hue: int = 0) -> Series:
    """The empirical distribution function: for a value, the share of the samples that are no larger.

    Every point of it lies on the function of all samples. Between them it deviates by a hundredth at most.

    Args:
        name: of the curve.
        samples: in any order.
        end: where the axis ends; what lies beyond is not drawn.
        hue: of the curve.

    >>> found = share_until("f", [3, 1, 2, 2])
    >>> list(zip(found.x, found.y))
    [(1, 0.0), (1, 0.25), (2, 0.75), (3, 1.0)]
    """
    ordered = sorted(samples)
    count = len(ordered)
    ranks = (
        range(count)
        if count <= _POINTS
        else sorted({-(-count * each // _POINTS) - 1 for each in range(1, _POINTS + 1)} | {0})
    )
    last = ordered[-1] if end is None else end
    x, y = [ordered[0]], [0.0]
    for value in sorted({ordered[rank] for rank in ranks}):
        if value <= last:
            x.append(value)
            y.append(bisect_right(ordered, value) / count)
    if last > x[-1]:
        x.append(last)
        y.append(bisect_right(ordered, last) / count)
    return Series(name=name, x=tuple(x), y=tuple(y), hue=hue, step=True)


def hill(ratios: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Where the ratios lie, and how densely: a smoothed histogram of their logarithms, 1 at its highest.

    The outermost fortieth on either side is left out, so that an outlier does not flatten the rest.

    >>> hill([2.0, 2.0, 2.0])
    ()
    """
    logs = sorted(log(each) for each in ratios)
    low, high = statistics.quantile(logs, 0.025), statistics.quantile(logs, 0.975)
    if len(logs) < 6 or high - low < 1e-9:
        return ()
    counts = [0.0] * _PLACES
    for each in logs:
        if low <= each <= high:
            counts[min(int((each - low) / (high - low) * _PLACES), _PLACES - 1)] += 1
    for _ in range(3):
        counts = [(a + 2 * b + c) / 4 for a, b, c in zip([0, *counts], counts, [*counts[1:], 0], strict=False)]
    most = max(counts)
    width = (high - low) / _PLACES
    inner = [(exp(low + width * (index + 0.5)), each / most) for index, each in enumerate(counts)]
    return ((exp(low - width / 2), 0.0), *inner, (exp(high + width / 2), 0.0))


def _distributions(trials: dict[str, Trial], title: str, marks: tuple[Mark, ...] = ()) -> Curves:
    """One curve for each trial, from the smallest sample to where only outliers are left."""
    calls = {name: trial.calls_ns for name, trial in trials.items()}
    low = min(min(each) for each in calls.values())
    high = max(_without_outliers(each) for each in calls.values())
    if high <= low:
        low, high = (0.9 * low, 1.1 * low) if low else (0.0, 1.0)
    beyond = sum(each > high for samples in calls.values() for each in samples)
    return Curves(
        title=title,
        x=Scale(
            label="time of a call",
            quantity="time",
            low=low,
            high=high,
            log=low > 0 and high > 20 * low,
            unit=time_unit(statistics.median(next(iter(calls.values())))),  # that of the headline
        ),
        y=_SHARE,
        series=tuple(
            share_until(name, samples, end=high, hue=hue) for hue, (name, samples) in enumerate(calls.items())
        ),
        marks=marks,
        note=f"{beyond} beyond" if beyond else "",
    )


def _without_outliers(calls: Sequence[float]) -> float:
    """Where the samples end but for outliers."""
    low, high = statistics.quartiles(calls)
    return min(max(calls), high + 3 * max(high - low, 0.01 * high))


def _is_worth_a_curve(record: Benchmark, pipelined: Trial) -> bool:
    """Whether calls that are not waited for are told apart from the others, and lie within the same picture."""
    median = statistics.median(pipelined.calls_ns)
    low = (record.interval_ns or (0.0, 0.0))[0]
    return len(pipelined.samples_ns) >= 6 and 0.5 * record.median_ns <= median < min(low, 0.98 * record.median_ns)
