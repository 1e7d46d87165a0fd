"""Charts of a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..charts.chart_of import Pictured
from ..charts.scale import Scale
from ..charts.spec import Bar, Bars
from ..compilation.record.compilation import STAGES
from ..session.history import History
from ..timing.analysis import parts
from ..timing.record import Timing
from .analysis import PARTS, Run, choose, runs

#: At most this many runs are drawn below each other.
_MOST_BARS = 12


def runs_chart(shown: Sequence[Run], *, stage: str = "all", function: str | None = None, unit: str = "auto") -> Bars:
    """Draw a stacked bar for each run, with the parts of its wall time or the stages of one function's compilations.

    Args:
        shown: the runs, from top to bottom.
        stage: a single part to show, or ``all``.
        function: a function whose stages are shown instead of the whole run.
        unit: the unit of the axis: a unit of time, or ``share`` for shares of each run's wall time.

    Raises:
        ValueError: there are no runs.
    """
    if not shown:
        raise ValueError("there are no runs to show. Widen the filters, or time something with %jaxtime")
    bars = []
    for run in shown:
        parts = _parts(run.timing) if function is None else _stages(run.timing, function)
        whole = (run.timing.wall_ns or 1) if unit == "share" else 1
        drawn = tuple((name, size / whole) for name, size in parts if stage in ("all", name))
        bars.append(Bar(name=f"[{run.number}] {run.name}", parts=drawn))
    longest = max(sum(size for _, size in bar.parts) for bar in bars)
    label = "time" if stage == "all" else stage
    if function is not None:
        label = f"{label} of {function}"
    return Bars(
        title="where the time of the runs went",
        x=_axis(label, longest, unit),
        bars=tuple(bars),
        order=PARTS[1:],
    )


def _axis(label: str, longest: float, unit: str) -> Scale:
    if unit == "share":
        return Scale(label=f"{label}, share of the wall time", quantity="share", low=0.0, high=max(0.01, longest))
    chosen = None if unit == "auto" else unit
    return Scale(label=label, quantity="time", low=0.0, high=max(1.0, longest), unit=chosen)


def _parts(timing: Timing) -> list[tuple[str, float]]:
    return [(each.name, float(each.time_ns)) for each in parts(timing)]


def _stages(timing: Timing, function: str) -> list[tuple[str, float]]:
    its = [each for each in timing.compilations if each.function == function]
    named = ((name, float(sum(getattr(each, field) for each in its))) for name, field in STAGES)
    return [(name, time_ns) for name, time_ns in named if time_ns]


def last_runs(history: History) -> Bars:
    """Draw the last timings, one bar each, in the order in which a live view begins."""
    every = choose(runs(list(history)))
    chart = runs_chart(every[:_MOST_BARS])
    if len(every) == len(chart.bars):
        return chart
    return replace(chart, x=replace(chart.x, label=f"time of the last {len(chart.bars)} of {len(every)} runs"))


CHARTS = {History: {"runs": Pictured(last_runs)}}
