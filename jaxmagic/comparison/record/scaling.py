"""Makes the curves of a sweep: each candidate along one variable, with the other variables fixed."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, pi, sqrt
from statistics import stdev

from ...statistics.estimate import Estimate
from ...statistics.medians import median, median_interval
from .between_points import standard_error
from .candidate import Candidate
from .comparison import Comparison
from .curve import Curve, Variable
from .growth import growth
from .sweep import Point, Sweep


def along(sweep: Sweep) -> int:
    """Return the index of the variable with the most numbers, along which curves go; 0 if none has numbers."""
    sizes = [len(each.labels) if each.numbers is not None else 0 for each in sweep.variables]
    return sizes.index(max(sizes))


def curves(sweep: Sweep) -> tuple[Curve, ...]:
    """Make the curve of each candidate along one variable, for each combination of the others."""
    curves = []
    for others, points in rows(sweep).items():
        for label in sweep.labels:
            measured = [(at, each) for at, each in points if label in each]
            if measured:
                curves.append(_curve(sweep.variables[along(sweep)], label, others, measured))
    return tuple(curves)


def rows(sweep: Sweep) -> dict[str, list[tuple[int, Comparison]]]:
    """Group the points by the values of the other variables, in the order of the variable along which curves go.

    Each point is the index of its value and the comparison there. Points where all candidates failed are left out.
    """
    main = along(sweep)
    numbers = sweep.variables[main].numbers
    rows: dict[str, list[tuple[int, Comparison]]] = {}
    for point in sweep.points:
        if point.comparison is not None:
            rows.setdefault(_others(sweep, point, main), []).append((point.at[main], point.comparison))
    for points in rows.values():
        points.sort(key=lambda each: numbers[each[0]] if numbers else each[0])
    return rows


def _others(sweep: Sweep, point: Point, main: int) -> str:
    named = enumerate(sweep.values(point).items())
    return ", ".join(f"{name}={label}" for index, (name, label) in named if index != main)


def _curve(variable: Variable, label: str, others: str, measured: Sequence[tuple[int, Comparison]]) -> Curve:
    candidates = [each.candidate(label) for _, each in measured]
    positions = tuple(at for at, _ in measured)
    times = tuple(time_of(each.latency.calls_ns) for each in candidates)
    grows = None
    if variable.numbers is not None:
        sizes = [variable.numbers[at] for at in positions]
        grows = growth(
            sizes, [each.value for each in times], [_error(*each) for each in zip(candidates, times, strict=True)]
        )
    return Curve(
        label=label,
        others=others,
        variable=variable,
        positions=positions,
        times=times,
        compile_ns=tuple(each.first_call.compile_ns for each in candidates),
        growth=grows,
    )


def _error(candidate: Candidate, time: Estimate) -> float:
    """Return the standard error of the logarithm of a time; without an interval, from the scatter of its samples."""
    calls_ns = candidate.latency.calls_ns
    if time.confidence or len(calls_ns) < 2:
        return standard_error(time)
    return stdev(map(log, calls_ns)) * sqrt(pi / 2 / len(calls_ns))


def time_of(calls_ns: Sequence[float]) -> Estimate:
    """Return the median with its interval, or as a single value if there are too few samples for an interval."""
    middle = median(calls_ns)
    return median_interval(calls_ns) or Estimate(value=middle, low=middle, high=middle, confidence=0.0)
