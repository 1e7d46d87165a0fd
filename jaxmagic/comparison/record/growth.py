"""Estimates how a time grows along a sweep: the exponent of its work, separate from the constant overhead.

Part of a call's time is spent in Python and the dispatch, which does not depend on the size of the work. A power
fitted through small sizes is then far too flat, even where the overhead is no longer the larger part. So an overhead
and a power, ``a`` and ``b n^k`` with ``a >= 0``, are fitted by least squares of logarithms.

The interval contains all exponents whose best curve fits the points nearly as well as the best of all:
``RSS(k) <= RSS + t² s²``, with the noise ``s`` of :mod:`.between_points`. It is not symmetric: if the overhead hides
the work, it reaches far up, or is unbounded.

Other processes may slow one point down more than another, also systematically: large operations use all processors,
small ones do not. Where they kept the machine busy, each point may have been slowed down by any factor up to the
largest that the load allows, or up to the largest of all if it has too few rounds for an interval. That is added to
the noise, and the interval is extended by as much as such factors can shift the exponent.

Without a prior, the noise could be estimated by measuring each point twice. In simulations with 1, 2, 3 and 5 %
between points, that covers the exponent in 0.96 of cases; the prior, in half the time, in 1.00, 0.98, 0.96 and 0.89.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import exp, inf, isfinite
from typing import NamedTuple

import numpy as np

from ...statistics.estimate import Estimate
from ...statistics.medians import CONFIDENCE
from .between_points import PRIOR_FREEDOM, Noise, moderated
from .curve import Growth
from .overhead_curves import Array, Points, added, overlapped, power, profile, relative_work

#: Logarithms beyond this are not of a real time: the curve leaves the overhead undetermined.
_HUGE = 700.0

#: The fewest points. A curve with three parameters always fits two points exactly.
_FEWEST = 3

#: The largest exponent that is tried: nothing worth measuring grows faster.
_LARGEST = 8.0

#: The step between the exponents that are tried first.
_STEP = 0.25

#: An interval narrower than this cannot hold both n and n^2.
_WIDEST = 1.0

#: A wider interval is reported only if it has one side of zero: then the time certainly grows, or falls.
_WIDEST_TO_REPORT = 2.0

#: An exponent closer to zero than this is not distinguished from a constant.
_FLAT = 0.1

#: If the squares of the residuals exceed this many times the prior's, the smallest sizes are checked for a misfit.
_SUSPICIOUS = 2.0

#: Points fit badly if chance would make them fit as badly with a probability below this.
_MISFIT = 0.01

#: The standard deviation of a uniform distribution over an interval, as a share of its length.
_UNIFORM = 12**-0.5

#: The fewest points to keep, one more than the curve has parameters.
_KEPT = 4

#: The confidence of overheads. In simulations with 1, 2 and 3 % between points, intervals cover 0.97, 0.92 and 0.90.
_OVERHEAD = 0.9

Curve = Callable[[Array], Array]

#: The interval contains the exponents of both kinds, because few points do not show which one it is.
_CURVES = (added, overlapped)


def growth(
    sizes: Sequence[float],
    times: Sequence[float],
    errors: Sequence[float] | None = None,
    slowdowns: Sequence[float] | None = None,
) -> Growth | None:
    """Fit an overhead and a power of the size, with the interval of the exponent.

    If the smallest sizes do not fit, something else affects their time, for example because they fit into a cache.
    They are left out, as long as at least four sizes remain.

    Args:
        sizes: the sizes of the work, ascending.
        times: the time at each size, in nanoseconds.
        errors: the standard errors of the times, as shares of them; 0 if left out.
        slowdowns: the largest factors by which other processes may have slowed the points down; 1 if left out.

    Returns:
        ``None`` for fewer than three points, and if a time is 0.

    >>> fitted = growth([1, 2, 4, 8], [3, 12, 48, 192])
    >>> round(fitted.exponent.value, 6), fitted.start
    (2.0, 1)
    """
    if len(times) < _FEWEST or min(times) <= 0:
        return None
    return _growth(
        tuple(sizes), tuple(times), tuple(errors or [0.0] * len(times)), tuple(slowdowns or [1.0] * len(times))
    )


@lru_cache(maxsize=256)
def _growth(
    sizes: tuple[float, ...], times: tuple[float, ...], errors: tuple[float, ...], slowdowns: tuple[float, ...]
) -> Growth:
    spreads = np.log(slowdowns)
    first, fit = _largest(Points(np.log(sizes), np.log(times), np.hypot(errors, spreads * _UNIFORM)))
    if _is_misfit(fit):
        unknown = Estimate(value=fit.exponent, low=-inf, high=inf, confidence=CONFIDENCE)
        return Growth(exponent=unknown, start=sizes[first], overhead_ns=None, changes=True)
    noise = moderated(fit.squares, fit.freedom, list(fit.points.errors))
    limit = fit.squares + noise.reach((1 - CONFIDENCE) / 2) ** 2
    down, up = _shifts(fit.points, spreads[first:])
    low, high = _ends(fit, limit)
    low, high = low - up, high - down
    exponent = Estimate(value=fit.exponent, low=low, high=high, confidence=CONFIDENCE)
    if power(fit.points)[1] <= limit:  # the curve fits the points as well without an overhead
        return Growth(exponent=exponent, start=sizes[first], overhead_ns=None)
    overhead_ns, over = _overhead(fit, noise, limit, (low, high))
    start = next((size for size, more in zip(sizes[first:], over, strict=True) if more >= 0), inf)
    return Growth(exponent=exponent, start=start, overhead_ns=overhead_ns)


def is_known(growth: Growth) -> bool:
    """Return whether an exponent is known well enough: its interval cannot contain both n and n^2."""
    return growth.exponent.high - growth.exponent.low < _WIDEST


def is_bounded(growth: Growth) -> bool:
    """Return whether the interval of an exponent is worth reporting, though it may have only one end.

    It is if the time certainly grows, or certainly falls, or if the interval cannot contain exponents farther apart
    than those of a constant and n^2.
    """
    low, high = growth.exponent.low, growth.exponent.high
    return low > _FLAT or high < -_FLAT or high - low <= _WIDEST_TO_REPORT


class _Fit(NamedTuple):
    """The best curve.

    Attributes:
        points: the points that it fits.
        exponent: the exponent of its power.
        squares: the weighted sum of squared residuals.
        curve: the kind of curve.
        grid: the exponents that were tried first, from 0 outwards.
        least: the least squares for each of them; the first is for a constant.
    """

    points: Points
    exponent: float
    squares: float
    curve: Curve
    grid: Array
    least: Array

    @property
    def freedom(self) -> int:
        """The degrees of freedom of the residuals."""
        return len(self.points.x) - 3


def _shifts(points: Points, spreads: Array) -> tuple[float, float]:
    """Return how far slowdowns of the points, from none to the largest, can shift the exponent down and up."""
    x = points.x - points.mean(points.x)
    shifts = points.weights * x / np.sum(points.weights * x * x) * spreads
    return float(shifts[shifts < 0].sum()), float(shifts[shifts > 0].sum())


def _largest(points: Points) -> tuple[int, _Fit]:
    """Return how many of the smallest sizes to leave out, and the best curve through the others.

    Sizes are left out only if the others then fit better than chance explains, by an F-test with the moderated noise
    of the others.
    """
    from scipy.special import fdtrc

    full = best = _fit(points)
    first, least = 0, _MISFIT
    if full.squares <= _SUSPICIOUS * full.freedom * points.typical:
        return first, full
    for left_out in range(1, len(points.x) - _KEPT + 1):
        fit = _fit(points.without(left_out))
        noise = moderated(fit.squares, fit.freedom, list(fit.points.errors))
        gained = (full.squares - fit.squares) / left_out / noise.deviation**2
        chance = float(fdtrc(left_out, noise.freedom, max(gained, 0.0)))
        if chance < least:
            first, best, least = left_out, fit, chance
    return first, best


def _is_misfit(fit: _Fit) -> bool:
    """Return whether chance hardly explains how far the points are from the best curve, by an F-test with the prior.

    A curve without an overhead has one parameter less.
    """
    from scipy.special import fdtrc

    is_power = fit.squares >= power(fit.points)[1] * (1 - 1e-6)
    freedom = fit.freedom + is_power
    if freedom < 1:
        return False
    return float(fdtrc(freedom, PRIOR_FREEDOM, fit.squares / freedom / fit.points.typical)) < _MISFIT


def _fit(points: Points) -> _Fit:
    slope, squares = power(points)
    grid = np.copysign(np.arange(0, _LARGEST + _STEP / 2, _STEP), slope)
    of_kind = [profile(points, grid, curve).squares for curve in _CURVES]
    kind = int(np.argmin([each.min() for each in of_kind]))
    least, at, step = np.min(of_kind, axis=0), float(grid[of_kind[kind].argmin()]), _STEP
    for _ in range(4):
        finer = np.linspace(at - step, at + step, 21)
        nearest, _ = profile(points, finer, _CURVES[kind])
        at, step = float(finer[nearest.argmin()]), step / 10
    if squares <= nearest.min() * (1 + 1e-6) + 1e-12:  # no overhead: the exponent follows directly
        return _Fit(points, slope, squares, _CURVES[kind], grid, least)
    return _Fit(points, at, float(nearest.min()), _CURVES[kind], grid, least)


def _ends(fit: _Fit, limit: float) -> tuple[float, float]:
    """Return the outermost exponents whose curves stay within the limit; infinite where the search ends."""
    if fit.least[0] <= limit:  # a constant is within the limit, so any growth may hide in it
        return -inf, inf
    within = np.append(fit.grid[fit.least <= limit], fit.exponent)
    return _last(fit, float(within.min()), -1, limit), _last(fit, float(within.max()), 1, limit)


def _last(fit: _Fit, inside: float, sign: int, limit: float) -> float:
    """Search from an exponent within the limit for the last one, in one direction."""
    if abs(inside) > _LARGEST - _STEP:
        return sign * inf
    step = _STEP
    for _ in range(3):
        steps = inside + sign * np.linspace(0, step, 13)
        outside = np.min([profile(fit.points, steps, curve).squares for curve in _CURVES], axis=0) > limit
        outside[0] = False
        inside, step = float(steps[int(outside.argmax()) - 1 if outside.any() else -1]), step / 12
    return inside


def _overhead(fit: _Fit, noise: Noise, limit: float, ends: tuple[float, float]) -> tuple[Estimate, Array]:
    """Return the overhead, and the logarithm of work over overhead at each point.

    Its interval comes from linearization. It is extended by the overhead of each curve of either kind that stays
    within the limit with the best exponent or with an end of its interval.
    """
    from scipy.special import expit

    points, weights = fit.points, fit.points.weights
    over, level = _bent(points, fit.exponent, fit.curve)
    part = expit(over) if fit.curve is added else (over > 0).astype(float)  # the share of work in the time
    design = np.stack([1 - part, part, part * points.x], axis=1)  # for overhead, factor and exponent
    covariance = np.linalg.pinv(design.T @ (weights[:, None] * design))
    reach = noise.reach((1 - CONFIDENCE) / 2) * float(covariance[0, 0]) ** 0.5
    levels = [level - reach, level + reach]
    levels += [
        _bent(points, exponent, curve)[1]
        for curve in _CURVES
        for exponent in filter(isfinite, (fit.exponent, *ends))
        if profile(points, np.array([exponent]), curve).squares[0] <= limit
    ]
    value, low, high = (exp(min(max(each, -_HUGE), _HUGE)) for each in (level, min(levels), max(levels)))
    return Estimate(value=value, low=low, high=high, confidence=_OVERHEAD), over


def _bent(points: Points, exponent: float, curve: Curve) -> tuple[Array, float]:
    """Return the logarithms of work over overhead at each point and of the overhead, for the best curve of a kind."""
    exponents = np.array([exponent])
    over: Array = relative_work(points, exponents)[0] + profile(points, exponents, curve).bends[0]
    return over, float(points.mean(points.y - curve(over))[0])
