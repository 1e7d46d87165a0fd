"""When operations of the CPU were really done: many go on in other threads after their events have ended.

The CPU's events tell how long the thread was busy that began an operation. Products of matrices, and kernels that are
divided among threads, are then worked on elsewhere, and no event says so. But the thread that does the last part
goes on with what has waited for it, and then marks the end: ``end: dot.4``. So an operation was done when that thread
began the first of the operations that it ran one after the other up to the mark, or else at the mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.recording import EventKind, Track
from .attribution import Ints
from .recorded import OURS

#: What a mark is called before the name of its operation.
MARK = "end: "

#: Operations that follow each other on a thread as fast as this were begun by one another.
_AT_ONCE_PS = 100 * 10**6

#: What an operation took longer than its event, for that to count.
_WORTH_PS = 10**6


def completed(tracks: Sequence[Track], kinds: Sequence[EventKind]) -> tuple[Track, ...]:
    """The same tracks; operations of the CPU that went on longer than their events lie on one of their own.

    Of several devices of one host the marks do not tell whose they are: then nothing is changed. Devices on which
    programs of ours alone ran do not count.
    """
    ours = np.array([OURS in str(each.facts.get("hlo_module")) for each in kinds], bool)
    devices = {each.device for each in tracks if _is_cpu(each) and not ours[each.kinds].all()}
    if len(devices) != 1:
        return tuple(tracks)
    (device,) = devices
    mine = [each for each in tracks if _is_cpu(each) and each.device == device]
    threads = {name: number for number, name in enumerate(dict.fromkeys(each.name for each in tracks))}
    operations = _operations(mine, kinds, threads)
    end = _ends(operations, _marks(tracks, kinds, threads), len(threads))
    longer = end - operations.end > _WORTH_PS
    if not longer.any():
        return tuple(tracks)
    parts = np.split(~longer, np.cumsum([len(each.kinds) for each in mine])[:-1])
    kept = [_chosen(each, part) for each, part in zip(mine, parts, strict=True)]
    order = np.lexsort((-end[longer], operations.start[longer]))
    apart = Track(
        name="several threads",
        device=device,
        role="operations",
        kinds=operations.kind[longer][order],
        start_ps=operations.start[longer][order],
        end_ps=end[longer][order],
    )
    others = [each for each in tracks if not any(each is one for one in mine)]
    return (*others, *(each for each in kept if len(each.kinds)), apart)


class _Events(NamedTuple):
    """Events in columns: which thread each was on, its kind, the number of its operation's name, and its time."""

    thread: Ints
    kind: Ints
    name: Ints
    start: Ints
    end: Ints


def _is_cpu(track: Track) -> bool:
    return track.role == "operations" and track.device is not None and "CPU:" in track.device


def _operations(tracks: Sequence[Track], kinds: Sequence[EventKind], threads: dict[str, int]) -> _Events:
    names = np.array([hash(str(each.facts.get("hlo_op"))) for each in kinds], np.int64)
    return _events(tracks, names, threads)


def _marks(tracks: Sequence[Track], kinds: Sequence[EventKind], threads: dict[str, int]) -> _Events:
    is_mark = np.array([each.name.startswith(MARK) for each in kinds], bool)
    names = np.array([hash(each.name.removeprefix(MARK)) for each in kinds], np.int64)
    host = (each for each in tracks if each.role == "host")
    return _events([_chosen(each, is_mark[each.kinds]) for each in host], names, threads)


def _events(tracks: Sequence[Track], names: Ints, threads: dict[str, int]) -> _Events:
    columns = [
        (np.full(len(each.kinds), threads[each.name]), each.kinds, names[each.kinds], each.start_ps, each.end_ps)
        for each in tracks
    ]
    if not columns:
        nothing = np.zeros(0, np.int64)
        return _Events(nothing, nothing, nothing, nothing, nothing)
    return _Events(*(np.concatenate(each) for each in zip(*columns, strict=True)))


def _chosen(track: Track, mask: NDArray[np.bool_]) -> Track:
    return replace(track, kinds=track.kinds[mask], start_ps=track.start_ps[mask], end_ps=track.end_ps[mask])


def _ends(operations: _Events, marks: _Events, threads: int) -> Ints:
    """When each operation was done; when its event ended, where nothing else is known."""
    done = operations.end.copy()
    mark = _mark_of_each(operations, marks)
    for thread in range(threads):
        here = np.flatnonzero(operations.thread == thread)
        here = here[np.argsort(operations.start[here], kind="stable")]
        start, end = operations.start[here], operations.end[here]
        mine = np.flatnonzero((mark >= 0) & (marks.thread[np.maximum(mark, 0)] == thread)) if len(marks.name) else ()
        if not len(mine):
            continue
        at = marks.start[mark[mine]]
        # What began on another thread was begun before, what began on this one has to be over.
        since = np.where(operations.thread[mine] == thread, operations.end[mine], operations.start[mine] + 1)
        first = np.maximum(_first_of_run(start, end, at), np.searchsorted(start, since))
        begun = np.where(first < len(start), start[np.minimum(first, len(start) - 1)], at) if len(start) else at
        done[mine] = np.maximum(operations.end[mine], np.minimum(at, begun))
    return done


def _first_of_run(start: Ints, end: Ints, at: Ints) -> Ints:
    """Which event begins the run, one behind the other, that ends at a moment; the next one if none does."""
    if not len(start):
        return np.zeros(len(at), np.int64)
    latest = np.maximum.accumulate(end)
    begins = np.concatenate([[True], start[1:] - latest[:-1] > _AT_ONCE_PS])
    first = np.maximum.accumulate(np.where(begins, np.arange(len(start)), 0))
    last = np.searchsorted(start, at, side="right") - 1
    there = (last >= 0) & (latest[np.maximum(last, 0)] >= at - _AT_ONCE_PS)
    return np.where(there, first[np.maximum(last, 0)], last + 1)


def _mark_of_each(operations: _Events, marks: _Events) -> Ints:
    """The number of each operation's mark, or -1.

    The first run of an operation has the first mark of its name, and so on. Where there are more of the one than of
    the other, as at the edges of a recording, none has any.
    """
    found = np.full(len(operations.name), -1)
    for here, there in _pairs(operations.name, marks.name, operations.start, marks.start):
        if len(here) == len(there) and (marks.start[there] >= operations.start[here]).all():
            found[here] = there
    return found


def _pairs(ours: Ints, theirs: Ints, our_start: Ints, their_start: Ints) -> Iterator[tuple[Ints, Ints]]:
    """For every key that both have, the numbers of those that have it, by their starts."""
    groups = []
    for key, start in ((ours, our_start), (theirs, their_start)):
        order = np.lexsort((start, key))
        values, first = np.unique(key[order], return_index=True)
        groups.append(dict(zip(values.tolist(), np.split(order, first[1:]), strict=True)) if len(order) else {})
    one, other = groups
    for value in one.keys() & other.keys():
        yield one[value], other[value]
