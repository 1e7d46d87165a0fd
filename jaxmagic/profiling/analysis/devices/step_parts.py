"""Divide step time into its parts over all steps and devices, and find the part that bounds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....statistics.medians import median
from ...record.steps import StepTimes

#: The parts of a step: what they are called, and their fields.
PARTS = (
    ("computes", "compute_ns"),
    ("exchanges", "collective_ns"),
    ("copies", "copy_ns"),
    ("input", "input_ns"),
    ("host", "host_ns"),
    ("idle", "idle_ns"),
)

#: A step is bound by computation from this share on, and by what the device waits for from that.
_COMPUTES = 0.9
_WAITS = 0.5


class StepParts(NamedTuple):
    """The steps of some devices.

    Attributes:
        steps: how many there are.
        median_ns: the median of their times.
        low_ns: the shortest.
        high_ns: the longest.
        shares: of each part, what of all their time it is, by its name.
        bound: the part that bounds a step; empty if none does.
    """

    steps: int
    median_ns: float
    low_ns: int
    high_ns: int
    shares: dict[str, float]
    bound: str


def step_parts(found: Sequence[StepTimes]) -> StepParts | None:
    """Over all steps of all devices; ``None`` where there are none."""
    times = [each for one in found for each in one.time_ns]
    total = sum(times)
    if not total:
        return None
    shares = {name: sum(sum(getattr(one, field)) for one in found) / total for name, field in PARTS}
    largest = max(shares, key=lambda each: shares[each])
    bound = largest if shares[largest] >= (_COMPUTES if largest == "computes" else _WAITS) else ""
    steps = max(len(one.time_ns) for one in found)
    return StepParts(steps, median(times), min(times), max(times), shares, bound)


def mean_parts(steps: StepTimes) -> dict[str, float]:
    """Return the mean duration of each part of a step on one device, in nanoseconds."""
    return {name: sum(getattr(steps, field)) / len(steps.time_ns) for name, field in PARTS}
