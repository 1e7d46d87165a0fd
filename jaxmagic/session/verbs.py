"""The records of a session: every verb leaves its own here."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import NotMeasured
from ..interrupts import uninterrupted
from .history import History
from .record import Record

_history = History()

#: What was noted behind the last thousand cells.
_cells: deque[Any] = deque(maxlen=1000)

_Kept = TypeVar("_Kept", bound=Record)


def keep(record: _Kept) -> _Kept:
    """Put `record` into the session's history, there without its values, and give it back."""
    _history.append(record.without_values())
    return record


@uninterrupted
def take_and_keep(take: Callable[[], _Kept]) -> _Kept:
    """Take a record and put it into the history; no interrupt comes in between and loses it."""
    return keep(take())


def replace_last(record: Record) -> None:
    """Put `record` in the place of the newest one, which it is with something added."""
    _history.replace_last(record.without_values())


def history() -> History:
    """The session's records, oldest first: of every magic, of ``stopwatch()`` and of ``benchmark()``.

    Bounded to the last thousand, and without any array.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch():
    ...     pass
    >>> len(jaxmagic.history()) > 0
    True
    """
    return _history


def last() -> Record:
    """The newest record of the session.

    Raises:
        NotMeasured: nothing has been measured yet.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch() as t:
    ...     pass
    >>> jaxmagic.last() is t.timing
    True
    """
    if not _history:
        raise NotMeasured("Nothing has been measured in this session yet. Run %jaxtime or jaxmagic.stopwatch().")
    return _history[-1]


def keep_cell(noted: Any) -> None:
    """Keep what was noted behind a cell, of the last thousand cells."""
    _cells.append(noted)


def cells() -> tuple[Any, ...]:
    """Return what was noted behind each cell in which the extension was loaded, the last thousand of them."""
    return tuple(_cells)
