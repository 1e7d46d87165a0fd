"""Compares comparisons and sweeps with earlier ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from ...benchmarking.analysis import compare_trials, first_difference, input_changes, with_loads
from ...benchmarking.record.process_noise import ProcessNoise
from ...benchmarking.record.versus import Versus
from ...errors import NotComparable
from ...records.names import offered
from ..record.comparison import Comparison
from ..record.sweep import Point, Sweep


def label_by_label(old: Comparison, new: Comparison, noise: ProcessNoise | None) -> list[Versus]:
    """Compare every candidate that is in both comparisons."""
    labels = [label for label in new if label in list(old)]
    if not labels:
        raise NotComparable(
            f"expected a candidate that is in both records, got {offered(old)} before and {offered(new)} now. "
            "Give one of them the label that it had before."
        )
    return [_compare(old, new, label, label, noise) for label in labels]


def _compare(old: Comparison, new: Comparison, label: str, named: str, noise: ProcessNoise | None) -> Versus:
    before, now = old.candidate(label), new.candidate(label)
    compared = compare_trials([before.latency], [now.latency], named, named, noise)
    code = first_difference(before.code, now.code) or first_difference(_setup(old), _setup(new))
    sides = (old.environment, before.conditions), (new.environment, now.conditions)
    changed = input_changes(before.inputs, now.inputs)
    return with_loads(replace(compared, code=code, inputs=changed), *sides)


def _setup(comparison: Comparison) -> str | None:
    """Return the lines of a cell above the first one with a candidate; ``None`` without a cell."""
    if comparison.code is None:
        return None
    codes = [each.code.splitlines()[0].rpartition(" of ")[2] for each in comparison.candidates if each.code]
    above = takewhile(lambda line: not any(code in line for code in codes), comparison.code.splitlines())
    return "\n".join(above)


def point_by_point(old: Sweep, new: Sweep, noise: ProcessNoise | None) -> list[Versus]:
    """Compare every candidate at every point that is in both sweeps."""
    before = {_place(old, each): each.comparison for each in old.points if each.comparison is not None}
    compared = []
    for point in new.points:
        place = _place(new, point)
        now, then = point.comparison, before.get(place)
        if now is None or then is None:
            continue
        both = [label for label in now if label in list(then)]
        compared += [_compare(then, now, label, f"{label} at {place}", noise) for label in both]
    if not compared:
        raise NotComparable(
            "expected a candidate that was measured at the same point in both sweeps, got none. Measure one of the "
            "earlier points again."
        )
    return compared


def _place(sweep: Sweep, point: Point) -> str:
    return ", ".join(f"{name}={label}" for name, label in sorted(sweep.values(point).items()))
