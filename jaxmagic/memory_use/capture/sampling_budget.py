"""Limits the time that each kind of memory reading takes, and keeps the samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...records.note import Note, note
from ...runtime.clock import Clock

#: Largest share of the time that a kind of reading may take, in processor time.
_SHARE = 0.001


class Reading:
    """One kind of reading: its cost, when the next one is due, and its failure."""

    def __init__(self, what: str, read: Callable[[], Any], cpu_clock: Clock) -> None:
        self.problem: Note | None = None
        self.spent_ns = self.due_ns = 0
        self._what, self._read, self._cpu_clock = what, read, cpu_clock

    def read(self) -> Any:
        """Read the value; ``None`` from the first failure on."""
        if self.problem is None:
            try:
                return self._read()
            except Exception as error:
                self.problem = note("memory_use.reading_failed", source=self._what, error=type(error).__name__)
        return None

    def take(self) -> Any:
        """Read the value, and schedule the next reading so that all of them keep to their share of the time."""
        before_ns = self._cpu_clock()
        value = self.read()
        took_ns = self._cpu_clock() - before_ns
        self.spent_ns += took_ns
        self._make_due(took_ns)
        return value

    def begin(self) -> None:
        """Forget the time spent so far, which is outside of the window; the last reading has shown the cost."""
        self.spent_ns = 0
        self._make_due(self._took_ns)

    def _make_due(self, took_ns: int) -> None:
        self._took_ns = took_ns
        self.due_ns = round((self.spent_ns + took_ns) / _SHARE)


class Samples:
    """The samples: for each time, one entry of each kind."""

    def __init__(self, most: int) -> None:
        self.times: list[int] = []
        self.rss: list[int | None] = []
        self.arrays: list[int | None] = []
        self.devices: dict[str, list[int | None]] = {}
        self.taken = 0
        self._most = most

    @property
    def full(self) -> bool:
        """Whether there is room for one more sample only, the last."""
        return len(self.times) >= self._most - 1

    def add(self, time_ns: int, rss: int | None, arrays: int | None, in_use: dict[str, int] | None) -> None:
        """Append a sample."""
        if in_use:
            for name in in_use.keys() - self.devices.keys():  # devices that have started since
                self.devices[name] = [None] * len(self.times)
        self.times.append(time_ns)
        self.rss.append(rss)
        self.arrays.append(arrays)
        for name, column in self.devices.items():
            column.append(in_use.get(name) if in_use else None)
        self.taken += 1

    def thin(self) -> None:
        """Drop every second sample, except the first and the extremes of each column."""
        columns: list[list[Any]] = [self.rss, self.arrays, *self.devices.values()]
        kept = set(range(0, len(self.times), 2))
        for column in columns:
            known = [each for each in column if each is not None]
            if known:
                kept |= {column.index(max(known)), column.index(min(known))}
        for column in [self.times, *columns]:
            column[:] = [column[index] for index in sorted(kept)]
