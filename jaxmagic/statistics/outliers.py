"""Samples that are too far away to belong to the distribution of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: An exponential tail is continued from these quantiles of the samples, or of the samples turned round.
_MEDIAN, _QUARTILE = 0.5, 0.75

#: How many samples an exponential tail has beyond the fence, on average.
_BEYOND = 0.01

#: A fence is at least this far from its quartile, in natural logarithms: what is nearer is not worth a word.
_NEAREST = 0.02


class Outliers(NamedTuple):
    """How many samples lie beyond what the tails of their distribution explain.

    Attributes:
        low: below the lower fence.
        high: above the upper fence.
    """

    low: int
    high: int


def outliers(samples: Sequence[float]) -> Outliers:
    """Count the samples that lie far outside. They are kept in all results.

    Tukey's fences assume a symmetric distribution, and so call a part of each skewed one outliers. Here a fence
    continues each side of the distribution of the logarithms, from the median through the quartile, as an
    exponential tail, to where less than a hundredth of a sample is expected. Normal, log-normal, exponential and
    gamma times have tails that are no heavier, because the density of their logarithms is log-concave. Up to a
    tenth of the samples may be outliers.

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
    """Tell how many of the values lie above the upper fence."""
    middle, quartile = np.quantile(logs, (_MEDIAN, _QUARTILE))
    scale = (quartile - middle) / np.log((1 - _MEDIAN) / (1 - _QUARTILE))
    reach = scale * np.log((1 - _QUARTILE) * max(len(logs), 4) / _BEYOND)
    return int(np.sum(logs > quartile + max(reach, _NEAREST)))
