"""Draws the peak memory of candidates against the time of a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...charts.curves import Curves, Series
from ...charts.scale import Quantity, Scale, around
from ...charts.spec import Multiples
from ...records.names import truncated
from ...statistics.medians import median
from ..record.candidate import Candidate
from ..record.comparison import Comparison
from ..record.scaling import along, rows
from ..record.sweep import Sweep

#: Peaks that differ by a smaller factor look the same.
_WORTH_A_PICTURE = 1.05

_TITLE = "memory against time"


def tradeoff(record: Comparison | Sweep) -> Curves | Multiples | None:
    """Draw a point for each candidate, or a curve for each in a sweep. Down and to the left is better.

    A sweep of several variables is a panel for each combination of all but one. ``None`` if the memory of fewer than
    two points is known.
    """
    drawn = _of_comparison(record) if isinstance(record, Comparison) else _of_sweep(record)
    points = [each for series in drawn.values() for each in series]
    if sum(len(each.x) for each in points) < 2:
        return None
    x = _scale("time of a call", "time", [x for each in points for x in each.x if x is not None])
    y = _scale("peak memory", "size", [y for each in points for y in each.y if y is not None])
    panels = tuple(Curves(title=others or _TITLE, x=x, y=y, series=series) for others, series in drawn.items())
    return panels[0] if len(panels) == 1 else Multiples(title=_TITLE, panels=panels)


def is_worth_a_picture(record: Comparison | Sweep) -> bool:
    """Return whether three or more candidates, or the points of a sweep, differ noticeably in their peak memory.

    Two candidates are two numbers, which stand beside each other in the table.
    """
    comparisons = [record] if isinstance(record, Comparison) else [each.comparison for each in record.points]
    peaks = [each.memory_bytes for one in comparisons if one for each in one.candidates if each.memory_bytes]
    return len(peaks) > 2 and max(peaks) > _WORTH_A_PICTURE * min(peaks)


def _of_comparison(comparison: Comparison) -> dict[str, tuple[Series, ...]]:
    known = [(number, each) for number, each in enumerate(comparison.candidates) if each.memory_bytes]
    return {"": tuple(_series(each.label, number, [each]) for number, each in known)}


def _of_sweep(sweep: Sweep) -> dict[str, tuple[Series, ...]]:
    """Draw each candidate along one variable where its memory is known, by the values of the other variables."""
    drawn = {}
    variable = sweep.variables[along(sweep)]
    for others, points in rows(sweep).items():
        series = []
        for number, label in enumerate(sweep):
            there = [(at, each.candidate(label)) for at, each in points if label in each]
            if known := {at: each for at, each in there if each.memory_bytes}:
                names = [truncated(f"{variable.name}={variable.labels[at]}", 24) for at in known]
                made = _series(label, number, list(known.values()))
                series.append(replace(made, label=names[0], end=names[-1] if len(names) > 1 else ""))
        if series:
            drawn[others] = tuple(series)
    return drawn


def _series(label: str, hue: int, candidates: Sequence[Candidate]) -> Series:
    times = [median(each.latency.calls_ns) for each in candidates]
    sizes = [None if each.memory_bytes is None else float(each.memory_bytes) for each in candidates]
    return Series(name=label, x=tuple(times), y=tuple(sizes), hue=hue, points=True)


def _scale(label: str, quantity: Quantity, values: Sequence[float]) -> Scale:
    """Make a linear scale from 0, or a logarithmic one if values differ by more than a factor of 20."""
    wide = max(values) > 20 * min(values) > 0
    low, high = around(values, log=True) if wide else (0.0, 1.1 * max(values))
    return Scale(label=label, quantity=quantity, low=low, high=high, log=wide)
