"""Divides the time of a device among the operations that it ran, so that the parts add up to it.

On one thread or stream an operation may contain others, as a loop contains its body: the time belongs to the
innermost operation. When several threads or streams are busy at once, the moment is divided equally among the
operations of the highest priority. Computation has the highest, because what it hides costs nothing; loops and calls
have the lowest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Priorities, the highest first: computation; collectives; copies and waits for copies; asynchronous operations;
#: callbacks, in which the device waits for the host; and operations that only run others.
COMPUTE, COLLECTIVE, COPY, ASYNC, CALLBACK, CONTROL = range(6)
_PRIORITIES = 6

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Segments(NamedTuple):
    """Segments of time, in columns.

    Attributes:
        start: start times.
        end: end times, each after its start.
        event: indices of the events that the segments belong to.
    """

    start: Ints
    end: Ints
    event: Ints


def innermost(start: Ints, end: Ints) -> Segments:
    """Return the segments in which each event is the innermost one on its thread.

    Args:
        start: start times of the events, in any order. If some overlap without nesting, the events did not run on one
            thread, and each keeps all of its time.
        end: end times of the events.

    >>> [each.tolist() for each in innermost(np.array([0, 2, 4]), np.array([10, 3, 6]))]
    [[0, 2, 3, 4, 6], [2, 3, 4, 6, 10], [0, 1, 0, 2, 0]]
    """
    order = np.lexsort((-end, start))
    order = order[end[order] > start[order]]
    start, end = start[order], end[order]
    if not len(start) or (end[:-1] <= start[1:]).all():
        return Segments(start, end, order)
    depth = np.arange(len(start)) - np.searchsorted(np.sort(end), start, side="right")
    parent = np.full(len(start), -1)
    for level in range(1, int(depth.max()) + 1):
        above, here = np.flatnonzero(depth == level - 1), np.flatnonzero(depth == level)
        if len(above):
            parent[here] = above[np.maximum(np.searchsorted(above, here) - 1, 0)]
    if (end > np.where(parent < 0, end, end[parent])).any():
        return Segments(start, end, order)
    # At its start an event becomes the innermost one, at its end the event around it does.
    times = np.concatenate([start, end])
    owner = np.concatenate([np.arange(len(start)), parent])
    depth_then = np.concatenate([depth, -depth - 1])  # at the same time ends come first, the innermost before others
    turn = np.lexsort((depth_then, times))
    times, owner = times[turn], owner[turn]
    keep = (owner[:-1] >= 0) & (times[1:] > times[:-1])
    return Segments(times[:-1][keep], times[1:][keep], order[owner[:-1][keep]])


class Busy(NamedTuple):
    """Busy time of a device.

    Attributes:
        share: the part of the busy time that belongs to each segment.
        total: the busy time, which the shares add up to.
        priorities: for each priority, how long any of its operations ran.
        exposed: for each priority, how long any of its operations ran and none of a higher priority.
    """

    share: Floats
    total: int
    priorities: tuple[int, ...]
    exposed: tuple[int, ...]


def divide(start: Ints, end: Ints, priority: Ints) -> Busy:
    """Divide the busy time of a device among the segments of all its threads.

    Args:
        start: start times of the segments.
        end: end times of the segments.
        priority: priorities of the segments.

    >>> busy = divide(np.array([0, 4, 4]), np.array([6, 8, 9]), np.array([COMPUTE, COMPUTE, COPY]))
    >>> busy.share.tolist(), busy.total, busy.priorities, busy.exposed
    ([5.0, 3.0, 1.0], 9, (8, 0, 5, 0, 0, 0), (8, 0, 1, 0, 0, 0))
    """
    count = len(start)
    if not count:
        return Busy(np.zeros(0), 0, (0,) * _PRIORITIES, (0,) * _PRIORITIES)
    times = np.concatenate([start, end])
    turn = np.argsort(times, kind="stable")
    times = times[turn]
    step = np.diff(times)
    change = np.where(turn < count, 1, -1)
    priority_then = np.concatenate([priority, priority])[turn]
    free = np.ones(len(step), bool)
    share = np.zeros(count)
    place = np.empty(2 * count, np.int64)
    place[turn] = np.arange(2 * count)
    priorities, exposed = [], []
    for level in range(_PRIORITIES):
        running = np.cumsum(np.where(priority_then == level, change, 0))[:-1]
        priorities.append(int(step[running > 0].sum()))
        alone = free & (running > 0)
        exposed.append(int(step[alone].sum()))
        passed = np.concatenate([[0.0], np.cumsum(np.where(alone, step / np.maximum(running, 1), 0.0))])
        mine = np.flatnonzero(priority == level)
        share[mine] = passed[place[count + mine]] - passed[place[mine]]
        free &= running == 0
    return Busy(share, sum(exposed), tuple(priorities), tuple(exposed))


def union_of(start: Ints, end: Ints) -> Segments:
    """Merge overlapping segments, in order; ``event`` counts the merged ones.

    >>> [each.tolist() for each in union_of(np.array([5, 0, 1]), np.array([6, 2, 3]))]
    [[0, 5], [3, 6], [0, 1]]
    """
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    if not len(start):
        return Segments(start, end, order)
    latest = np.maximum.accumulate(end)
    first = np.concatenate([[True], start[1:] > latest[:-1]])
    begins = np.flatnonzero(first)
    ends = np.concatenate([latest[begins[1:] - 1], latest[-1:]])
    return Segments(start[begins], ends, np.arange(len(begins)))


def overlap(one: Segments, other: Segments, *, inside: bool) -> Segments:
    """Return the parts of one union that lie inside another, or outside it; both in order without overlaps.

    >>> some, others = union_of(np.array([0, 8]), np.array([6, 9])), union_of(np.array([2]), np.array([3]))
    >>> [each.tolist() for each in overlap(some, others, inside=False)][:2]
    [[0, 3, 8], [2, 6, 9]]
    """
    times = np.concatenate([one.start, one.end, other.start, other.end])
    turn = np.argsort(times, kind="stable")
    times = times[turn]
    in_one = np.cumsum(np.repeat([1, -1, 0, 0], [len(one.start)] * 2 + [len(other.start)] * 2)[turn])
    in_other = np.cumsum(np.repeat([0, 0, 1, -1], [len(one.start)] * 2 + [len(other.start)] * 2)[turn])
    chosen = np.flatnonzero((in_one[:-1] > 0) & ((in_other[:-1] > 0) == inside) & (times[1:] > times[:-1]))
    return union_of(times[chosen], times[chosen + 1])


def joined(parts: Sequence[Segments]) -> Segments:
    """Concatenate segments."""
    return Segments(*columns_of(parts, 3))


def columns_of(rows: Sequence[Sequence[Ints]], count: int) -> list[Ints]:
    """Concatenate the columns of tables that have `count` columns each; of no tables, the columns are empty.

    >>> columns_of([(np.array([1, 2]), np.array([3, 4])), (np.array([5]), np.array([6]))], 2)
    [array([1, 2, 5]), array([3, 4, 6])]
    """
    return [np.concatenate([np.zeros(0, np.int64), *(row[at] for row in rows)]) for at in range(count)]
