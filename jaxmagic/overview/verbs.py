"""Live views of records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..benchmarking.record.benchmark import Benchmark
from ..comparison.record.comparison import Comparison
from ..comparison.record.sweep import Sweep
from ..memory_use.record.live_arrays import LiveArrays
from ..memory_use.record.memory_profile import Executable, MemoryProfile
from ..profiling.record.profile import Profile
from ..session.history import History
from ..session.kinds import Record
from ..session.verbs import cells, history
from ..timing.record import Timing

if TYPE_CHECKING:
    from ipywidgets import VBox


def explore(
    record: Record | Executable | LiveArrays | History | None = None, *beside: MemoryProfile | Executable
) -> VBox:
    """A live view with ipywidgets: controls, and what they show.

    Without an argument it is of the session's history: bars of all runs, which part of them, in which unit and order,
    and the report of the run that is chosen. Of a comparison: the baseline, the metric, the statistic, which
    candidates, and measuring again. Of a benchmark: the distribution, or the calls in their order. Of a sweep: its
    points. Of a memory profile: the map of each program, by kind or by source line and in a unit of choice, alone or
    beside that of another program or profile, to zoom into and with a cursor that lists what is needed at a step;
    what was used while it ran; the arrays that are alive; and what arrays took after each cell of the session. Of
    living arrays, as ``live()`` lists them: a treemap of them, and that of the cells. Of a profile: the device time
    by scope or by call stack, the timeline, to zoom into and to search, and the roofline.

    Args:
        record: what to look at; the history if left out.
        beside: memory profiles or programs to compare a memory profile with.

    Returns:
        The widget; a notebook shows it where it is the last value of a cell.

    Raises:
        TypeError: `record` is no record, or `beside` cannot be compared with it.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch():
    ...     pass
    >>> type(jaxmagic.explore()).__name__
    'HistoryView'
    """
    from ..benchmarking.live_view import BenchmarkView
    from ..comparison.live_view.comparison import ComparisonView
    from ..comparison.live_view.sweep import SweepView
    from ..memory_use.live_view import MemoryView
    from ..profiling.live_view import ProfileView
    from .live_view import HistoryView

    if isinstance(record, MemoryProfile | Executable) or (isinstance(record, LiveArrays) and not beside):
        _check_beside(beside)
        return MemoryView(record, *beside, cells=cells())
    if beside:
        raise TypeError(f"explore(): expected a memory profile as the first of several, got {type(record).__name__}")
    if record is None or record is history():
        return HistoryView(list(history()))
    if isinstance(record, Timing | History):
        return HistoryView([record] if isinstance(record, Timing) else list(record))
    views: dict[type, type[VBox]] = {
        Benchmark: BenchmarkView,
        Comparison: ComparisonView,
        Sweep: SweepView,
        Profile: ProfileView,
    }
    if type(record) not in views:
        raise TypeError(
            f"explore(): expected a record, or nothing for the session's history, got {type(record).__name__}"
        )
    return views[type(record)](record)


def _check_beside(beside: Sequence[object]) -> None:
    for each in beside:
        if not isinstance(each, MemoryProfile | Executable):
            raise TypeError(
                f"explore(): expected a memory profile or a program beside the first one, got {type(each).__name__}"
            )
