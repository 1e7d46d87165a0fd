"""Compares comparisons and sweeps with earlier ones."""

from __future__ import annotations

from ...benchmarking.analysis import compare_trials
from ...benchmarking.record.process_noise import ProcessNoise
from ...benchmarking.record.versus import Versus
from ...errors import NotComparable
from ..record.comparison import Comparison
from ..record.sweep import Point, Sweep


def label_by_label(old: Comparison, new: Comparison, noise: ProcessNoise | None) -> list[Versus]:
    """Compare every candidate that is in both comparisons."""
    labels = [label for label in new if label in list(old)]
    if not labels:
        raise NotComparable(
            f"No candidate is in both records: {', '.join(old)} before, {', '.join(new)} now. "
            "Give one of them the label that it had before."
        )
    return [
        compare_trials([old.candidate(label).latency], [new.candidate(label).latency], label, label, noise)
        for label in labels
    ]


def point_by_point(old: Sweep, new: Sweep, noise: ProcessNoise | None) -> list[Versus]:
    """Compare every candidate at every point that is in both sweeps."""
    before = {_place(old, each): each.comparison for each in old.points if each.comparison is not None}
    compared = []
    for point in new.points:
        place = _place(new, point)
        now, then = point.comparison, before.get(place)
        if now is None or then is None:
            continue
        for label in now:
            if label in list(then):
                named = f"{label} at {place}"
                trials = [then.candidate(label).latency], [now.candidate(label).latency]
                compared.append(compare_trials(*trials, named, named, noise))
    if not compared:
        raise NotComparable(
            "No candidate was measured at the same point in both sweeps. Measure one of the earlier points again."
        )
    return compared


def _place(sweep: Sweep, point: Point) -> str:
    return ", ".join(f"{name}={label}" for name, label in sorted(sweep.values(point).items()))
