"""A record beside an earlier one: is it slower now, and may the two be compared at all?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from ..errors import NotComparable, NotMeasured
from ..model.benchmark import Benchmark, Trial
from ..model.comparison import Comparison, Versus
from ..model.environment import Environment
from ..model.estimate import Estimate
from ..model.sweep import Point, Sweep
from .comparison import judge
from .statistics import median_interval

#: What may differ without making times incomparable: the versions of what does not run the computation.
_MAY_DIFFER = frozenset({"jaxmagic", "ipython", "cache_directory"})


def differing(one: Environment, other: Environment) -> dict[str, tuple[object, object]]:
    """The fields in which two environments differ, with both values, where that may change how long things take."""
    return {
        each.name: (getattr(one, each.name), getattr(other, each.name))
        for each in fields(Environment)
        if each.name not in _MAY_DIFFER and getattr(one, each.name) != getattr(other, each.name)
    }


def against(old: Benchmark, new: Benchmark, *, anyway: bool = False) -> Versus:
    """A benchmark beside an earlier one of the same.

    The rounds of a comparison are missing here. So the interval of the ratio is that of both medians together, which
    is wider, and knows nothing of what differed between the two times, such as the load of the machine.

    Args:
        old: the earlier record.
        new: the later one.
        anyway: compare although they were measured in different environments.

    Raises:
        NotComparable: they were; the message names the fields.
        NotMeasured: one of them has too few samples for an interval.
    """
    (found,) = against_record(old, new, anyway=anyway)
    return found


def against_record(old: Any, new: Any, *, anyway: bool = False) -> list[Versus]:
    """A record beside an earlier one of its kind: a benchmark, or the candidates of a comparison by their labels.

    Of sweeps every candidate at every point that is in both. Where one has too few samples for an interval, its ratio
    is ``None``.

    Raises:
        TypeError: the two are not of one kind.
        NotComparable: the environments differ, or no candidate is in both.
        NotMeasured: all of them have too few samples for an interval.
    """
    put_beside = _BESIDE.get(type(old))
    if put_beside is None or type(new) is not type(old):
        raise TypeError(
            f"a record is compared with another of its kind; found a {type(old).__name__} and a {type(new).__name__}"
        )
    changed = differing(old.environment, new.environment)
    marks = tuple(f"{name} was {before!r} and is {now!r}" for name, (before, now) in changed.items())
    if marks and not anyway:
        raise NotComparable(
            f"The records are from different environments: {'; '.join(marks)}. Measure again in one environment, or "
            "compare them anyway (anyway=True, --anyway)."
        )
    found = put_beside(old, new)
    if all(each.ratio is None for each in found):
        raise NotMeasured(
            "One of the records has fewer than six samples, so that its median has no interval to compare. Measure "
            "it again with more time (--budget, budget_s) or a number of samples (-r)."
        )
    return [replace(each, differing=marks) for each in found]


def _one_by_one(old: Benchmark, new: Benchmark) -> list[Versus]:
    return [_beside(old.latency, new.latency, "new", "old")]


def _label_by_label(old: Comparison, new: Comparison) -> list[Versus]:
    """Every candidate that is in both comparisons."""
    labels = [label for label in new if label in list(old)]
    if not labels:
        raise NotComparable(f"No candidate is in both records: {', '.join(old)} before, {', '.join(new)} now.")
    return [_beside(old.candidate(label).latency, new.candidate(label).latency, label, label) for label in labels]


def _point_by_point(old: Sweep, new: Sweep) -> list[Versus]:
    """Every candidate at every point that is in both sweeps."""
    before = {_place(old, each): each.comparison for each in old.points if each.comparison is not None}
    found = []
    for point in new.points:
        place = _place(new, point)
        now, then = point.comparison, before.get(place)
        if now is None or then is None:
            continue
        for label in now:
            if label in list(then):
                named = f"{label} at {place}"
                found.append(_beside(then.candidate(label).latency, now.candidate(label).latency, named, named))
    if not found:
        raise NotComparable("No candidate was measured at the same point in both sweeps.")
    return found


def _place(sweep: Sweep, point: Point) -> str:
    return ", ".join(f"{name}={label}" for name, label in sorted(sweep.values(point).items()))


def _beside(old: Trial, new: Trial, label: str, baseline: str) -> Versus:
    before, now = median_interval(old.calls_ns), median_interval(new.calls_ns)
    ratio = None
    if before is not None and now is not None:
        ratio = Estimate(
            value=now.value / before.value, low=now.low / before.high, high=now.high / before.low, confidence=0.95
        )
    return Versus(label=label, baseline=baseline, ratio=ratio, verdict=judge(ratio), break_even_calls=None)


#: How records of each kind are put side by side.
_BESIDE: dict[type, Callable[[Any, Any], list[Versus]]] = {
    Benchmark: _one_by_one,
    Comparison: _label_by_label,
    Sweep: _point_by_point,
}
