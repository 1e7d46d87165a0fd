"""Says how the times of a sweep grow, as far as its points show."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from math import ceil, floor, isfinite, log

from ... import units
from ...records.other_load import is_loaded
from ...statistics.estimate import Estimate
from ..record.curve import Curve, Growth
from ..record.growth import is_bounded, is_known
from ..record.sweep import Sweep

#: An overhead below this share of the time at the last point is not reported.
_WORTH_REPORTING = 0.01

#: A duration that is known to within this share is written as "about" one number.
_ABOUT = 0.15


def about_known_growth(sweep: Sweep) -> list[str]:
    """Say how the time of each candidate grows whose growth is known."""
    curves = [(each, each.growth) for each in sweep.curves]
    return [_growth(curve, growth) for curve, growth in curves if growth is not None and is_known(growth)]


def about_growth(sweep: Sweep) -> list[str]:
    """Say how the time of each candidate grows, as far as its points show."""
    sentences = about_known_growth(sweep)
    bounded: list[str] = []
    unknown: list[str] = []
    for curve in sweep.curves:
        if curve.growth is None or is_known(curve.growth):
            continue
        if curve.growth.changes:
            sentences.append(_changing(curve))
        elif is_bounded(curve.growth):
            bounded.append(f"{curve.name} {_with_estimate(curve.variable.name, curve.growth.exponent)}")
        else:
            unknown.append(curve.name)
    if bounded:
        why = ", because other processes may have slowed some points down more than others" * _is_loaded(sweep)
        sentences.append(f"The growth is uncertain{why}: {'; '.join(bounded)}.")
    if unknown:
        why = "other processes, overhead or noise" if _is_loaded(sweep) else "overhead or noise"
        sentences.append(f"The growth is unknown, because {why} hides it: {'; '.join(unknown)}.")
    return sentences


def briefly(sweep: Sweep, sentences: Collection[str]) -> list[str]:
    """Say in a few words how the time of each candidate grows that these sentences are about, unknown ones last."""
    if not {*sentences} & {*about_growth(sweep)}:
        return []
    known: list[str] = []
    unknown: list[str] = []
    for curve in sweep.curves:
        growth, name = curve.growth, curve.variable.name
        if growth is None or (is_known(growth) and _growth(curve, growth) not in sentences):
            continue
        if is_known(growth):
            known.append(f"{curve.name} {name}^{growth.exponent.value:.2f}")
        elif growth.changes:
            known.append(f"{curve.name} no single power of {name}")
        elif is_bounded(growth):
            bounds = _bounds(name, growth.exponent).removeprefix("between ").replace(" and ", " to ")
            known.append(f"{curve.name} {bounds}")
        else:
            unknown.append(f"{curve.name} unknown")
    return known + unknown


def _with_estimate(name: str, exponent: Estimate) -> str:
    """Return the ends of an exponent's interval, and before them the exponent of the best curve if both are known."""
    bounds = _bounds(name, exponent)
    return f"about {name}^{exponent.value:.1f}, {bounds}" if bounds.startswith("between") else bounds


def _bounds(name: str, exponent: Estimate) -> str:
    """Return the ends of an exponent's interval, of which one may be infinite; both are rounded outwards."""
    low = f"{name}^{floor(round(exponent.low * 10, 6)) / 10:.1f}" if isfinite(exponent.low) else None
    high = f"{name}^{ceil(round(exponent.high * 10, 6)) / 10:.1f}" if isfinite(exponent.high) else None
    if low is None or high is None:
        return f"grows as {low} or faster" if high is None else f"falls as {high} or faster"
    return f"between {low} and {high}"


def _is_loaded(sweep: Sweep) -> bool:
    """Return whether other processes kept the machine busy at a point."""
    compared = [each.comparison for each in sweep.points if each.comparison is not None]
    loads = [
        (one.conditions.other_load, each.environment.cpu_count or 1) for each in compared for one in each.candidates
    ]
    return any(is_loaded(*each) for each in loads)


def _changing(curve: Curve) -> str:
    """Say how the time grows from each point to the next, if it grows as no single power."""
    name, numbers = curve.variable.name, curve.variable.numbers
    assert numbers is not None
    points = [(log(numbers[at]), log(time.value)) for at, time in zip(curve.positions, curve.times, strict=True)]
    steps = [(y - before_y) / (x - before_x) for (before_x, before_y), (x, y) in pairwise(points)]
    low, high = (f"{name}^{each:.2f}" for each in (min(steps), max(steps)))
    return f"{curve.name} grows as no single power of {name}: from one point to the next as {low} to {high}."


def _growth(curve: Curve, growth: Growth) -> str:
    exponent, name, numbers = growth.exponent, curve.variable.name, curve.variable.numbers
    assert numbers is not None
    verb = "grows" if exponent.value >= 0 else "falls"
    text = f"{curve.name} {verb} as {name}^{exponent.value:.2f} ({exponent.low:.2f} to {exponent.high:.2f})"
    if numbers[curve.positions[0]] < growth.start <= numbers[curve.positions[-1]]:
        text += f" from {name} = {units.number_about(growth.start)} on"
    if growth.overhead_ns is not None and growth.overhead_ns.value > _WORTH_REPORTING * curve.times[-1].value:
        last = f"{name} = {curve.variable.labels[curve.positions[-1]]}"
        share = units.share(growth.overhead_ns.value, max(curve.times[-1].value, growth.overhead_ns.value))
        text += f", plus a constant overhead of {_about(growth.overhead_ns)} ({share} of the time at {last})"
    return f"{text}."


def _about(duration: Estimate) -> str:
    """Return a duration in two digits, or its interval if it is not known that precisely."""
    if duration.relative_width <= _ABOUT:
        return f"about {units.time(duration.value, 2)}"
    return units.time_range(duration.low, duration.high, 2)
