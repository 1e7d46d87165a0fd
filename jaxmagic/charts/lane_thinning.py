"""Reduces lanes to what is visible: their longest events, or the dominant kind in each stretch of the axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import units
from .lanes import Lane, Lanes

#: The minimum share of a stretch that a kind of event fills to be drawn strongly.
_STRONG = 0.3

#: Smaller shares may be errors of rounding.
_LEAST = 1e-9

Floats = NDArray[np.float64]


class Run(NamedTuple):
    """Consecutive stretches that are drawn alike.

    Attributes:
        row: the row of the lane.
        kind: the kind of events that fills most of them.
        strong: whether it is drawn strongly.
        low: where the first stretch begins.
        high: where the last stretch ends.
    """

    row: int
    kind: int
    strong: bool
    low: float
    high: float


def longest(chart: Lanes, share: float) -> Lanes:
    """Keep about this share of the events, the longest ones, and add a note about it."""
    lengths = np.concatenate([np.array(lane.length, np.int64) for lane in chart.lanes])
    left_out = len(lengths) - int(share * len(lengths))
    dropped = np.zeros(len(lengths), bool)
    dropped[np.argsort(lengths, kind="stable")[:left_out]] = True
    limit = int(lengths[dropped].max())
    kept = np.split(~dropped, np.cumsum([len(lane.length) for lane in chart.lanes])[:-1])
    note = f"{units.count(left_out, 'event')} of {units.time(limit)} or less left out to keep the page small"
    return replace(
        chart,
        lanes=tuple(
            _only(lane, np.flatnonzero(mine).tolist())
            for lane, mine in zip(chart.lanes, kept, strict=True)
            if mine.any()
        ),
        note="; ".join(filter(None, [chart.note, note])),
    )


def _only(lane: Lane, kept: Sequence[int]) -> Lane:
    """Keep some events of a lane, and the rows that these are in."""
    rows = {row: number for number, row in enumerate(sorted({lane.row[place] for place in kept}))}
    return replace(
        lane,
        rows=len(rows),
        row=tuple(rows[lane.row[place]] for place in kept),
        start=tuple(lane.start[place] for place in kept),
        length=tuple(lane.length[place] for place in kept),
        called=tuple(lane.called[place] for place in kept),
    )


def lane_runs(chart: Lanes, lane: Lane, count: int) -> Iterator[Run]:
    """Yield what is drawn of a lane if its axis is divided into `count` stretches; no event is too short for it."""
    kinds = np.array([each.kind for each in chart.called], np.int64)[np.array(lane.called, np.int64)]
    start = np.array(lane.start, float) * count / chart.x.high
    end = start + np.array(lane.length, float) * count / chart.x.high
    row = np.array(lane.row, np.int64)
    for number in range(lane.rows):
        mine = [(row == number) & (kinds == kind) for kind in range(len(chart.kinds))]
        filled = np.stack([_filled(start[chosen], end[chosen], count) for chosen in mine])
        begun = np.stack([np.histogram(start[chosen], count, (0, count))[0] > 0 for chosen in mine])
        present = filled + _LEAST * begun
        most, share = present.argmax(0).tolist(), present.max(0).tolist()
        style = [(kind, part >= _STRONG) if part >= _LEAST else None for kind, part in zip(most, share, strict=True)]
        at = 0
        for drawn, run in groupby(style):
            after = at + len(list(run))
            if drawn is not None:
                yield Run(number, *drawn, at * chart.x.high / count, after * chart.x.high / count)
            at = after


def _filled(start: Floats, end: Floats, count: int) -> Floats:
    """Return the share that ordered, disjoint events fill of each of `count` stretches of length 1.

    >>> _filled(np.array([0.5, 2.0]), np.array([1.25, 2.5]), 3).tolist()
    [0.5, 0.25, 0.5]
    """
    if not len(start):
        return np.zeros(count)
    edges = np.arange(count + 1)
    total = np.concatenate([[0.0], np.cumsum(end - start)])
    started = np.searchsorted(start, edges, side="left")
    beyond = np.where(started > 0, np.maximum(end[np.maximum(started - 1, 0)] - edges, 0), 0)
    filled: Floats = np.diff(total[started] - beyond)
    return filled
