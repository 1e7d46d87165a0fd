"""Live views of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.benchmark import Benchmark
from ..model.comparison import Comparison
from ..model.history import History, Record
from ..model.memory import Executable, MemoryProfile
from ..model.sweep import Sweep
from ..model.timing import Timing
from .session import history

if TYPE_CHECKING:
    from ipywidgets import VBox


def explore(record: Record | Executable | History | None = None) -> VBox:
    """A live view with ipywidgets: controls, and what they show.

    Without an argument it is of the session's history: bars of all runs, which part of them, in which unit and order,
    and the report of the run that is chosen. Of a comparison: the baseline, the metric, the statistic, which
    candidates, and measuring again. Of a benchmark: the distribution, or the calls in their order. Of a sweep: its
    points. Of a memory profile: the map of each program, by kind or by source line, and what is needed at each step.

    Args:
        record: what to look at; the history if left out.

    Returns:
        The widget; a notebook shows it where it is the last value of a cell.

    Raises:
        TypeError: `record` is no record.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch():
    ...     pass
    >>> type(jaxmagic.explore()).__name__
    'HistoryView'
    """
    from ..widgets.benchmark import BenchmarkView
    from ..widgets.comparison import ComparisonView
    from ..widgets.history import HistoryView
    from ..widgets.memory import MemoryView
    from ..widgets.sweep import SweepView

    if record is None or record is history():
        return HistoryView(list(history()))
    if isinstance(record, Timing | History):
        return HistoryView([record] if isinstance(record, Timing) else list(record))
    views: dict[type, type[VBox]] = {
        Benchmark: BenchmarkView,
        Comparison: ComparisonView,
        Sweep: SweepView,
        MemoryProfile: MemoryView,
        Executable: MemoryView,
    }
    if type(record) not in views:
        raise TypeError(
            f"explore() takes a record, or nothing for the session's history; found {type(record).__name__}"
        )
    return views[type(record)](record)
