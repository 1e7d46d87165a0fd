"""The events of lanes as far as they are shown: the longest ones, or what fills each stretch of the axis most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import units
from .lanes import Lane, Lanes

#: From what it fills of a stretch on an event is drawn strongly, and from what on at all.
_STRONG = 0.3
_SEEN = 0.005

Floats = NDArray[np.float64]


class Run(NamedTuple):
    """Stretches in a row that are drawn alike.

    Attributes:
        row: of the lane.
        kind: what fills most of them.
        strong: whether that is a good part of them.
        low: where they begin.
        high: where they end.
    """

    row: int
    kind: int
    strong: bool
    low: float
    high: float


def longest(chart: Lanes, share: float) -> Lanes:
    """The same without the shortest events, so that about this share of them is left; its note says so."""
    lengths = np.concatenate([np.array(each.length, np.int64) for each in chart.lanes])
    left_out = len(lengths) - int(share * len(lengths))
    gone = np.zeros(len(lengths), bool)
    gone[np.argsort(lengths, kind="stable")[:left_out]] = True
    limit = int(lengths[gone].max())
    kept = np.split(~gone, np.cumsum([len(each.length) for each in chart.lanes])[:-1])
    told = f"{units.count(left_out, 'event')} of {units.time(limit)} or less left out to keep the page small"
    return replace(
        chart,
        lanes=tuple(_only(each, np.flatnonzero(mine).tolist()) for each, mine in zip(chart.lanes, kept, strict=True)),
        note="; ".join(filter(None, [chart.note, told])),
    )


def _only(lane: Lane, kept: Sequence[int]) -> Lane:
    return replace(
        lane,
        row=tuple(lane.row[place] for place in kept),
        start=tuple(lane.start[place] for place in kept),
        length=tuple(lane.length[place] for place in kept),
        called=tuple(lane.called[place] for place in kept),
    )


def lane_runs(chart: Lanes, lane: Lane, count: int) -> Iterator[Run]:
    """Return what is drawn of a lane where its axis is divided into `count` stretches."""
    kinds = np.array([each.kind for each in chart.called], np.int64)[np.array(lane.called, np.int64)]
    start = np.array(lane.start, float) * count / chart.x.high
    end = start + np.array(lane.length, float) * count / chart.x.high
    row = np.array(lane.row, np.int64)
    for number in range(lane.rows):
        mine = [(row == number) & (kinds == kind) for kind in range(len(chart.kinds))]
        filled = np.stack([_filled(start[here], end[here], count) for here in mine])
        most, share = filled.argmax(0).tolist(), filled.max(0).tolist()
        style = [(kind, part >= _STRONG) if part >= _SEEN else None for kind, part in zip(most, share, strict=True)]
        at = 0
        for drawn, run in groupby(style):
            after = at + len(list(run))
            if drawn is not None:
                yield Run(number, *drawn, at * chart.x.high / count, after * chart.x.high / count)
            at = after


def _filled(start: Floats, end: Floats, count: int) -> Floats:
    """Return what some events, which are in order and do not overlap, fill of each of so many stretches of length 1.

    >>> _filled(np.array([0.5, 2.0]), np.array([1.25, 2.5]), 3).tolist()
    [0.5, 0.25, 0.5]
    """
    if not len(start):
        return np.zeros(count)
    edges = np.arange(count + 1)
    passed = np.concatenate([[0.0], np.cumsum(end - start)])
    begun = np.searchsorted(start, edges, side="left")
    over = np.where(begun > 0, np.maximum(end[np.maximum(begun - 1, 0)] - edges, 0), 0)
    found: Floats = np.diff(passed[begun] - over)
    return found
