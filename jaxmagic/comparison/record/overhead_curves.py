"""Computes the curves of an overhead and a power, and how well they fit the points of a sweep.

A time is the overhead plus the work if the device waits for the host. It is the larger of both if they overlap, as
when a program launches many small kernels. In logarithms, with the work's exponent ``k``, both bend once from a
constant to a straight line of slope ``k``: ``c + log(1 + e^z)`` and ``c + max(0, z)`` with ``z = k (x - bend)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .between_points import BETWEEN_POINTS

Array = NDArray[np.float64]


class Points(NamedTuple):
    """The logarithms of sizes and times, and the standard errors of the latter."""

    x: Array
    y: Array
    errors: Array

    def without(self, first: int) -> Points:
        """Leave out the first points."""
        return Points(self.x[first:], self.y[first:], self.errors[first:])

    @property
    def weights(self) -> Array:
        """Weights that are one for the mean variance, so that weighted squares have the scale of the noise."""
        variances = BETWEEN_POINTS**2 + self.errors**2
        weights: Array = variances.mean() / variances
        return weights

    def mean(self, values: Array) -> Array:
        """Return the weighted mean of values at these points, along the last axis."""
        weights = self.weights
        mean: Array = np.sum(weights * values, axis=-1, keepdims=True) / weights.sum()
        return mean

    @property
    def typical(self) -> float:
        """The mean variance of a point, according to the prior."""
        return BETWEEN_POINTS**2 + float(np.mean(self.errors**2))


def added(ratios: Array) -> Array:
    """Return the time over the overhead if the work comes after the overhead; all in logarithms."""
    time: Array = np.maximum(ratios, 0) + np.log(1 + np.exp(-np.abs(ratios)))  # faster than numpy.logaddexp
    return time


def overlapped(ratios: Array) -> Array:
    """Return the time over the overhead if the work runs concurrently; all in logarithms."""
    time: Array = np.maximum(ratios, 0)
    return time


class Profile(NamedTuple):
    """The best curve for each of several exponents.

    Attributes:
        squares: the weighted sum of squared residuals.
        bends: the logarithm of work over overhead at the point with the most work.
    """

    squares: Array
    bends: Array


def profile(points: Points, exponents: Array, curve: Callable[[Array], Array]) -> Profile:
    """Find the best curve of one kind for each exponent, by a successively refined grid."""
    work = relative_work(points, exponents)[:, None, :]
    span = np.abs(exponents) * np.ptp(points.x)
    margin = 0 if curve is overlapped else 20  # a bend outside the points does not affect them
    bends = -0.6 * margin + np.linspace(0, 1, 33) * (1.6 * margin + span[:, None])
    step = bends[:, 1] - bends[:, 0]
    for _ in range(4):
        squares = _squares(points, curve(work + bends[..., None]))
        best = np.take_along_axis(bends, squares.argmin(axis=1)[:, None], 1)
        bends, step = best + step[:, None] * np.linspace(-1, 1, 17), step / 8
    return Profile(squares.min(axis=1), best[:, 0])


def relative_work(points: Points, exponents: Array) -> Array:
    """Return the logarithm of the work at each point over the largest work, for each exponent."""
    most = np.where(exponents > 0, points.x.max(), points.x.min())
    work: Array = exponents[:, None] * (points.x - most[:, None])
    return work


def _squares(points: Points, curves: Array) -> Array:
    residuals = points.y - curves
    squares: Array = np.sum(points.weights * (residuals - points.mean(residuals)) ** 2, axis=-1)
    return squares


def power(points: Points) -> tuple[float, float]:
    """Fit a power without overhead. Return its exponent and the weighted sum of squared residuals."""
    weights = points.weights
    x, y = (part - points.mean(part) for part in (points.x, points.y))
    slope = float(np.sum(weights * x * y) / np.sum(weights * x * x))
    return slope, float(np.sum(weights * (y - slope * x) ** 2))
