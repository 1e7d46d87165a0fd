"""Tests whether samples change over time: while calls warm up, and over a whole run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .medians import median

_Array = NDArray[np.float64]

#: Fewer samples are not enough to find a trend.
_FEWEST = 20

#: Calls are warm once the median of one third is at least this share of the median of the third before it.
_STEADY = 0.97

#: The threshold for a rank correlation, in standard deviations. Independent samples exceed 3.7 once in 5,000 runs;
#: noise with a lag-one correlation of up to 0.9 in at most one run of 50.
_TREND = 3.7

#: The largest lag-one correlation assumed; its estimate is too uncertain to trust higher values.
_MOST_CORRELATED = 0.99

#: The bias of an estimated correlation, times the number of samples, because a line or a step was fitted first:
#: (2 + 4 φ)/n for a line (F. H. C. Marriott and J. A. Pope, Biometrika 41, 1954), and more for the best of many
#: steps.
_LINE_BIAS = 3.0
_STEP_BIAS = 5.0


def is_steady(samples: Sequence[float]) -> bool:
    """Return whether the samples have stopped falling: their last third is about as long as the third before it.

    >>> is_steady([90, 60, 30, 20, 10, 10]), is_steady([90, 20, 10, 10, 10, 10])
    (False, True)
    """
    third = len(samples) // 3
    if third < 2:
        return False
    return median(samples[-third:]) >= _STEADY * median(samples[-2 * third : -third])


def drift(samples: Sequence[float]) -> float | None:
    """Return the relative change of the samples from their first third to their last, unless it may be chance.

    The test is the rank correlation of samples and time. Noise that lasts longer than a sample increases the variance
    of the correlation by the factor (1 + φ)/(1 − φ) for neighbours with correlation φ, as fewer samples would. φ is
    estimated from the ranks' residuals after fitting a line or a single step, whichever fits better.

    Args:
        samples: in the order in which they were taken.

    Returns:
        0.1 for a rise by 10 %; ``None`` if there is no trend, or if there are too few samples.

    >>> round(drift([100 + step for step in range(30)]), 3)
    0.191
    >>> drift([100, 101] * 20) is None
    True
    """
    values = np.asarray(samples, dtype=float)
    count = len(values)
    if count < _FEWEST or np.ptp(values) == 0:
        return None
    ranks = _ranks(values)
    correlation = np.corrcoef(ranks, np.arange(count))[0, 1]
    if abs(correlation) * np.sqrt((count - 1) / _inflation(ranks)) < _TREND:
        return None
    third = count // 3
    before, after = np.median(values[:third]), np.median(values[-third:])
    return float(after / before - 1) if before > 0 else None


def _inflation(ranks: _Array) -> float:
    """Return the variance of a rank correlation relative to its variance for independent samples."""
    count = len(ranks)
    centred = ranks - np.mean(ranks)
    line, step = _without_line(centred), _without_step(centred)
    rest, bias = (line, _LINE_BIAS) if line @ line <= step @ step else (step, _STEP_BIAS)
    if rest @ rest <= 1e-9 * (centred @ centred):  # nothing but a line or a step
        return 1.0
    estimate = float(rest[1:] @ rest[:-1] / (rest @ rest))
    phi = min(max((count * estimate + bias) / (count - 4), 0.0), _MOST_CORRELATED)
    return (1 + phi) / (1 - phi)


def _without_line(centred: _Array) -> _Array:
    time = np.arange(len(centred)) - (len(centred) - 1) / 2
    rest: _Array = centred - time * (centred @ time) / (time @ time)
    return rest


def _without_step(centred: _Array) -> _Array:
    """Remove the step that minimizes the sum of squares within both parts; each part has at least a tenth."""
    count = len(centred)
    least = count // 10
    before = np.arange(least, count - least + 1)
    sums = np.cumsum(centred)[before - 1]
    cut = int(before[np.argmax(sums**2 * count / (before * (count - before)))])
    return np.concatenate([part - np.mean(part) for part in (centred[:cut], centred[cut:])])


def _ranks(values: _Array) -> _Array:
    """Return the rank of each value; equal values share a rank, so that a coarse clock makes no trend."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: _Array = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks
