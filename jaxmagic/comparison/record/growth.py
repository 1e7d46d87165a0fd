"""How a time grows along a sweep: the exponent of its work, apart from the overhead that does not grow.

A call spends part of its time on its way through Python and the dispatch, which does not depend on the size of its
work. A power fitted through small sizes is then far too flat, even where the overhead is no longer the larger part.
So an overhead and a power, ``a`` and ``b n^k`` with ``a >= 0``, are fitted by least squares of logarithms.

The interval has all exponents whose best curve passes the points nearly as well as the best of all:
``RSS(k) <= RSS + t² s²``, with the noise ``s`` of :mod:`.between_points`. This profile is not symmetric: where the
overhead hides the work, it reaches far up, or without bound.

The noise could be had without a prior, by measuring each point twice. In simulations with 1, 2, 3 and 5 % between
points that covers the exponent in 0.96 of cases; the prior, for half the time, in 1.00, 0.98, 0.96 and 0.89.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import exp, inf, isfinite
from typing import NamedTuple

import numpy as np

from ...statistics.estimate import Estimate
from ...statistics.medians import CONFIDENCE
from .between_points import Noise, moderated
from .curve import Growth
from .overhead_curves import Array, Points, added, overlapped, power, profile, relative_work

#: Logarithms beyond this are those of no time: the curve does not know the overhead.
_HUGE = 700.0

#: A curve of three parameters through two points fits always: it says nothing about itself.
_FEWEST = 3

#: Exponents beyond this are not searched: nothing that is worth measuring grows so fast.
_LARGEST = 8.0

#: Between exponents that are tried first.
_STEP = 0.25

#: An interval narrower than this cannot hold both n and n^2.
_WIDEST = 1.0

#: An interval that reaches farther than this from its exponent says nothing.
_FARTHEST = 1.0

#: Squares of residuals beyond this many times the prior's are looked at: is it the smallest sizes that do not fit?
_SUSPICIOUS = 2.0

#: Chance would make the smallest sizes fit so badly less often than this.
_MISFIT = 0.01

#: So many points are kept, one more than the curve has parameters.
_KEPT = 4

#: Intervals of overheads cover 0.97, 0.92 and 0.90 of simulated ones with 1, 2 and 3 % between points.
_OVERHEAD = 0.9

Curve = Callable[[Array], Array]

#: The interval holds the exponents of either kind, because few points do not tell which one it is.
_CURVES = (added, overlapped)


def growth(sizes: Sequence[float], times: Sequence[float], errors: Sequence[float] | None = None) -> Growth | None:
    """Fit an overhead and a power of the size, and give the interval of the exponent.

    Where the smallest sizes do not fit, something else takes the time there, such as a cache that holds them. They
    are left out, while at least four remain.

    Args:
        sizes: of the work, ascending.
        times: at each of them, in nanoseconds.
        errors: their standard errors, as shares of them; 0 where left out.

    Returns:
        ``None`` for fewer than three points, and where a time is 0.

    >>> found = growth([1, 2, 4, 8], [3, 12, 48, 192])
    >>> round(found.exponent.value, 6), found.start
    (2.0, 1)
    """
    if len(times) < _FEWEST or min(times) <= 0:
        return None
    return _growth(tuple(sizes), tuple(times), tuple(errors or [0.0] * len(times)))


@lru_cache(maxsize=256)
def _growth(sizes: tuple[float, ...], times: tuple[float, ...], errors: tuple[float, ...]) -> Growth:
    first, fit = _largest(Points(np.log(sizes), np.log(times), np.array(errors)))
    noise = moderated(fit.squares, fit.freedom, list(fit.points.errors))
    limit = fit.squares + noise.reach((1 - CONFIDENCE) / 2) ** 2
    low, high = _ends(fit, limit)
    exponent = Estimate(value=fit.exponent, low=low, high=high, confidence=CONFIDENCE)
    if power(fit.points)[1] <= limit:  # without any overhead the curve passes the points as well
        return Growth(exponent=exponent, start=sizes[first], overhead_ns=None)
    overhead_ns, over = _overhead(fit, noise, limit, (low, high))
    start = next((size for size, more in zip(sizes[first:], over, strict=True) if more >= 0), inf)
    return Growth(exponent=exponent, start=start, overhead_ns=overhead_ns)


def is_known(found: Growth) -> bool:
    """Tell whether an exponent is worth telling as one: its interval cannot hold both n and n^2."""
    return found.exponent.high - found.exponent.low < _WIDEST


def is_bounded(found: Growth) -> bool:
    """Tell whether the interval of an exponent is worth telling at all.

    It reaches no farther than one from its value.
    """
    exponent = found.exponent
    return max(exponent.high - exponent.value, exponent.value - exponent.low) <= _FARTHEST


class _Fit(NamedTuple):
    """The best curve.

    Attributes:
        points: that it passes.
        exponent: of its power.
        squares: of its residuals, weighted.
        curve: its kind.
        grid: the exponents that were tried first, from 0 outwards.
        least: the least squares for each of them; the first is that of a constant.
    """

    points: Points
    exponent: float
    squares: float
    curve: Curve
    grid: Array
    least: Array

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the residuals."""
        return len(self.points.x) - 3


def _largest(points: Points) -> tuple[int, _Fit]:
    """Tell how many of the smallest sizes are left out, and the best curve through the others.

    None are, unless the points without them lie nearer to their curve than chance explains: the F-test of these
    points, with the moderated noise of the others.
    """
    from scipy.special import fdtrc

    every = best = _fit(points)
    first, least = 0, _MISFIT
    if every.squares <= _SUSPICIOUS * every.freedom * points.typical:
        return first, every
    for left_out in range(1, len(points.x) - _KEPT + 1):
        fit = _fit(points.without(left_out))
        noise = moderated(fit.squares, fit.freedom, list(fit.points.errors))
        gained = (every.squares - fit.squares) / left_out / noise.deviation**2
        chance = float(fdtrc(left_out, noise.freedom, max(gained, 0.0)))
        if chance < least:
            first, best, least = left_out, fit, chance
    return first, best


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
    if squares <= nearest.min() * (1 + 1e-6) + 1e-12:  # no overhead: the exponent is known exactly
        return _Fit(points, slope, squares, _CURVES[kind], grid, least)
    return _Fit(points, at, float(nearest.min()), _CURVES[kind], grid, least)


def _ends(fit: _Fit, limit: float) -> tuple[float, float]:
    """The exponents farthest apart whose curves stay within the limit; infinite where the search ends."""
    if fit.least[0] <= limit:  # so does a constant: any growth may hide in it
        return -inf, inf
    within = np.append(fit.grid[fit.least <= limit], fit.exponent)
    return _last(fit, float(within.min()), -1, limit), _last(fit, float(within.max()), 1, limit)


def _last(fit: _Fit, inside: float, sign: int, limit: float) -> float:
    """From an exponent within the limit to the last one, in one direction."""
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
    """The overhead, and the logarithm of work over overhead at each point.

    Its interval is by linearization, and has the overhead of each curve, of either kind, that stays within the limit
    with the best exponent or at an end of its interval.
    """
    from scipy.special import expit

    points, weights = fit.points, fit.points.weights
    over, level = _bent(points, fit.exponent, fit.curve)
    part = expit(over) if fit.curve is added else (over > 0).astype(float)  # of the time that is work
    design = np.stack([1 - part, part, part * points.x], axis=1)  # of overhead, factor and exponent
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
    found = Estimate(value=value, low=low, high=high, confidence=_OVERHEAD)
    return found, over


def _bent(points: Points, exponent: float, curve: Curve) -> tuple[Array, float]:
    """The logarithms of work over overhead at each point, and of the overhead, for the best curve of a kind."""
    exponents = np.array([exponent])
    over: Array = relative_work(points, exponents)[0] + profile(points, exponents, curve).bends[0]
    return over, float(np.mean(points.weights * (points.y - curve(over))))
