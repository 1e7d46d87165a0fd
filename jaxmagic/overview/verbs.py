"""Live views of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..session.verbs import history
from ..session.view_of import view_of
from ..tracebacks import of_the_user

if TYPE_CHECKING:
    from ipywidgets import VBox


@of_the_user
def explore(record: object = None, *beside: object) -> VBox:
    """Open a live view of a record with ipywidgets.

    The view depends on the record:

    - The session's history, without an argument: a bar for each run, by stage, unit and order, and the report of the
      chosen run.
    - A comparison: ratios, times, distributions, or memory against time; a choice of baseline, metric, statistic and
      candidates; and measuring again.
    - A benchmark: its distribution, or its calls in order.
    - A sweep: its times, its memory against time, or the comparison at one of its points.
    - A memory profile: the memory map of each program, by kind or by source line and in a unit of choice, alone or
      beside the map of another program or profile, with zoom and a cursor that lists the buffers needed at a step;
      memory used during the run; live arrays; and array memory after each cell of the session.
    - Live arrays, as ``live()`` lists them: their treemap, and array memory after each cell.
    - A profile: device time by scope or by call stack; the timeline, with zoom and search; the roofline; the
      steps; and memory.

    Args:
        record: the record to show; the history by default.
        beside: memory profiles or programs to compare a memory profile with.

    Returns:
        The widget; a notebook shows it if it is the last value of a cell. It also keeps the report, which is all that
        it can show without a kernel, and which is hidden while the view shows the same.

    Raises:
        TypeError: `record` is not a record, or `beside` cannot be compared with it.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch():
    ...     pass
    >>> type(jaxmagic.explore()).__name__
    'HistoryView'
    """
    shown = history() if record is None else record
    view = view_of(shown, *beside)
    view.saved = (shown, *beside)
    return view
