"""Records to the description of a picture: what is on which axis, thinned to what can be seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch

from ..benchmarking.record.benchmark import Benchmark, Trial
from ..charts.distribution import distributions, hill
from ..charts.spec import Bar, Bars, Boxes, Chart, Curves, Flame, Forest, Mark, Row, Scale, Series, Treemap
from ..comparison.record.comparison import Comparison
from ..comparison.record.sweep import Sweep, Variable
from ..comparison.record.verdict import ratios
from ..memory_use.charts.buffer_map import map_chart, mapped
from ..memory_use.charts.heap_flame import heap_flame
from ..memory_use.charts.live_arrays import arrays_chart
from ..memory_use.record.heap import HeapDifference, HeapProfile
from ..memory_use.record.live_arrays import LiveArrays
from ..memory_use.record.memory_profile import Executable, MemoryProfile
from ..overview.analysis import runs, runs_chart
from ..profiling.analysis.devices.allocators import memory_chart
from ..profiling.analysis.devices.step_parts import steps_chart
from ..profiling.analysis.roofline import roofline_chart
from ..profiling.analysis.scope_tree import profile_flame
from ..profiling.charts.timeline import profile_timeline_chart
from ..profiling.record.profile import Profile
from ..records.names import shortened
from ..session.history import History
from ..statistics import medians as statistics
from ..timing import analysis as report
from ..timing.record import Timing

#: Runs of a session that fit below each other.
_MOST_BARS = 12


@singledispatch
def chart(record: object) -> Chart:
    """What a picture of `record` shows."""
    raise TypeError(f"chart(): expected a record or the history, got {type(record).__name__}")


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
        raise ValueError(f"of: expected {names} of a {type(record).__name__}, got {of!r}")
    assert isinstance(record, Profile)
    found = known[of](record)
    if found is None:
        raise ValueError(_NOTHING.get(of, "there is nothing to draw: no device time was recorded"))
    return found


_NOTHING = {
    "roofline": "there is nothing to draw: it is not known what the device can do, or no operation's work is",
    "memory": "there is nothing to draw: no allocator is in the recording",
    "steps": "there is nothing to draw: no steps are marked, and no program ran three times in a row",
}

#: The pictures of a profile, by their names.
PROFILE_PICTURES: dict[str, Callable[[Profile], Chart | None]] = {
    "scopes": profile_flame,
    "stacks": lambda record: profile_flame(record, "stack"),
    "timeline": profile_timeline_chart,
    "roofline": roofline_chart,
    "steps": steps_chart,
    "memory": memory_chart,
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
    found = distributions(drawn, "distribution of the samples", marks=(median,))
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
    return shortened([name], 24)[0]


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


def _is_worth_a_curve(record: Benchmark, pipelined: Trial) -> bool:
    """Whether calls that are not waited for are told apart from the others, and lie within the same picture."""
    median = statistics.median(pipelined.calls_ns)
    low = (record.interval_ns or (0.0, 0.0))[0]
    return len(pipelined.samples_ns) >= 6 and 0.5 * record.median_ns <= median < min(low, 0.98 * record.median_ns)
