"""The stretches of a recording that count: its runs, or all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..record.recording import Trace, TraceLine
from .attribution import Ints
from .classify_ops import is_ours

#: How far apart the clocks of threads and devices may be.
SKEW_PS = 10**9


class Window(NamedTuple):
    """From when to when, in picoseconds since the recording began."""

    start_ps: int
    end_ps: int


def from_first_to_last(tracks: Sequence[TraceLine]) -> list[Window]:
    """From the first event of some tracks to the end of the last; none if there are none."""
    if not tracks:
        return []
    return [Window(min(int(each.start_ps[0]) for each in tracks), max(int(each.end_ps.max()) for each in tracks))]


def within(start: Ints, end: Ints, windows: Sequence[Window]) -> tuple[Ints, Ints, Ints]:
    """The parts of events that lie in windows, and which event each is part of.

    An event belongs to the window in which it began, or to one that began right after it: the clocks of threads and
    devices differ. What seems to go on after its window, or to have begun long before one, is not there: a run is
    over when all of it is, and begins when nothing else is under way.
    """
    if len(windows) == 1 and len(start) and windows[0].start_ps <= start[0] and end.max() <= windows[0].end_ps:
        return start, end, np.arange(len(start))
    low, high = np.array(windows, np.int64).reshape(-1, 2).T
    if not len(low):
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, nothing
    mine = np.searchsorted(low, start, side="right") - 1
    mine += (mine < 0) | (start >= high[np.maximum(mine, 0)])
    chosen = np.flatnonzero((mine < len(low)) & (start >= low[np.minimum(mine, len(low) - 1)] - SKEW_PS))
    mine = mine[chosen]
    start, end = np.maximum(start[chosen], low[mine]), np.minimum(end[chosen], high[mine])
    there = end > start
    return start[there], end[there], chosen[there]


def moved(recording: Trace, marks: Sequence[Window], clocked: Sequence[tuple[int, int]]) -> Iterator[Window]:
    """Runs within their marks, each moved until it holds its operations.

    Args:
        recording: in which these are.
        marks: from when to when each run lasted at most.
        clocked: how long after its mark each began, and how long it took, in nanoseconds.
    """
    first, last = _operations_within(recording, marks)
    for number, (mark, (after_ns, took_ns)) in enumerate(zip(marks, clocked, strict=False)):
        took_ps = min(took_ns * 1000, mark.end_ps - mark.start_ps)
        start = min(max(mark.start_ps + after_ns * 1000, last[number] - took_ps), first[number])
        start = max(min(start, mark.end_ps - took_ps), mark.start_ps)
        yield Window(start, start + took_ps)


def _operations_within(recording: Trace, marks: Sequence[Window]) -> tuple[list[int], list[int]]:
    """Find when the first operation within each mark began, and when the last ended.

    Its end and start without any.
    """
    low, high = np.array(marks, np.int64).reshape(-1, 2).T
    first, last = high.copy(), low.copy()
    ours = np.array([is_ours(each) for each in recording.kinds], bool)
    for track in recording.tracks if len(low) else ():
        if track.role == "operations":
            at = np.searchsorted(low, track.start_ps, side="right") - 1
            here = (at >= 0) & (track.end_ps <= high[np.maximum(at, 0)]) & ~ours[track.kinds]
            np.minimum.at(first, at[here], track.start_ps[here])
            np.maximum.at(last, at[here], track.end_ps[here])
    return first.tolist(), last.tolist()
