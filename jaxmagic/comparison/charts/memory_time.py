"""Draws the peak memory of candidates against the time of a call."""

from __future__ import annotations

from collections.abc import Sequence

from ...charts.curves import Curves, Series
from ...charts.scale import Quantity, Scale, around
from ...statistics.medians import median
from ..record.candidate import Candidate
from ..record.comparison import Comparison
from ..record.sweep import Sweep

#: Peaks that differ by a smaller factor look the same.
_WORTH_A_PICTURE = 1.05


def tradeoff(record: Comparison | Sweep) -> Curves | None:
    """Draw a point for each candidate, or a curve for each in a sweep. Down and to the left is better.

    ``None`` if the memory of fewer than two points is known.
    """
    if isinstance(record, Comparison):
        by_label = {each.label: [each] for each in record.candidates if each.memory_bytes}
    else:
        by_label = {label: _along(record, label) for label in record}
    drawn = {label: candidates for label, candidates in by_label.items() if candidates}
    if sum(map(len, drawn.values())) < 2:
        return None
    series = tuple(_series(label, hue, candidates) for hue, (label, candidates) in enumerate(drawn.items()))
    return Curves(
        title="memory against time",
        x=_scale("time of a call", "time", [x for each in series for x in each.x if x is not None]),
        y=_scale("peak memory", "size", [y for each in series for y in each.y if y is not None]),
        series=series,
    )


def is_worth_a_picture(record: Comparison | Sweep) -> bool:
    """Return whether candidates, or the points of a sweep, differ noticeably in their peak memory."""
    comparisons = [record] if isinstance(record, Comparison) else [each.comparison for each in record.points]
    peaks = [each.memory_bytes for one in comparisons if one for each in one.candidates if each.memory_bytes]
    return len(peaks) > 1 and max(peaks) > _WORTH_A_PICTURE * min(peaks)


def _along(sweep: Sweep, label: str) -> list[Candidate]:
    """Return a candidate at the points where its memory is known, in their order."""
    points = sorted(sweep.points, key=lambda each: each.at)
    there = [each.comparison.candidate(label) for each in points if each.comparison and label in each.comparison]
    return [each for each in there if each.memory_bytes]


def _series(label: str, hue: int, candidates: Sequence[Candidate]) -> Series:
    times = [median(each.latency.calls_ns) for each in candidates]
    sizes = [None if each.memory_bytes is None else float(each.memory_bytes) for each in candidates]
    return Series(name=label, x=tuple(times), y=tuple(sizes), hue=hue, points=True)


def _scale(label: str, quantity: Quantity, values: Sequence[float]) -> Scale:
    """Make a linear scale from 0, or a logarithmic one if values differ by more than a factor of 20."""
    wide = max(values) > 20 * min(values) > 0
    low, high = around(values, log=True) if wide else (0.0, 1.1 * max(values))
    return Scale(label=label, quantity=quantity, low=low, high=high, log=wide)
