"""Divides step time into its parts over all steps and devices, and finds the part that bounds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....statistics.medians import median
from ...record.steps import StepTimes, StepTotals

#: The parts of a step, by the names that sentences, tables and charts have for them, with their fields.
PARTS = (
    ("compute", "compute_ns"),
    ("collectives", "collective_ns"),
    ("memcpy", "copy_ns"),
    ("input wait", "input_ns"),
    ("host wait", "host_ns"),
    ("unexplained wait", "idle_ns"),
)

#: A step is bound by compute from the first share on, and by any other part from the second share on.
_COMPUTE_BOUND = 0.9
_OTHERWISE_BOUND = 0.5


class StepParts(NamedTuple):
    """Parts of the steps of all devices.

    Attributes:
        steps: the number of steps.
        medians_ns: the median step time, of the device with the smallest and of the one with the largest median.
        low_ns: the shortest step time.
        high_ns: the longest step time.
        shares: the share of each part in the sum of all step times.
        bound: the part that bounds a step; empty if none does.
    """

    steps: int
    medians_ns: tuple[float, float]
    low_ns: int
    high_ns: int
    shares: dict[str, float]
    bound: str


def step_parts(devices: Sequence[StepTimes]) -> StepParts | None:
    """Sum up all steps of all devices; ``None`` without steps."""
    totals = [step_totals(device) for device in devices if device.time_ns]
    total = sum(each.time_ns for each in totals)
    if not total:
        return None
    shares = {name: sum(getattr(each, field) for each in totals) / total for name, field in PARTS}
    largest = max(shares, key=lambda each: shares[each])
    bound = largest if shares[largest] >= (_COMPUTE_BOUND if largest == "compute" else _OTHERWISE_BOUND) else ""
    medians = [each.median_ns for each in totals]
    return StepParts(
        steps=max(each.steps for each in totals),
        medians_ns=(min(medians), max(medians)),
        low_ns=min(each.low_ns for each in totals),
        high_ns=max(each.high_ns for each in totals),
        shares=shares,
        bound=bound,
    )


def step_totals(steps: StepTimes) -> StepTotals:
    """Sum up all steps of a device that has any, including those that are not in its columns."""
    if steps.all_steps is not None:
        return steps.all_steps
    return StepTotals(
        steps=len(steps.time_ns),
        median_ns=median(steps.time_ns),
        low_ns=min(steps.time_ns),
        high_ns=max(steps.time_ns),
        time_ns=sum(steps.time_ns),
        **{field: sum(getattr(steps, field)) for _, field in PARTS},
    )


def mean_parts(steps: StepTimes) -> dict[str, float]:
    """Return the mean duration of each part of a step on one device, in nanoseconds."""
    totals = step_totals(steps)
    return {name: getattr(totals, field) / totals.steps for name, field in PARTS}
