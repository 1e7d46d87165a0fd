"""Divides the time of a device among the operations that it ran, so that the parts add up to it.

On one thread or stream an operation may contain others, as a loop contains its body: then the time belongs to the
innermost. Several threads or streams may be at work at once: then a moment is divided equally among the operations of
the first rank that has any. Computation comes first, because what is hidden behind it costs nothing; what a loop or a
call spans comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Ranks of operations: what computes; what exchanges data with other devices; what copies, or waits for a copy; what
#: goes on beside all operations; callbacks, in which a device waits for the host; and what only runs others.
COMPUTE, COLLECTIVE, COPY, BESIDE, CALLBACK, CONTROL = range(6)
_RANKS = 6

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Segments(NamedTuple):
    """Stretches of time.

    Attributes:
        start: of each.
        end: of each, later than its start.
        event: which event each belongs to.
    """

    start: Ints
    end: Ints
    event: Ints


def innermost(start: Ints, end: Ints) -> Segments:
    """The stretches in which each of some events is the innermost one on its thread.

    Args:
        start: of events, in any order. Where they overlap without lying within each other, they have not run on one
            thread: then each has all of its own time.
        end: of them.

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
    # At each start its own event begins to be the innermost, at each end the one around it.
    times = np.concatenate([start, end])
    owner = np.concatenate([np.arange(len(start)), parent])
    depth_then = np.concatenate([depth, -depth - 1])  # at one moment ends come first, the innermost of them before
    turn = np.lexsort((depth_then, times))
    times, owner = times[turn], owner[turn]
    keep = (owner[:-1] >= 0) & (times[1:] > times[:-1])
    return Segments(times[:-1][keep], times[1:][keep], order[owner[:-1][keep]])


class Busy(NamedTuple):
    """A device's time.

    Attributes:
        share: for each segment, what of the device's time is its own.
        total: for how long the device was at work: what the shares add up to.
        ranks: for how long something of each rank ran.
        exposed: for how long something of each rank ran and nothing of the ranks before it.
    """

    share: Floats
    total: int
    ranks: tuple[int, ...]
    exposed: tuple[int, ...]


def divide(start: Ints, end: Ints, rank: Ints) -> Busy:
    """Divide the time in which a device was at work among the segments of all its threads.

    Args:
        start: of each segment.
        end: of each.
        rank: of each.

    >>> busy = divide(np.array([0, 4, 4]), np.array([6, 8, 9]), np.array([COMPUTE, COMPUTE, COPY]))
    >>> busy.share.tolist(), busy.total, busy.ranks, busy.exposed
    ([5.0, 3.0, 1.0], 9, (8, 0, 5, 0, 0, 0), (8, 0, 1, 0, 0, 0))
    """
    count = len(start)
    if not count:
        return Busy(np.zeros(0), 0, (0,) * _RANKS, (0,) * _RANKS)
    times = np.concatenate([start, end])
    turn = np.argsort(times, kind="stable")
    times = times[turn]
    step = np.diff(times)
    change = np.where(turn < count, 1, -1)
    rank_then = np.concatenate([rank, rank])[turn]
    free = np.ones(len(step), bool)
    share = np.zeros(count)
    place = np.empty(2 * count, np.int64)
    place[turn] = np.arange(2 * count)
    ranks, exposed = [], []
    for each in range(_RANKS):
        running = np.cumsum(np.where(rank_then == each, change, 0))[:-1]
        ranks.append(int(step[running > 0].sum()))
        alone = free & (running > 0)
        exposed.append(int(step[alone].sum()))
        passed = np.concatenate([[0.0], np.cumsum(np.where(alone, step / np.maximum(running, 1), 0.0))])
        mine = np.flatnonzero(rank == each)
        share[mine] = passed[place[count + mine]] - passed[place[mine]]
        free &= running == 0
    return Busy(share, sum(exposed), tuple(ranks), tuple(exposed))


def union_of(start: Ints, end: Ints) -> Segments:
    """The same time without overlaps, in order; ``event`` counts the stretches.

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
    """The stretches of one that lie inside of another, or outside of it; both without overlaps and in order.

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
    """Several one behind the other."""
    return Segments(*(np.concatenate(each) for each in zip(*parts, strict=True)))
