"""Keep the records of a session; every verb adds its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import NotMeasured
from ..interrupts import uninterrupted
from ..records.environment import Environment
from ..runtime.environment import probe
from ..tracebacks import of_the_user
from .history import History
from .record import Record

_history = History()

#: Memory notes of the last thousand cells.
_cells: deque[Any] = deque(maxlen=1000)

_Kept = TypeVar("_Kept", bound=Record)


def keep(record: _Kept) -> _Kept:
    """Add `record` to the session's history, without its values, and return it."""
    _history.append(record.without_values())
    return record


@uninterrupted
def take_and_keep(take: Callable[[], _Kept]) -> _Kept:
    """Take a record and add it to the history; no interrupt can come in between and lose it."""
    return keep(take())


def replace_last(record: Record) -> None:
    """Replace the newest record with `record`, which is the same with something added."""
    _history.replace_last(record.without_values())


@of_the_user
def history() -> History:
    """Return the session's records, oldest first: those of magics and of functions that measure.

    The history has at most a thousand records, and none of them holds an array.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch():
    ...     pass
    >>> len(jaxmagic.history()) > 0
    True
    """
    return _history


@of_the_user
def environment() -> Environment:
    """Return the versions, devices and settings of this session: what a report of a problem should state.

    No backend is started for it: if none has been started yet, its device fields are ``None``.

    >>> import jaxmagic
    >>> jaxmagic.environment().jaxmagic == jaxmagic.__version__
    True
    """
    return probe()


@of_the_user
def last() -> Record:
    """Return the newest record of the session: what a magic or a function that measures has made last.

    Raises:
        NotMeasured: nothing has been measured yet.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch() as t:
    ...     pass
    >>> jaxmagic.last() is t.timing
    True
    """
    if not _history:
        raise NotMeasured(
            "Nothing has been measured in this session yet. Run %jaxtime or jaxmagic.stopwatch(). The history has no "
            "record that was read from a file: print(record) shows the whole report of one."
        )
    return _history[-1]


def keep_cell(noted: Any) -> None:
    """Keep the memory note of a cell; the last thousand are kept."""
    _cells.append(noted)


def cells() -> tuple[Any, ...]:
    """Return the memory notes of the last thousand cells that ran while the extension was loaded."""
    return tuple(_cells)
