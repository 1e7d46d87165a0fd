"""Link GPU kernels to the driver calls that launched them, and count executions of operations.

One run of an operation may be several kernels: a call of a library, a sort. The profiler ties each kernel to the call
that launched it, and XLA marks on the host from when to when it began an operation, by the operation's name.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ...record.recording import Trace
from ..attribution import Ints

_NOTHING = np.zeros(0, np.int64)


class DriverCalls:
    """The calls of a recording of one host; of several hosts nothing is known, as their numbers are the same."""

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
        numbers, starts, called = map(np.concatenate, zip(*columns, strict=True)) if columns else [_NOTHING] * 3
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
        """Count the executions that some events belong to; ``None`` if the host's marks are missing or overlap.

        Args:
            name: of the operation.
            launches: the calls that the events came of.
        """
        start, end = self._marks_of(name)
        called = self.starts(launches)
        if not len(start) or (called < 0).any() or (start[1:] < end[:-1]).any():  # of several devices at once
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
            begins = np.concatenate([_NOTHING, *(start[each] for each in here)])
            order = np.argsort(begins, kind="stable")
            self._marks[name] = begins[order], np.concatenate([_NOTHING, *(end[each] for each in here)])[order]
        return self._marks[name]

    @cached_property
    def _by_kind(self) -> tuple[Ints, Ints, Ints]:
        """All events of the host, by their kind, with when they began and ended."""
        columns = [(each.kinds, each.start_ps, each.end_ps) for each in self._host]
        kinds, start, end = map(np.concatenate, zip(*columns, strict=True)) if columns else [_NOTHING] * 3
        order = np.argsort(kinds, kind="stable")
        return kinds[order], start[order], end[order]


#: Kernels that copy, as the runtime of AMD names them: in which direction, only the call of the driver tells.
_COPIES = "__amd_rocclr_copybuffer"


def with_calls_of_copies(recording: Trace) -> Trace:
    """Add the driver call, as the fact ``"api"``, to AMD's copy kernels, whose names do not tell the direction."""
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

    Events of one operation that follow each other are one run, or several where all kernels are there several times.

    Args:
        operations: the number of the operation of each event, in the order in which they ran.
        kernels: the number of the kernel of each.

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
