"""Memory against time: what candidates need at once, over what a call of them takes."""

from __future__ import annotations

from collections.abc import Sequence

from ...charts.curves import Curves, Series
from ...charts.scale import Quantity, Scale, around
from ...statistics.medians import median
from ..record.candidate import Candidate
from ..record.comparison import Comparison
from ..record.sweep import Sweep

#: Peaks that differ by less are the same to the eye.
_WORTH_A_PICTURE = 1.05


def tradeoff(record: Comparison | Sweep) -> Curves | None:
    """A point for each candidate, or a curve for each where a sweep varied something; down and to the left is better.

    ``None`` where the memory of fewer than two points is known.
    """
    if isinstance(record, Comparison):
        found = {each.label: [each] for each in record.candidates if each.memory_bytes}
    else:
        found = {label: _along(record, label) for label in record}
    drawn = {label: candidates for label, candidates in found.items() if candidates}
    if sum(map(len, drawn.values())) < 2:
        return None
    series = tuple(_series(label, hue, candidates) for hue, (label, candidates) in enumerate(drawn.items()))
    return Curves(
        title="memory against time",
        x=_scale("time of a call", "time", [x for each in series for x in each.x if x is not None]),
        y=_scale("memory at the peak", "size", [y for each in series for y in each.y if y is not None]),
        series=series,
    )


def is_worth_a_picture(record: Comparison | Sweep) -> bool:
    """Tell whether candidates, or the points of a sweep, differ in their memory at all."""
    found = [record] if isinstance(record, Comparison) else [each.comparison for each in record.points]
    peaks = [each.memory_bytes for one in found if one for each in one.candidates if each.memory_bytes]
    return len(peaks) > 1 and max(peaks) > _WORTH_A_PICTURE * min(peaks)


def _along(sweep: Sweep, label: str) -> list[Candidate]:
    """A candidate at the points where its memory is known, in their order."""
    points = sorted(sweep.points, key=lambda each: each.at)
    there = [each.comparison.candidate(label) for each in points if each.comparison and label in each.comparison]
    return [each for each in there if each.memory_bytes]


def _series(label: str, hue: int, candidates: Sequence[Candidate]) -> Series:
    times = [median(each.latency.calls_ns) for each in candidates]
    sizes = [None if each.memory_bytes is None else float(each.memory_bytes) for each in candidates]
    return Series(name=label, x=tuple(times), y=tuple(sizes), hue=hue, points=True)


def _scale(label: str, quantity: Quantity, values: Sequence[float]) -> Scale:
    """From 0 where that leaves room for the differences; in logarithms over more than that."""
    wide = max(values) > 20 * min(values) > 0
    low, high = around(values, log=True) if wide else (0.0, 1.1 * max(values))
    return Scale(label=label, quantity=quantity, low=low, high=high, log=wide)
