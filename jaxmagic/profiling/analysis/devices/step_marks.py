"""Steps that the code marked with ``jax.profiler.StepTraceAnnotation``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...record.recording import Trace
from ..attribution import Ints
from ..run_windows import Window

#: Marks of our own, around each run.
_OURS = "jaxmagic: "


class StepMarks(NamedTuple):
    """The start and end times of marks of one name, and the other names that were marked."""

    name: str
    start: Ints
    end: Ints
    other_names: tuple[str, ...] = ()


def step_marks(recording: Trace, host: str, windows: Sequence[Window]) -> StepMarks | None:
    """Return the steps that the code marked: of the thread and name with most marks, each as long as its mark.

    Marks of several names, such as one for training and one for evaluation, are no sequence of steps. Of two
    names with as many marks the one that begins first counts.
    """
    by_name: dict[str, list[int]] = {}
    for number, kind in enumerate(recording.kinds):
        if "step_num" in kind.stats and kind.host == host and not kind.name.startswith(_OURS):
            by_name.setdefault(kind.name, []).append(number)
    found: list[StepMarks] = []
    for track in recording.tracks if by_name else ():
        there = (track.end_ps > windows[0].start_ps) & (track.start_ps < windows[-1].end_ps)
        for name, numbers in by_name.items():
            chosen = np.isin(track.kinds, numbers) & there & (track.role == "host")
            start, end = _outermost(track.start_ps[chosen], track.end_ps[chosen])
            if len(start):
                found.append(StepMarks(name, start, end))
    if not found:
        return None
    most = max(found, key=lambda each: (len(each.start), -each.start[0]))
    return most._replace(other_names=tuple(sorted({each.name for each in found} - {most.name})))


def _outermost(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Leave out marks that begin before an earlier one has ended."""
    order = np.lexsort((-end, start))
    start, end = start[order], end[order]
    latest = np.maximum.accumulate(end)
    first = np.concatenate([np.full(min(len(start), 1), True), start[1:] >= latest[:-1]])
    return start[first], end[first]
