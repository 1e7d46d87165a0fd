"""The records of a session as tables."""

from __future__ import annotations

from typing import TypeVar

from ..benchmarking.record.benchmark import Benchmark
from ..benchmarking.tables import benchmarks
from ..compilation.tables import compilations
from ..profiling.record.profile import Profile
from ..profiling.tables import profiles
from ..report.table import Table
from ..session.history import History
from ..timing.record import Timing
from ..timing.tables import timings

_Kind = TypeVar("_Kind")


def _of(history: History, kind: type[_Kind]) -> list[_Kind]:
    return [each for each in history if isinstance(each, kind)]


def first(history: History) -> Table:
    """Return the timings of a history; if it has none, the benchmarks or else the profiles."""
    if not _of(history, Timing):
        if found := _of(history, Benchmark):
            return benchmarks(found)
        if others := _of(history, Profile):
            return profiles(others)
    return timings(_of(history, Timing))


TABLES = {
    History: {
        None: first,
        "timings": lambda history: timings(_of(history, Timing)),
        "benchmarks": lambda history: benchmarks(_of(history, Benchmark)),
        "profiles": lambda history: profiles(_of(history, Profile)),
        "compilations": compilations,
    }
}
