"""The records of a session: every verb leaves its own here."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from ..errors import NotMeasured
from ..interrupts import uninterrupted
from ..memory_use.record.cells import CellMemory
from ..timing.record import Timing
from .history import History

if TYPE_CHECKING:
    from ..benchmarking.record.benchmark import Benchmark
    from ..comparison.record.comparison import Comparison
    from ..comparison.record.sweep import Sweep
    from .kinds import Record

_history = History()

#: Of the last so many cells it is known what arrays took.
_MOST_CELLS = 1000

_cells: deque[CellMemory] = deque(maxlen=_MOST_CELLS)

_Repeated = TypeVar("_Repeated", bound="Benchmark | Comparison | Sweep")
_Kept = TypeVar("_Kept", bound="Benchmark | Comparison | Sweep | Timing")


def keep(record: _Kept) -> _Kept:
    """Put `record` into the session's history, there without its values, and give it back."""
    _history.append(record if isinstance(record, Timing) else record.without_values())
    return record


@uninterrupted
def take_and_keep(take: Callable[[], _Repeated]) -> _Repeated:
    """Take a record and put it into the history; no interrupt comes in between and loses it."""
    return keep(take())


def replace_last(record: _Repeated) -> None:
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


def note_cell(cell: int) -> None:
    """Note what arrays take behind a cell of the session; nothing where no backend runs."""
    from ..memory_use.capture.usage_readings import array_bytes, started_devices

    with suppress(Exception):  # it is nobody's to hear of behind each of their cells
        devices = started_devices()
        if devices and (found := array_bytes(devices)) is not None:
            _cells.append(CellMemory(cell=cell, array_bytes=found))


def cells() -> tuple[CellMemory, ...]:
    """What arrays took behind each cell in which the extension was loaded, the last thousand of them."""
    return tuple(_cells)
