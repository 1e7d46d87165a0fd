"""Finds the times of the runs in a trace, and clips events to them."""

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
    """Start and end in picoseconds since the recording began."""

    start_ps: int
    end_ps: int


def from_first_to_last(tracks: Sequence[TraceLine]) -> list[Window]:
    """Return the window from the first event to the end of the last one; none without events."""
    if not tracks:
        return []
    return [Window(min(int(each.start_ps[0]) for each in tracks), max(int(each.end_ps.max()) for each in tracks))]


def within(start: Ints, end: Ints, windows: Sequence[Window]) -> tuple[Ints, Ints, Ints]:
    """Clip events to windows. Returns start times, end times, and the index of each event.

    An event belongs to the window in which it started, or to one that started shortly after, because the clocks of
    threads and devices differ. The time beyond the end of its window is cut off, and events that started long before
    their window are left out: nothing else runs when a run starts, and all of its work is done when it ends.
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
    """Yield the window of each run, moved within its marker until it contains the run's operations.

    Args:
        recording: the trace.
        marks: the markers, which last longer than their runs.
        clocked: for each run, by the stopwatch, the nanoseconds from its marker's start to its own, and its duration.
    """
    first, last = _operations_within(recording, marks)
    for number, (mark, (after_ns, took_ns)) in enumerate(zip(marks, clocked, strict=False)):
        took_ps = min(took_ns * 1000, mark.end_ps - mark.start_ps)
        start = min(max(mark.start_ps + after_ns * 1000, last[number] - took_ps), first[number])
        start = max(min(start, mark.end_ps - took_ps), mark.start_ps)
        yield Window(start, start + took_ps)


def _operations_within(recording: Trace, marks: Sequence[Window]) -> tuple[list[int], list[int]]:
    """Find when the first operation within each marker started, and when the last one ended.

    A marker without operations gives its own end and start.
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
