"""The timings of a session as a reader looks for them: filtered, in an order, in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..benchmarking.record.benchmark import Benchmark
from ..charts.spec import Bar, Bars, Scale
from ..comparison.record.comparison import Comparison
from ..comparison.record.sweep import Sweep
from ..session.kinds import Record
from ..timing import analysis as report
from ..timing.record import Timing
from ..units import TIME_UNITS


class Run(NamedTuple):
    """A timing of the session: of ``%jaxtime`` and ``stopwatch()``, or the first call of something that was repeated.

    Attributes:
        number: of its record in the history.
        name: its code in a line, with what it was if that was no timing.
        timing: the timing.
    """

    number: int
    name: str
    timing: Timing


#: In which order runs are listed.
Order = Literal["newest first", "oldest first", "longest first", "most compiling first"]

ORDERS: tuple[Order, ...] = ("newest first", "oldest first", "longest first", "most compiling first")

#: What the bars are made of: everything, or one part.
STAGES = ("all", "tracing", "lowering", "compilation", "cache retrieval", "host", "wait")

#: What the bars are measured in.
UNITS = ("auto", *TIME_UNITS, "share")


def runs(records: Sequence[Record]) -> list[Run]:
    """All timings in records, oldest first."""
    found = []
    for number, record in enumerate(records):
        if isinstance(record, Timing):
            found.append(Run(number, _in_a_line(record.code), record))
        elif isinstance(record, Benchmark):
            found.append(Run(number, f"{_in_a_line(record.code)} (first call)", record.first_call))
        elif isinstance(record, Comparison):
            found += [Run(number, f"{each.label} (first call)", each.first_call) for each in record.candidates]
        elif isinstance(record, Sweep):
            for point in record.points:
                at = ", ".join(f"{name}={label}" for name, label in record.values(point).items())
                candidates = point.comparison.candidates if point.comparison is not None else ()
                found += [Run(number, f"{each.label} at {at} (first call)", each.first_call) for each in candidates]
    return found


def functions(found: Sequence[Run]) -> list[str]:
    """The names of everything that compiled in some runs, in the order of the alphabet."""
    return sorted({each.function for run in found for each in run.timing.compilations})


def choose(
    found: Sequence[Run], *, text: str = "", function: str | None = None, order: Order = "newest first"
) -> list[Run]:
    """The runs that a reader wants to see.

    Args:
        found: oldest first.
        text: has to be in the code.
        function: has to have compiled.
        order: of the runs.
    """
    kept = [
        run
        for run in found
        if text.lower() in run.name.lower()
        and (function is None or any(each.function == function for each in run.timing.compilations))
    ]
    if order == "longest first":
        return sorted(kept, key=lambda run: -run.timing.wall_ns)
    if order == "most compiling first":
        return sorted(kept, key=lambda run: -run.timing.compile_ns)
    return kept[::-1] if order == "newest first" else kept


def runs_chart(found: Sequence[Run], *, stage: str = "all", function: str | None = None, unit: str = "auto") -> Bars:
    """A bar for each run, stacked of its parts: of the wall time, or of what one function spent on compiling.

    Args:
        found: from top to bottom.
        stage: one of the parts alone, or ``all``.
        function: whose stages; those of the whole run if left out.
        unit: of the axis: one of time, or ``share`` for parts of each run's wall time.

    Raises:
        ValueError: there is none.
    """
    if not found:
        raise ValueError("there is no run to show. Choose less, or time something with %jaxtime")
    bars = []
    for run in found:
        parts = _parts(run.timing) if function is None else _stages(run.timing, function)
        whole = (run.timing.wall_ns or 1) if unit == "share" else 1
        shown = tuple((name, size / whole) for name, size in parts if stage in ("all", name))
        bars.append(Bar(name=f"[{run.number}] {run.name}", parts=shown))
    longest = max(sum(size for _, size in bar.parts) for bar in bars)
    label = "time" if stage == "all" else stage
    if function is not None:
        label = f"{label} of {function}"
    return Bars(
        title="where the time of the runs went",
        x=_axis(label, longest, unit),
        bars=tuple(bars),
        order=STAGES[1:],
    )


def _axis(label: str, longest: float, unit: str) -> Scale:
    if unit == "share":
        return Scale(label=f"{label}, share of the wall time", quantity="share", low=0.0, high=max(0.01, longest))
    chosen = None if unit == "auto" else unit
    return Scale(label=label, quantity="time", low=0.0, high=max(1.0, longest), unit=chosen)


def _parts(timing: Timing) -> list[tuple[str, float]]:
    """The parts of the wall time; dispatch without compiling is the host's, so that the runs have the same parts."""
    return [("host" if p.name == "dispatch" else p.name, float(p.time_ns)) for p in report.parts(timing)]


def _stages(timing: Timing, function: str) -> list[tuple[str, float]]:
    named = {"tracing": 0.0, "lowering": 0.0, "compilation": 0.0, "cache retrieval": 0.0}
    for each in timing.compilations:
        if each.function == function:
            named["tracing"] += each.tracing_ns
            named["lowering"] += each.lowering_ns
            named["compilation"] += each.compilation_ns
            named["cache retrieval"] += each.cache_retrieval_ns
    return [(name, time_ns) for name, time_ns in named.items() if time_ns]


def _in_a_line(code: str | None) -> str:
    return " ".join((code or "").split()) or "(no code)"
