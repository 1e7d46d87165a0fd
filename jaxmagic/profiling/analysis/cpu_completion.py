"""Reconstructs when operations of the CPU completed: many continue in other threads after their events have ended.

An event of the CPU shows how long the thread was busy that started the operation. Matrix products and parallel
kernels then continue in other threads without events. The thread that completes the last part continues with the
operations that waited for it, and then records a marker, such as ``end: dot.4``, with a flow id that ties it to the
operation. So an operation completed when that thread started the first of the consecutive operations before the
marker, or else at the marker; and in any case before any user of its result started.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...records.note import note
from ...xla.hlo import HloModule
from ..record.recording import EventMetadata, ProgramKey, Trace, TraceLine
from .attribution import Ints, columns_of
from .classify_ops import is_ours
from .op_users import dependents

#: What the names of end markers begin with; the name of the operation follows.
MARK = "end: "

#: Operations of a thread with smaller gaps between them are consecutive: each started the next.
_AT_ONCE_PS = 100 * 10**6

#: An operation that outlasts its event by less keeps its recorded end.
_WORTH_PS = 10**6

#: Name of the line with the operations that outlast their events.
SEVERAL_THREADS = "several threads"


def with_ends(recording: Trace) -> Trace:
    """Return the trace with the ends of CPU operations as their markers show them.

    Operations that outlast their events are moved to a line of their own, :data:`SEVERAL_THREADS`. Operations without
    an end marker, as at the edges of a recording, keep their recorded ends, and a note has their number.
    """
    hosts: dict[str, list[TraceLine]] = {}
    others = []
    for track in recording.tracks:
        if len(track.kinds) and (track.device is None or is_cpu(track.device)):
            hosts.setdefault(recording.kinds[track.kinds[0]].host, []).append(track)
        else:
            others.append(track)
    completions = [completed(each, recording.kinds, recording.modules) for each in hosts.values()]
    notes = recording.notes
    if unknown := sum(each.unknown for each in completions):
        notes = (*notes, note("profiling.no_recorded_end", operations=unknown))
    tracks = (track for each in completions for track in each.tracks)
    return replace(recording, tracks=(*others, *tracks), notes=notes)


def is_cpu(device: str) -> bool:
    """Return whether a device is a CPU, of any host.

    >>> is_cpu("CPU:0"), is_cpu("host-a CPU:1"), is_cpu("GPU:0")
    (True, True, False)
    """
    return device.rpartition(" ")[2].startswith("CPU:")


class Completed(NamedTuple):
    """Lines of one host, with reconstructed ends.

    Attributes:
        tracks: the lines; operations that outlast their events are on a line of their own.
        unknown: the number of operations without an end marker.
    """

    tracks: tuple[TraceLine, ...]
    unknown: int


def completed(
    tracks: Sequence[TraceLine], kinds: Sequence[EventMetadata], modules: Mapping[ProgramKey, HloModule]
) -> Completed:
    """Reconstruct when operations completed.

    Args:
        tracks: the threads of one host.
        kinds: metadata of the events of the trace.
        modules: the compiled modules that are known.
    """
    mine = [each for each in tracks if each.device is not None]
    threads = {name: number for number, name in enumerate(dict.fromkeys(each.name for each in tracks))}
    devices = list(dict.fromkeys(each.device for each in mine))
    operations, marks = (_events(each, threads, devices) for each in (mine, _marks(tracks, kinds)))
    mark = _mark_of_each(operations, marks)
    ours = np.array([is_ours(each) for each in kinds], bool)
    unknown = int(((mark < 0) & (operations.flow != 0) & ~ours[operations.kind]).sum()) if len(mark) else 0
    end = _ends(operations, marks, mark)
    if not (end - operations.end > _WORTH_PS).any():
        return Completed(tuple(tracks), unknown)
    end = _bounded(end, operations, kinds, modules)
    longer = end - operations.end > _WORTH_PS
    parts = np.split(~longer, np.cumsum([len(each.kinds) for each in mine])[:-1])
    kept = (_chosen(each, part) for each, part in zip(mine, parts, strict=True))
    lines = (
        *(each for each in tracks if each.device is None),
        *(each for each in kept if len(each.kinds)),
        *_apart(operations, end, longer, devices),
    )
    return Completed(lines, unknown)


class _Events(NamedTuple):
    """Events in columns; ``flow`` ties an end marker to its operation."""

    thread: Ints
    device: Ints
    kind: Ints
    flow: Ints
    execution: Ints
    start: Ints
    end: Ints

    def where(self, chosen: NDArray[np.integer] | NDArray[np.bool_]) -> _Events:
        return _Events(*(each[chosen] for each in self))


def _marks(tracks: Sequence[TraceLine], kinds: Sequence[EventMetadata]) -> list[TraceLine]:
    is_mark = np.array([each.name.startswith(MARK) for each in kinds], bool)
    return [_chosen(each, is_mark[each.kinds]) for each in tracks if each.device is None]


def _events(tracks: Sequence[TraceLine], threads: dict[str, int], devices: Sequence[str | None]) -> _Events:
    columns = [
        (
            np.full(len(each.kinds), threads[each.name]),
            np.full(len(each.kinds), -1 if each.device is None else devices.index(each.device)),
            each.kinds,
            np.zeros(len(each.kinds), np.int64) if each.flows is None else each.flows,
            np.zeros(len(each.kinds), np.int64) if each.executions is None else each.executions,
            each.start_ps,
            each.end_ps,
        )
        for each in tracks
    ]
    return _Events(*columns_of(columns, len(_Events._fields)))


def _chosen(track: TraceLine, mask: NDArray[np.bool_]) -> TraceLine:
    return replace(
        track,
        kinds=track.kinds[mask],
        start_ps=track.start_ps[mask],
        end_ps=track.end_ps[mask],
        flows=None if track.flows is None else track.flows[mask],
        executions=None if track.executions is None else track.executions[mask],
        launches=None if track.launches is None else track.launches[mask],
        held_bytes=None if track.held_bytes is None else track.held_bytes[mask],
        graph_nodes=None if track.graph_nodes is None else track.graph_nodes[mask],
    )


def _apart(
    operations: _Events, end: Ints, longer: NDArray[np.bool_], devices: Sequence[str | None]
) -> Iterator[TraceLine]:
    for number, device in enumerate(devices):
        here = np.flatnonzero(longer & (operations.device == number))
        here = here[np.lexsort((-end[here], operations.start[here]))]
        if len(here):
            yield TraceLine(
                name=SEVERAL_THREADS,
                device=device,
                role="operations",
                kinds=operations.kind[here],
                start_ps=operations.start[here],
                end_ps=end[here],
                executions=operations.execution[here],
            )


def _ends(operations: _Events, marks: _Events, mark: Ints) -> Ints:
    """Find when each operation completed; one that completed within its event, or has no marker, keeps its end."""
    done = operations.end.copy()
    late = np.flatnonzero(mark >= 0)
    late = late[marks.start[mark[late]] > operations.end[late]]
    marks = marks.where(mark[late])
    ran = _by_thread(operations)
    for key, mine in _by_thread(marks._replace(device=operations.device[late])).items():
        of, at = late[mine], marks.start[mine]
        here = ran.get(key)
        if here is None:
            done[of] = at
            continue
        start, end = operations.start[here], operations.end[here]
        # An operation of this thread must have ended; one of another thread must only have started.
        since = np.where(operations.thread[of] == marks.thread[mine], operations.end[of], operations.start[of] + 1)
        first = np.maximum(_first_of_run(start, end, at), np.searchsorted(start, since))
        begun = np.where(first < len(start), start[np.minimum(first, len(start) - 1)], at)
        done[of] = np.minimum(at, begun)
    return done


def _bounded(
    done: Ints, operations: _Events, kinds: Sequence[EventMetadata], modules: Mapping[ProgramKey, HloModule]
) -> Ints:
    """Limit each end to the start of the first user of the result in the same execution."""
    end = done.copy()
    late = np.flatnonzero(done > operations.end)
    by_kind = _parts(late, operations.kind[late])
    waiting = dependents(kinds, modules, by_kind)
    wanted = np.zeros(len(kinds), bool)
    wanted[[each for users in waiting.values() for each in users]] = True
    events = np.flatnonzero(wanted[operations.kind])
    order, execution = _in_executions(operations, np.concatenate([late, events]))
    begun = _parts(events, operations.kind[events])
    for kind, mine in by_kind.items():
        for waited in (begun[each] for each in waiting[kind] if each in begun):
            waited = waited[np.argsort(order[waited])]
            at = np.searchsorted(order[waited], order[mine], side="right")
            there = at < len(waited)
            there[there] = execution[waited[at[there]]] == execution[mine[there]]
            of = mine[there]
            end[of] = np.minimum(end[of], operations.start[waited[at[there]]])
    return end


def _in_executions(operations: _Events, chosen: Ints) -> tuple[Ints, Ints]:
    """Return the position of each chosen operation, ordered by execution and then by start, and its execution."""
    _, execution = np.unique(operations.execution[chosen], return_inverse=True)
    _, start = np.unique(operations.start[chosen], return_inverse=True)
    order, executions = np.zeros(len(operations.start), np.int64), np.zeros(len(operations.start), np.int64)
    order[chosen] = execution * (len(chosen) + 1) + start
    executions[chosen] = execution
    return order, executions


def _mark_of_each(operations: _Events, marks: _Events) -> Ints:
    """Return the index of the end marker of each operation, or -1."""
    order = np.argsort(marks.flow, kind="stable")
    flows = marks.flow[order]
    at = np.searchsorted(flows, operations.flow)
    there = np.flatnonzero((operations.flow != 0) & (at < len(flows)))
    there = there[flows[at[there]] == operations.flow[there]]
    mark = np.full(len(operations.flow), -1)
    mark[there] = order[at[there]]
    return mark


def _parts(numbers: Ints, keys: Ints) -> dict[int, Ints]:
    """Group numbers by their keys; each group keeps their order."""
    order = np.argsort(keys, kind="stable")
    values, first = np.unique(keys[order], return_index=True)
    return dict(zip(values.tolist(), np.split(numbers[order], first[1:]), strict=True)) if len(numbers) else {}


def _by_thread(events: _Events) -> dict[tuple[int, int], Ints]:
    """Return the indices of the events of each thread and device, ordered by start."""
    order = np.lexsort((events.start, events.device, events.thread))
    thread, device = events.thread[order], events.device[order]
    first = np.flatnonzero((np.diff(thread) != 0) | (np.diff(device) != 0)) + 1
    parts = (each for each in np.split(order, first) if len(each))
    return {(int(events.thread[each[0]]), int(events.device[each[0]])): each for each in parts}


def _first_of_run(start: Ints, end: Ints, at: Ints) -> Ints:
    """Find the first of the consecutive events that end at each time; the next event if none ends there."""
    latest = np.maximum.accumulate(end)
    begins = np.concatenate([[True], start[1:] - latest[:-1] > _AT_ONCE_PS])
    first = np.maximum.accumulate(np.where(begins, np.arange(len(start)), 0))
    last = np.searchsorted(start, at, side="right") - 1
    there = (last >= 0) & (latest[np.maximum(last, 0)] >= at - _AT_ONCE_PS)
    return np.where(there, first[np.maximum(last, 0)], last + 1)
