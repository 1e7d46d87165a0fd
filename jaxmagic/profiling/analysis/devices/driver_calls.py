"""Links GPU kernels to the driver calls that launched them, and counts executions of operations.

One execution of an operation, such as a library call or a sort, may be several kernels. The profiler gives a kernel
and the driver call that launched it the same correlation id, and XLA records a host event with the operation's name
while it launches the operation.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ...record.recording import Trace
from ..attribution import Ints, columns_of


class DriverCalls:
    """The driver calls of a trace of one host. Correlation ids of several hosts collide, so there none are known."""

    def __init__(self, recording: Trace) -> None:
        self._by_name: dict[str, list[int]] = {}
        for number, kind in enumerate(recording.kinds):
            self._by_name.setdefault(kind.name, []).append(number)
        self._host = [each for each in recording.tracks if each.role == "host"]
        several = len({each.host for each in recording.kinds}) > 1
        columns = [
            (each.launches[chosen], each.start_ps[chosen], each.kinds[chosen])
            for each in self._host
            if each.launches is not None and not several and (chosen := each.launches > 0).any()
        ]
        numbers, starts, called = columns_of(columns, 3)
        order = np.argsort(numbers, kind="stable")
        self._numbers, self._starts, self._called = numbers[order], starts[order], called[order]
        self._marks: dict[str, tuple[Ints, Ints]] = {}

    def starts(self, launches: Ints) -> Ints:
        """Return the start of the driver call that launched each event; -1 if unknown."""
        return self._of(self._starts, launches)

    def kinds(self, launches: Ints) -> Ints:
        """Return the kind of the driver call that launched each event; -1 if unknown."""
        return self._of(self._called, launches)

    def _of(self, column: Ints, launches: Ints) -> Ints:
        if not len(self._numbers):
            return np.full(len(launches), -1)
        at = np.minimum(np.searchsorted(self._numbers, launches), len(self._numbers) - 1)
        known = (launches > 0) & (self._numbers[at] == launches)
        return np.where(known, column[at], -1)

    def runs(self, name: str, launches: Ints) -> int | None:
        """Count the executions of some events; ``None`` if the host events of the operation are missing or overlap.

        Args:
            name: the name of the operation.
            launches: the correlation ids of the events.
        """
        start, end = self._marks_of(name)
        called = self.starts(launches)
        if not len(start) or (called < 0).any() or (start[1:] < end[:-1]).any():  # overlap: several devices
            return None
        at = np.searchsorted(start, called, side="right") - 1
        if (at < 0).any() or (called > end[at]).any():
            return None
        return len(np.unique(at))

    def _marks_of(self, name: str) -> tuple[Ints, Ints]:
        if name not in self._marks:
            kinds, start, end = self._by_kind
            here = [
                slice(*np.searchsorted(kinds, (number, number + 1)).tolist())
                for number in self._by_name.get(name, ())
            ]
            begins, ends = columns_of([(start[each], end[each]) for each in here], 2)
            order = np.argsort(begins, kind="stable")
            self._marks[name] = begins[order], ends[order]
        return self._marks[name]

    @cached_property
    def _by_kind(self) -> tuple[Ints, Ints, Ints]:
        """Kinds, start times and end times of all events of the host, sorted by kind."""
        kinds, start, end = columns_of([(each.kinds, each.start_ps, each.end_ps) for each in self._host], 3)
        order = np.argsort(kinds, kind="stable")
        return kinds[order], start[order], end[order]


#: Name of the copy kernels of AMD's runtime; only the driver call shows their direction.
_COPIES = "__amd_rocclr_copybuffer"


def with_calls_of_copies(recording: Trace) -> Trace:
    """Add the driver call, as the statistic ``"api"``, to AMD's copy kernels, whose names lack the direction."""
    copies = [number for number, kind in enumerate(recording.kinds) if kind.name.lower().startswith(_COPIES)]
    if not copies:
        return recording
    calls, kinds = DriverCalls(recording), list(recording.kinds)
    known: dict[tuple[int, int], int] = {}
    tracks = []
    for track in recording.tracks:
        if track.role == "operations" and track.launches is not None and np.isin(track.kinds, copies).any():
            called = np.where(np.isin(track.kinds, copies), calls.kinds(track.launches), -1)
            numbers = track.kinds.copy()
            for pair in np.unique(np.stack([numbers, called])[:, called >= 0], axis=1).T.tolist():
                own, call = pair
                if (own, call) not in known:
                    known[own, call] = len(kinds)
                    stats = {"api": kinds[call].name, **kinds[own].stats}
                    kinds.append(kinds[own]._replace(stats=stats))
                numbers[(track.kinds == own) & (called == call)] = known[own, call]
            track = replace(track, kinds=numbers)
        tracks.append(track)
    return replace(recording, tracks=tuple(tracks), kinds=tuple(kinds))


def runs_in_order(operations: Ints, kernels: Ints) -> dict[int, int]:
    """Count executions of each operation from the order of the events on one stream.

    Consecutive events of one operation are one execution, or N if each of its kernels occurs a multiple of N times.

    Args:
        operations: for each event in order, the number of its operation.
        kernels: for each event in order, the number of its kernel.

    >>> runs_in_order(np.array([0, 0, 0, 1, 1, 1, 1]), np.array([5, 5, 6, 7, 8, 7, 8]))
    {0: 1, 1: 2}
    """
    if not len(operations):
        return {}
    group = np.concatenate([[0], np.cumsum(operations[1:] != operations[:-1])])
    width = int(kernels.max()) + 1
    pairs, counts = np.unique(group * width + kernels, return_counts=True)
    groups = pairs // width
    first = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    runs = np.bincount(operations[np.searchsorted(group, groups[first])], weights=np.gcd.reduceat(counts, first))
    return {each: int(runs[each]) for each in np.flatnonzero(runs).tolist()}
