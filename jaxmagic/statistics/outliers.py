"""Finds outliers: samples too far away to belong to the distribution of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: An exponential tail is extrapolated from these quantiles of the samples, or of their negatives for the lower side.
_MEDIAN, _QUARTILE = 0.5, 0.75

#: The expected number of samples of an exponential tail beyond the fence.
_BEYOND = 0.01

#: The minimum distance of a fence from its quartile, in natural logarithms; smaller deviations are not reported.
_NEAREST = 0.02


class Outliers(NamedTuple):
    """The numbers of samples that the tails of their distribution do not explain.

    Attributes:
        low: the number of samples below the lower fence.
        high: the number of samples above the upper fence.
    """

    low: int
    high: int


def outliers(samples: Sequence[float]) -> Outliers:
    """Count the outliers. They are kept in all results.

    Tukey's fences assume a symmetric distribution, and so classify a part of every skewed one as outliers. Here each
    side of the distribution of the logarithms is extrapolated from the median through the quartile, as an exponential
    tail; the fence is where a hundredth of a sample is expected beyond it. Normal, log-normal, exponential and gamma
    times have no heavier tails, because the density of their logarithms is log-concave. Up to a tenth of the samples
    may be outliers.

    >>> outliers([10, 11, 12, 11, 10, 11, 99])
    Outliers(low=0, high=1)
    """
    ordered = np.sort(np.asarray(samples, dtype=float))
    positive = ordered[ordered > 0]
    if len(positive) == 0:
        return Outliers(0, 0)
    logs = np.log(np.maximum(ordered, positive[0]))
    return Outliers(_beyond(-logs), _beyond(logs))


def _beyond(logs: NDArray[np.float64]) -> int:
    """Count the values above the upper fence."""
    middle, quartile = np.quantile(logs, (_MEDIAN, _QUARTILE))
    scale = (quartile - middle) / np.log((1 - _MEDIAN) / (1 - _QUARTILE))
    reach = scale * np.log((1 - _QUARTILE) * max(len(logs), 4) / _BEYOND)
    return int(np.sum(logs > quartile + max(reach, _NEAREST)))
