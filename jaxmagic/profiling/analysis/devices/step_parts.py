"""Divides step time into its parts over all steps and devices, and finds the part that bounds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....statistics.medians import median
from ...record.steps import StepTimes

#: The parts of a step with their fields.
PARTS = (
    ("compute", "compute_ns"),
    ("collectives", "collective_ns"),
    ("memcpy", "copy_ns"),
    ("input", "input_ns"),
    ("host", "host_ns"),
    ("idle", "idle_ns"),
)

#: A step is bound by computation from the first share on, and by any other part from the second share on.
_COMPUTE_BOUND = 0.9
_OTHERWISE_BOUND = 0.5


class StepParts(NamedTuple):
    """Parts of the steps of all devices.

    Attributes:
        steps: the number of steps.
        median_ns: the median step time.
        low_ns: the shortest step time.
        high_ns: the longest step time.
        shares: the share of each part in the sum of all step times.
        bound: the part that bounds a step; empty if none does.
    """

    steps: int
    median_ns: float
    low_ns: int
    high_ns: int
    shares: dict[str, float]
    bound: str


def step_parts(devices: Sequence[StepTimes]) -> StepParts | None:
    """Sum up the steps of all devices; ``None`` without steps."""
    times = [each for device in devices for each in device.time_ns]
    total = sum(times)
    if not total:
        return None
    shares = {name: sum(sum(getattr(device, field)) for device in devices) / total for name, field in PARTS}
    largest = max(shares, key=lambda each: shares[each])
    bound = largest if shares[largest] >= (_COMPUTE_BOUND if largest == "compute" else _OTHERWISE_BOUND) else ""
    steps = max(len(device.time_ns) for device in devices)
    return StepParts(steps, median(times), min(times), max(times), shares, bound)


def mean_parts(steps: StepTimes) -> dict[str, float]:
    """Return the mean duration of each part of a step on one device, in nanoseconds."""
    return {name: sum(getattr(steps, field)) / len(steps.time_ns) for name, field in PARTS}
