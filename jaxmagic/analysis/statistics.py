"""Samples to numbers that can be trusted: the median, how sure it is, and what is wrong with the samples.

Times are skewed, have several modes and outliers, and no known distribution. So everything here rests on their order
alone: quantiles, ranks, and an interval whose coverage holds for any distribution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.estimate import Estimate

CONFIDENCE = 0.95

#: Below this, ranks say too little about a trend or about modes.
_FEWEST = 20

#: A fall by more than this, from one third of the calls to the next, means that they are not warm yet.
_STEADY = 0.97

#: How many standard deviations of a rank correlation between chance and a trend: one in 2,000 is beyond.
_TREND = 3.5

#: The gap between two modes, from the 90th percentile of the lower to the 10th of the upper, in units of the sum of
#: their interquartile ranges. Wherever one mode of the usual shapes (normal, log-normal, exponential, uniform) is
#: split, its parts are 0.15 to 0.4 apart.
_APART = 1.0

#: Fewer samples than this share are outliers, not a mode.
_LEAST_SHARE = 0.15


def looks(first: int = 40, growth: float = 1.5) -> Iterator[int]:
    """After how many samples the interval is looked at, to decide whether there are enough: 40, 60, 90, 135, ….

    Whoever looks after every sample stops when chance has made the interval narrow, and covers the truth too seldom.
    With few looks, each half as far again as the one before, 94 to 96 of 100 intervals do.
    """
    count = first
    while True:
        yield count
        count = int(count * growth)


def median(samples: Sequence[float]) -> float:
    """The middle of the samples.

    >>> median([3, 1, 2])
    2.0
    """
    return float(np.median(np.asarray(samples, dtype=float)))


def median_interval(samples: Sequence[float], confidence: float = CONFIDENCE) -> Estimate | None:
    """The median, with an interval between two of the samples that needs no assumption on their distribution.

    How many of n samples lie below the true median is binomial with probability one half. So the k-th smallest and
    the k-th largest enclose it unless fewer than k lie on one side, and k is the largest for which that happens
    seldom enough.

    Returns:
        ``None`` where no interval between samples has that confidence: there are fewer than six, for 95 %.

    Source: H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed., section 7.1.

    >>> estimate = median_interval([1, 2, 3, 4, 5, 6, 7])
    >>> estimate.value, estimate.low, estimate.high
    (4.0, 1.0, 7.0)
    """
    rank = _rank(len(samples), confidence)
    if rank == 0:
        return None
    ordered = np.sort(np.asarray(samples, dtype=float))
    return Estimate(
        value=float(np.median(ordered)),
        low=float(ordered[rank - 1]),
        high=float(ordered[-rank]),
        confidence=confidence,
    )


@lru_cache(maxsize=256)
def _rank(count: int, confidence: float) -> int:
    """The largest k for which fewer than k of `count` samples lie on either side of their median seldom enough."""
    from scipy.special import bdtr, bdtrik

    if count == 0:
        return 0
    seldom = (1 - confidence) / 2
    rank = int(max(np.nan_to_num(bdtrik(seldom, count, 0.5)), 0))
    while bdtr(rank, count, 0.5) <= seldom:  # the inverse is a root, found to some digits
        rank += 1
    while rank > 0 and bdtr(rank - 1, count, 0.5) > seldom:
        rank -= 1
    return rank


def quartiles(samples: Sequence[float]) -> tuple[float, float]:
    """The lower and the upper quartile.

    >>> quartiles([1, 2, 3, 4, 5])
    (2.0, 4.0)
    """
    low, high = np.quantile(np.asarray(samples, dtype=float), (0.25, 0.75))
    return float(low), float(high)


def quantile(samples: Sequence[float], share: float) -> float:
    """The value below which so large a share of the samples lies.

    >>> quantile([1, 2, 3, 4, 5], 0.75)
    4.0
    """
    return float(np.quantile(np.asarray(samples, dtype=float), share))


class Histogram(NamedTuple):
    """How many samples lie where.

    Attributes:
        counts: for each bin; the last one also counts what lies beyond.
        low: where the first bin begins.
        high: where the last one ends.
        beyond: how many samples lie beyond that.
    """

    counts: tuple[int, ...]
    low: float
    high: float
    beyond: int


def histogram(samples: Sequence[float], bins: int = 30) -> Histogram | None:
    """The samples in bins of equal width, from the smallest one to where only outliers are left.

    Returns:
        ``None`` where all samples are equal, or fewer than ten.

    >>> histogram([1, 1, 2, 2, 2, 2, 3, 3, 3, 5], bins=4)
    Histogram(counts=(2, 4, 3, 1), low=1.0, high=5.0, beyond=0)
    """
    values = np.asarray(samples, dtype=float)
    if len(values) < 10 or np.ptp(values) == 0:
        return None
    low, high = quartiles(samples)
    end = min(float(np.max(values)), high + 3 * max(high - low, 0.01 * high))
    counts, _ = np.histogram(np.minimum(values, end), bins, (float(np.min(values)), end))
    return Histogram(tuple(map(int, counts)), float(np.min(values)), end, int(np.sum(values > end)))


class Outliers(NamedTuple):
    """Samples beyond Tukey's fences: one and a half interquartile ranges outside the quartiles."""

    low: int
    high: int


def outliers(samples: Sequence[float]) -> Outliers:
    """How many samples lie far outside. They are counted, and kept.

    Source: J. W. Tukey, Exploratory Data Analysis, 1977.

    >>> outliers([10, 11, 12, 11, 10, 11, 99])
    Outliers(low=0, high=1)
    """
    values = np.asarray(samples, dtype=float)
    low, high = quartiles(samples)
    reach = 1.5 * (high - low)
    return Outliers(int(np.sum(values < low - reach)), int(np.sum(values > high + reach)))


def is_steady(samples: Sequence[float]) -> bool:
    """Whether the samples have stopped to fall: their last third is about what the third before it was.

    >>> is_steady([90, 60, 30, 20, 10, 10]), is_steady([90, 20, 10, 10, 10, 10])
    (False, True)
    """
    third = len(samples) // 3
    if third < 2:
        return False
    return median(samples[-third:]) >= _STEADY * median(samples[-2 * third : -third])


def drift(samples: Sequence[float]) -> float | None:
    """By what share the samples rose (or fell) from their first third to their last, if that is no chance.

    Returns:
        0.1 for a rise by 10 %; ``None`` where there is no trend, or too little to tell.
    """
    values = np.asarray(samples, dtype=float)
    if len(values) < _FEWEST or np.ptp(values) == 0:
        return None
    correlation = np.corrcoef(_ranks(values), np.arange(len(values)))[0, 1]
    if abs(correlation) * np.sqrt(len(values) - 1) < _TREND:
        return None
    third = len(values) // 3
    before, after = np.median(values[:third]), np.median(values[-third:])
    return float(after / before - 1) if before > 0 else None


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rank of each value; equal ones share theirs, so that a coarse clock makes no trend."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


class Modes(NamedTuple):
    """Two groups of samples with a gap between them.

    Attributes:
        low: the median of the lower group.
        high: the median of the upper one.
        share: how much of the samples the upper group is.
    """

    low: float
    high: float
    share: float


def two_modes(samples: Sequence[float], resolution: float = 0.0) -> Modes | None:
    """The two groups that the samples fall into, if they do.

    All splits of the ordered samples into a lower and an upper group are tried. The groups of the best one have to
    lie as far apart as they are wide, and neither may be as small as outliers are.

    Args:
        samples: in any order.
        resolution: differences up to this are none, in the unit of the samples.
    """
    ordered = np.sort(np.asarray(samples, dtype=float))
    count = len(ordered)
    if count < _FEWEST:
        return None
    least = max(int(np.ceil(_LEAST_SHARE * count)), 5)
    sizes = np.arange(least, count - least + 1)  # of the lower group
    low = {part: ordered[(sizes * part).astype(int)] for part in (0.25, 0.5, 0.75, 0.9)}
    high = {part: ordered[sizes + ((count - sizes) * part).astype(int)] for part in (0.1, 0.25, 0.5, 0.75)}
    gap = high[0.1] - low[0.9] - resolution
    within = (low[0.75] - low[0.25]) + (high[0.75] - high[0.25]) + resolution
    apart = gap > _APART * within
    if not np.any(apart):
        return None
    best = int(np.argmax(np.where(apart, gap, -np.inf)))
    return Modes(float(low[0.5][best]), float(high[0.5][best]), float(1 - sizes[best] / count))
