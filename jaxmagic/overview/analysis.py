"""The timings of a session as a reader looks for them: filtered, in an order, in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..benchmarking.record.benchmark import Benchmark
from ..comparison.record.comparison import Comparison
from ..comparison.record.sweep import Sweep
from ..session.record import Record
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


def _in_a_line(code: str | None) -> str:
    return " ".join((code or "").split()) or "(no code)"
