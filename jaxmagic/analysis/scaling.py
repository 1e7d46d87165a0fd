"""How times grow along a sweep: curves, and the exponent of a power.

Of what a call takes, only a part grows with the size of its work: the way through Python and the dispatch do not. So
small sizes lie on a plateau, and a power fitted through all points would be that of neither. It is fitted through
the largest ones, as many as lie on a straight line of logarithms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.comparison import Comparison
from ..model.estimate import Estimate
from ..model.sweep import Curve, Growth, Point, Sweep, Variable
from .statistics import CONFIDENCE, median, median_interval

#: A line through two points fits always: it says nothing about itself.
_FEWEST = 3

#: A bend that chance would make less often than this means that the smallest point is not on the line. To leave out
#: one too many costs precision, to keep one too many the truth.
_BENT = 0.2

#: An exponent whose interval is wider than this says little.
_WIDEST = 0.8

#: As a share of it no time is known better than this, however well a line fits.
_NOISE = 0.005


def along(sweep: Sweep) -> int:
    """Which variable the curves go along: the one with the most numbers; the first one if none has numbers."""
    sizes = [len(each.labels) if each.numbers is not None else 0 for each in sweep.variables]
    return sizes.index(max(sizes))


def curves(sweep: Sweep) -> tuple[Curve, ...]:
    """Each candidate along one variable, for each combination of the others."""
    found = []
    for others, points in rows(sweep).items():
        for label in sweep.labels:
            measured = [(at, each) for at, each in points if label in each]
            if measured:
                found.append(_curve(sweep.variables[along(sweep)], label, others, measured))
    return tuple(found)


def growth(sizes: Sequence[float], times: Sequence[float]) -> Growth | None:
    """The exponent of the power of the size that the time is, for large sizes.

    Through the logarithms of all points goes a straight line, by least squares, and a parabola. While the parabola is
    the better one beyond chance, the smallest point is left out; and then one more, because a bend is not seen before
    it is large. The exponent is that of the rest. Its interval is that of the slope, by Student's t.

    Args:
        sizes: of the work, ascending.
        times: at each of them, in any unit.

    Returns:
        ``None`` for fewer than three points, and where a time is 0.

    >>> found = growth([1, 2, 4, 8], [3, 12, 48, 192])
    >>> round(found.exponent.value, 6), found.start
    (2.0, 1)
    """
    if len(times) < _FEWEST or min(times) <= 0:
        return None
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(times, dtype=float))
    first = 0
    while len(x) - first > _FEWEST and _is_bent(x[first:], y[first:]):
        first += 1
    if first:
        first = min(first + 1, len(x) - _FEWEST)
    return Growth(exponent=_slope(x[first:], y[first:]), start=sizes[first])


def is_known(found: Growth) -> bool:
    """Whether an exponent is worth telling as one: its interval is narrow enough to tell n from n log n or n^2."""
    return found.exponent.high - found.exponent.low <= _WIDEST


def rows(sweep: Sweep) -> dict[str, list[tuple[int, Comparison]]]:
    """Group the points by the values of the other variables, in the order of the one that curves go along.

    Each point is the position of its value and the comparison there. Points where all candidates failed are left out.
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
        grows = growth([variable.numbers[at] for at in positions], [each.value for each in times])
    return Curve(
        label=label,
        others=others,
        variable=variable,
        positions=positions,
        times=times,
        compile_ns=tuple(each.first_call.compile_ns for each in candidates),
        growth=grows,
    )


def time_of(calls_ns: Sequence[float]) -> Estimate:
    """The median with its interval, or with none where there are too few samples for one."""
    middle = median(calls_ns)
    return median_interval(calls_ns) or Estimate(value=middle, low=middle, high=middle, confidence=0.0)


def _is_bent(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether a parabola is the better curve beyond chance: the t-test of its highest coefficient."""
    from scipy.special import stdtr

    design = np.stack([np.ones_like(x), x - x.mean(), (x - x.mean()) ** 2], axis=1)
    value, error, freedom = _last_coefficient(design, y)
    if freedom == 0:  # three points lie on a parabola always
        return False
    return bool(2 * stdtr(freedom, -abs(value) / error) < _BENT)


def _slope(x: np.ndarray, y: np.ndarray) -> Estimate:
    from scipy.special import stdtrit

    value, error, freedom = _last_coefficient(np.stack([np.ones_like(x), x - x.mean()], axis=1), y)
    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
    return Estimate(value=value, low=value - reach, high=value + reach, confidence=CONFIDENCE)


def _last_coefficient(design: np.ndarray, y: np.ndarray) -> tuple[float, float, int]:
    """The last coefficient of a linear fit, its standard error, and the degrees of freedom that are left."""
    coefficients, *_ = np.linalg.lstsq(design, y, rcond=None)
    freedom = len(y) - design.shape[1]
    if freedom == 0:
        return float(coefficients[-1]), 0.0, 0
    spread = max(float(np.sum((y - design @ coefficients) ** 2)) / freedom, _NOISE**2)
    inverse = np.linalg.inv(design.T @ design)
    return float(coefficients[-1]), float(spread * inverse[-1, -1]) ** 0.5, freedom
