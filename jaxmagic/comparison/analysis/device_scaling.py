"""How the time of a candidate falls with the number of devices, and how much of it is communication."""

from __future__ import annotations

from math import exp, hypot, log
from typing import NamedTuple

from ...statistics.estimate import Estimate
from ...statistics.medians import CONFIDENCE
from ..record.between_points import BETWEEN_POINTS, PRIOR_FREEDOM, Noise
from ..record.scaling import time_of
from ..record.sweep import Sweep


class Scaled(NamedTuple):
    """A candidate on some number of devices.

    Attributes:
        label: the candidate.
        devices: how many.
        time: the median time of a call.
        speedup: how many times as fast a call is as on the fewest devices.
        efficiency: the speed-up over how many times as many devices there are, with its interval; 1 is perfect.
        exposed_share: the share of the recorded time, in the mean of the devices, in which they exchanged data and
            did not compute.
        idle_share: the share in which they did nothing.
    """

    label: str
    devices: int
    time: Estimate
    speedup: Estimate
    efficiency: Estimate
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
            same = Estimate(value=1.0, low=1.0, high=1.0, confidence=1.0)
            speedup = same if devices == fewest else speed_up(first, time)
            efficiency = Estimate(
                value=speedup.value * fewest / devices,
                low=speedup.low * fewest / devices,
                high=speedup.high * fewest / devices,
                confidence=speedup.confidence,
            )
            found.append(Scaled(label, devices, time, speedup, efficiency, exposed, idle))
    return found


def speed_up(before: Estimate, after: Estimate) -> Estimate:
    """Tell how many times as fast the calls of one point are as those of another one, with its interval.

    Each end has three parts, whose squares add up: the reach of either time, and the noise between two points by its
    prior. All are scaled to Student's t with the few degrees of freedom that the prior is worth, so the interval is
    never narrower than one end of a time divided by the opposite end of the other.

    Returns:
        A confidence of 0 where a time has no interval: its samples are too few.

    >>> before = Estimate(value=8.0, low=7.9, high=8.1, confidence=0.95)
    >>> found = speed_up(before, Estimate(value=4.0, low=3.9, high=4.1, confidence=0.95))
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (2.0, 1.81, 2.21)
    """
    t = Noise(1.0, PRIOR_FREEDOM).reach((1 - CONFIDENCE) / 2)
    z = Noise(1.0, float("inf")).reach((1 - CONFIDENCE) / 2)

    def reach(one: float, other: float) -> float:
        return t * hypot(one / z, other / z, 2**0.5 * BETWEEN_POINTS)

    value = before.value / after.value
    return Estimate(
        value=value,
        low=value * exp(-reach(log(before.value / before.low), log(after.high / after.value))),
        high=value * exp(reach(log(before.high / before.value), log(after.value / after.low))),
        confidence=CONFIDENCE if before.confidence and after.confidence else 0.0,
    )


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
