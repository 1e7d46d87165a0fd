"""Computes how the time of a candidate scales with the number of devices, and how much is communication."""

from __future__ import annotations

from math import exp, hypot, log
from typing import NamedTuple

from ...records.environment import Environment
from ...statistics.estimate import Estimate
from ...statistics.medians import CONFIDENCE
from ..record.between_points import BETWEEN_POINTS, PRIOR_FREEDOM, Noise
from ..record.curve import Variable
from ..record.scaling import time_of
from ..record.sweep import Sweep

#: One of them is in the name of a variable that is a number of devices.
_DEVICES = "dev", "gpu", "tpu"


class Scaled(NamedTuple):
    """A candidate on some number of devices.

    Attributes:
        label: the candidate.
        devices: the number of devices.
        time: the median time of a call.
        speedup: how many times as fast a call is as on the smallest number of devices.
        efficiency: the speed-up divided by the ratio of the numbers of devices, with its interval; 1 is perfect.
        exposed_share: the share of the profiled time that is exposed communication: collectives without concurrent
            computation, as the mean over the devices.
        idle_share: the share in which they were idle.
        rounds: the number of rounds.
    """

    label: str
    devices: int
    time: Estimate
    speedup: Estimate
    efficiency: Estimate
    exposed_share: float
    idle_share: float
    rounds: int


def device_scaling(sweep: Sweep) -> list[Scaled]:
    """Compute how each profiled candidate of a sweep scales with the number of devices.

    The list is empty if that number does not vary, or if something else varies too: then times differ for other
    reasons.
    """
    if len(sweep.variables) != 1:
        return []
    scaled: list[Scaled] = []
    for label in sweep.labels:
        here = sorted(_points(sweep, label), key=lambda each: each[0])
        counts = [devices for devices, *_ in here]
        if len(here) < 2 or len(set(counts)) < len(counts):
            continue
        fewest, first, *_ = here[0]
        for devices, time, exposed, idle, rounds in here:
            same = Estimate(value=1.0, low=1.0, high=1.0, confidence=1.0)
            speedup = same if devices == fewest else speed_up(first, time)
            efficiency = Estimate(
                value=speedup.value * fewest / devices,
                low=speedup.low * fewest / devices,
                high=speedup.high * fewest / devices,
                confidence=speedup.confidence,
            )
            scaled.append(Scaled(label, devices, time, speedup, efficiency, exposed, idle, rounds))
    return scaled


def devices_used(sweep: Sweep, label: str) -> list[int]:
    """Return how many devices a candidate used at each point where it was profiled."""
    return [devices for devices, *_ in _points(sweep, label)]


def has_device_counts(sweep: Sweep) -> bool:
    """Return whether a sweep seems to be over the number of devices, and over nothing else."""
    return len(sweep.variables) == 1 and is_device_count(sweep.variables[0], sweep.environment)


def is_device_count(variable: Variable, environment: Environment) -> bool:
    """Return whether a variable seems to be the number of devices, from its name and its values."""
    named = any(each in variable.name.lower() for each in _DEVICES)
    return named and 1 < max(variable.numbers or (), default=0) <= (environment.device_count or 0)


def speed_up(before: Estimate, after: Estimate) -> Estimate:
    """Compute the speed-up from one point to another, with its interval.

    Each end combines three parts, whose squares add up: the reach of each time's interval, and the prior noise
    between two points. All are scaled to Student's t with the few degrees of freedom of the prior, so the interval is
    never narrower than one end of a time divided by the opposite end of the other.

    Returns:
        The speed-up. Its confidence is 0 if a time has no interval because of too few samples.

    >>> before = Estimate(value=8.0, low=7.9, high=8.1, confidence=0.95)
    >>> speedup = speed_up(before, Estimate(value=4.0, low=3.9, high=4.1, confidence=0.95))
    >>> speedup.value, round(speedup.low, 2), round(speedup.high, 2)
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


def _points(sweep: Sweep, label: str) -> list[tuple[int, Estimate, float, float, int]]:
    """Return the number of devices, the time, the exposed and idle shares and the rounds at each profiled point."""
    points = []
    for point in sweep.points:
        if point.comparison is None or label not in point.comparison:
            continue
        candidate = point.comparison.candidate(label)
        profile = candidate.profile
        if profile is None or not profile.device_uses or not profile.recorded_ns:
            continue
        uses, total_ns = profile.device_uses, profile.recorded_ns * len(profile.device_uses)
        exposed = sum(each.exposed_collective_ns for each in uses) / total_ns
        idle = sum(each.idle_ns for each in uses) / total_ns
        rounds = len(candidate.latency.samples_ns)
        points.append((len(uses), time_of(candidate.latency.calls_ns), exposed, idle, rounds))
    return points
