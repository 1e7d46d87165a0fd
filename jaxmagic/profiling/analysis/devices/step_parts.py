"""Divide step time into its parts over all steps and devices, and find the part that bounds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....statistics.medians import median
from ...record.steps import StepTimes, StepTotals

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
        medians_ns: the median of their times, on the devices where it is least and most.
        low_ns: the shortest.
        high_ns: the longest.
        shares: of each part, what of all their time it is, by its name.
        bound: the part that bounds a step; empty if none does.
    """

    steps: int
    medians_ns: tuple[float, float]
    low_ns: int
    high_ns: int
    shares: dict[str, float]
    bound: str


def step_parts(found: Sequence[StepTimes]) -> StepParts | None:
    """Over all steps of all devices; ``None`` where there are none."""
    totals = [step_totals(one) for one in found if one.time_ns]
    total = sum(one.time_ns for one in totals)
    if not total:
        return None
    shares = {name: sum(getattr(one, field) for one in totals) / total for name, field in PARTS}
    largest = max(shares, key=lambda each: shares[each])
    bound = largest if shares[largest] >= (_COMPUTES if largest == "computes" else _WAITS) else ""
    medians = [one.median_ns for one in totals]
    return StepParts(
        steps=max(one.steps for one in totals),
        medians_ns=(min(medians), max(medians)),
        low_ns=min(one.low_ns for one in totals),
        high_ns=max(one.high_ns for one in totals),
        shares=shares,
        bound=bound,
    )


def step_totals(steps: StepTimes) -> StepTotals:
    """Add up all steps of a device that has any, also those that are not in its columns."""
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
