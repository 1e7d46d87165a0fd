"""Live views of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..session.verbs import history
from ..session.view_of import view_of

if TYPE_CHECKING:
    from ipywidgets import VBox


def explore(record: object = None, *beside: object) -> VBox:
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
    return view_of(history() if record is None else record, *beside)
