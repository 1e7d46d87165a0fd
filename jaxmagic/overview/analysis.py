"""Filter and sort the timings of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..benchmarking.record.benchmark import Benchmark
from ..comparison.record.comparison import Comparison
from ..comparison.record.sweep import Sweep
from ..compilation.record.compilation import STAGES
from ..session.record import Record
from ..timing.record import Timing
from ..units import TIME_UNITS


class Run(NamedTuple):
    """A timing of the session, from ``%jaxtime`` or ``stopwatch()``, or of the first call in a repeated measurement.

    Attributes:
        number: the number of its record in the history.
        name: its code on one line, or the name of the candidate; with a remark if it is a first call.
        timing: the timing.
    """

    number: int
    name: str
    timing: Timing


#: The orders in which runs can be listed.
Order = Literal["newest first", "oldest first", "longest first", "most compiling first"]

ORDERS: tuple[Order, ...] = ("newest first", "oldest first", "longest first", "most compiling first")

#: The parts that bars can show: all, or one of them.
PARTS = ("all", *(name for name, _ in STAGES), "host", "wait")

#: The units of the bars.
UNITS = ("auto", *TIME_UNITS, "share")


def runs(records: Sequence[Record]) -> list[Run]:
    """Return all timings in `records`, oldest first."""
    timings = []
    for number, record in enumerate(records):
        if isinstance(record, Timing):
            timings.append(Run(number, _in_a_line(record.code), record))
        elif isinstance(record, Benchmark):
            timings.append(Run(number, f"{_in_a_line(record.code)} (first call)", record.first_call))
        elif isinstance(record, Comparison):
            timings += [Run(number, f"{each.label} (first call)", each.first_call) for each in record.candidates]
        elif isinstance(record, Sweep):
            for point in record.points:
                at = ", ".join(f"{name}={label}" for name, label in record.values(point).items())
                candidates = point.comparison.candidates if point.comparison is not None else ()
                timings += [Run(number, f"{each.label} at {at} (first call)", each.first_call) for each in candidates]
    return timings


def functions(runs: Sequence[Run]) -> list[str]:
    """Return the names of all functions that compiled in some runs, in alphabetical order."""
    return sorted({each.function for run in runs for each in run.timing.compilations})


def choose(
    runs: Sequence[Run], *, text: str = "", function: str | None = None, order: Order = "newest first"
) -> list[Run]:
    """Filter and sort runs.

    Args:
        runs: the runs, oldest first.
        text: text that the code of a run has to contain.
        function: a function that a run has to have compiled.
        order: the order of the result.
    """
    kept = [
        run
        for run in runs
        if text.lower() in run.name.lower()
        and (function is None or any(each.function == function for each in run.timing.compilations))
    ]
    if order == "longest first":
        return sorted(kept, key=lambda run: -run.timing.wall_ns)
    if order == "most compiling first":
        return sorted(kept, key=lambda run: -run.timing.compile_ns)
    return kept[::-1] if order == "newest first" else kept


def _in_a_line(code: str | None) -> str:
    return " ".join((code or "").split()) or "(no code)"
