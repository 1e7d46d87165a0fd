"""Makes the curves of a sweep: each candidate along one variable, with the other variables fixed."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, pi, sqrt
from statistics import stdev

from ...records.environment import Environment
from ...records.other_load import LARGEST_SLOWDOWN, is_loaded, largest_slowdown
from ...statistics.estimate import Estimate
from ...statistics.medians import median, median_interval
from .between_points import standard_error
from .candidate import Candidate
from .comparison import Comparison
from .curve import Curve, Variable
from .growth import growth
from .sweep import Point, Sweep

#: The scatter at other points counts as much as this many samples of a point with few.
_SAMPLES_OF_TYPICAL = 2

#: The scatter where no point shows any, as a logarithm: a time may be half or twice as long in another run.
_UNKNOWN = log(2)


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
            sizes,
            [each.value for each in times],
            _errors(candidates, times),
            _slowdowns(candidates, times, measured[0][1].environment),
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


def _errors(candidates: Sequence[Candidate], times: Sequence[Estimate]) -> list[float]:
    """Return the standard errors of the logarithms of times.

    Without an interval it follows from the scatter of the few samples, and from that at the points with an interval,
    which counts as much as two samples more: one sample shows no scatter, and two may agree by chance. Where no point
    has an interval, the scatter at the other points stands for it.
    """
    scatters = [(_scatter(each), time.confidence) for each, time in zip(candidates, times, strict=True)]
    shown = [each for each, confidence in scatters if each is not None and confidence]
    shown = shown or [each for each, _ in scatters if each is not None]
    typical = median(shown) if shown else _UNKNOWN
    return [
        standard_error(time) if time.confidence else _error_of_few(each.latency.calls_ns, _scatter(each), typical)
        for each, time in zip(candidates, times, strict=True)
    ]


def _scatter(candidate: Candidate) -> float | None:
    """Return the standard deviation of the logarithms of samples; ``None`` for a single one."""
    calls_ns = candidate.latency.calls_ns
    return stdev(map(log, calls_ns)) if len(calls_ns) > 1 else None


def _error_of_few(calls_ns: Sequence[float], own: float | None, typical: float) -> float:
    """Return the standard error of the median of a few samples, given their scatter and that of other points."""
    squares = [] if own is None else [own**2] * (len(calls_ns) - 1)
    squares += [typical**2] * _SAMPLES_OF_TYPICAL
    return sqrt(sum(squares) / len(squares) * pi / 2 / len(calls_ns))


def _slowdowns(candidates: Sequence[Candidate], times: Sequence[Estimate], environment: Environment) -> list[float]:
    """Return the largest factors by which other processes may have slowed each point down.

    Where sampling was too short to measure the load, it is assumed to be the largest of those at the other points. It
    is an average, and bounds the slowdown of a median of many rounds. A few rounds may all have met a moment of more
    load, so that their median may be off by the largest factor of all, unless the load is known to be small.
    """
    known = [each.conditions.other_load for each in candidates]
    most = max((each for each in known if each is not None), default=None)
    processors = environment.cpu_count or 1
    loads = [most if each is None else each for each in known]
    return [
        largest_slowdown(load, processors) if time.confidence or _is_quiet(load, processors) else LARGEST_SLOWDOWN
        for load, time in zip(loads, times, strict=True)
    ]


def _is_quiet(load: float | None, processors: int) -> bool:
    """Return whether other processes are known to have kept few processors busy."""
    return load is not None and not is_loaded(load, processors)


def time_of(calls_ns: Sequence[float]) -> Estimate:
    """Return the median with its interval, or as a single value if there are too few samples for an interval."""
    middle = median(calls_ns)
    return median_interval(calls_ns) or Estimate(value=middle, low=middle, high=middle, confidence=0.0)
