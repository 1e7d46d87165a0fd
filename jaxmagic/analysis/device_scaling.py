"""How the time of a candidate falls with the number of devices, and what of it is exchange."""

from __future__ import annotations

from typing import NamedTuple

from ..model.estimate import Estimate
from ..model.sweep import Sweep
from .scaling import time_of


class Scaled(NamedTuple):
    """A candidate on some number of devices.

    Attributes:
        label: the candidate.
        devices: how many.
        time: the median time of a call.
        speedup: how many times as fast that is as on the fewest devices; its interval is as wide as those of both
            times allow.
        efficiency: that over how many times as many devices there are; 1 is perfect.
        exposed_share: the share of the recorded time, in the mean of the devices, in which they exchanged data and
            did not compute.
        idle_share: the same in which they did nothing.
    """

    label: str
    devices: int
    time: Estimate
    speedup: Estimate
    efficiency: float
    exposed_share: float
    idle_share: float


def device_scaling(sweep: Sweep) -> list[Scaled]:
    """The candidates of a sweep with profiles on several numbers of devices, by candidate and number.

    Empty where that number does not vary, or something beside it does: then times differ for other reasons.
    """
    if len(sweep.variables) != 1:
        return []
    found: list[Scaled] = []
    for label in sweep.labels:
        here = sorted(_points(sweep, label), key=lambda each: each[0])
        counts = [devices for devices, *_ in here]
        if len(here) < 2 or len(set(counts)) < len(counts):
            continue
        fewest, first, _, _ = here[0]
        for devices, time, exposed, idle in here:
            speedup = Estimate(
                value=first.value / time.value,
                low=first.low / time.high,
                high=first.high / time.low,
                confidence=max(first.confidence + time.confidence - 1, 0.0),
            )
            found.append(Scaled(label, devices, time, speedup, speedup.value * fewest / devices, exposed, idle))
    return found


def _points(sweep: Sweep, label: str) -> list[tuple[int, Estimate, float, float]]:
    found = []
    for point in sweep.points:
        if point.comparison is None or label not in point.comparison:
            continue
        candidate = point.comparison.candidate(label)
        profile = candidate.profile
        if profile is None or not profile.device_uses or not profile.recorded_ns:
            continue
        uses, of = profile.device_uses, profile.recorded_ns * len(profile.device_uses)
        exposed = sum(each.exposed_collective_ns for each in uses) / of
        idle = sum(each.idle_ns for each in uses) / of
        found.append((len(uses), time_of(candidate.latency.calls_ns), exposed, idle))
    return found
