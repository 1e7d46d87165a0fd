"""Samples to numbers that can be trusted: the median, and how sure it is.

Times are skewed, have several modes and outliers, and no known distribution. So everything here rests on their order
alone: quantiles, ranks, and an interval whose coverage holds for any distribution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .estimate import Estimate

CONFIDENCE = 0.95

#: From so many samples on it is seen how much they depend on each other, even where they do over some ten of them.
FEWEST_FOR_CORRELATION = 100

#: With a correlation time above this, what is left is half of the samples, or less.
_CORRELATED = 2.0

#: The median has no interval below this either.
_FEWEST_FOR_A_MEAN = 6


def stopping_checkpoints(first: int = FEWEST_FOR_CORRELATION, growth: float = 1.5) -> Iterator[int]:
    """After how many samples the interval is checked, to decide whether there are enough: 100, 150, 225, ….

    Checking after every sample would stop when chance has made the interval narrow, and cover the truth too seldom.
    With few checks, each half as far again as the one before, coverage stays where it was. Below 100 samples the
    autocorrelation of a median's samples is not seen well enough to rely on.
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
    """The median with an interval between two of the samples, which assumes no distribution.

    The ranks of :func:`sign_interval` are moved outwards by as much as the samples depend on each other: n correlated
    samples tell as much about their median as ``n / correlation_time(samples)`` independent ones.

    Args:
        samples: in the order in which they were taken.
        confidence: the share of intervals that cover the true median.

    Returns:
        ``None`` where no interval between samples has that confidence: there are fewer than six, for 95 %. Where
        samples are so few and so correlated that the interval would reach beyond them, its ends are the smallest and
        the largest.

    >>> estimate = median_interval([3, 1, 4, 7, 5, 2, 6])
    >>> estimate.value, estimate.low, estimate.high
    (4.0, 1.0, 7.0)
    """
    count = len(samples)
    rank = _rank(count, confidence)
    if rank == 0:
        return None
    tau = correlation_time(samples)
    if tau > 1:
        reach = _normal_quantile(confidence) * (count * tau) ** 0.5 / 2 * (1 + 1.5 * tau / count)
        rank = min(rank, max(int(count / 2 - reach), 1))
    return between(samples, rank, confidence)


def sign_interval(samples: Sequence[float] | NDArray[np.float64], confidence: float = CONFIDENCE) -> Estimate | None:
    """The median of independent samples, with an interval between two of them that assumes no distribution.

    How many of n samples lie below the true median is binomial with probability one half. So the k-th smallest and
    the k-th largest enclose it unless fewer than k lie on one side, and k is the largest for which that happens
    seldom enough.

    Returns:
        ``None`` where no interval between samples has that confidence.

    Source: H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed., section 7.1.

    >>> estimate = sign_interval([1, 2, 3, 4, 5, 6, 7])
    >>> estimate.value, estimate.low, estimate.high
    (4.0, 1.0, 7.0)
    """
    rank = _rank(len(samples), confidence)
    return None if rank == 0 else between(samples, rank, confidence)


def between(samples: Sequence[float] | NDArray[np.float64], rank: int, confidence: float) -> Estimate:
    """The median, from the sample of that rank to the one with as many above it."""
    ordered = np.sort(np.asarray(samples, dtype=float))
    return Estimate(
        value=float(np.median(ordered)),
        low=float(ordered[rank - 1]),
        high=float(ordered[-rank]),
        confidence=confidence,
    )


def mean_interval(samples: Sequence[float], confidence: float = CONFIDENCE) -> Estimate | None:
    """The mean with its interval: Student's, with as many samples as correlated ones are worth.

    What a rate is made of: in a second as many calls are done as their mean allows, and not their median.

    Returns:
        ``None`` for fewer than six samples.

    >>> estimate = mean_interval([9, 11] * 10)
    >>> estimate.value, estimate.low < 10 < estimate.high
    (10.0, True)
    """
    from scipy.special import stdtrit

    values = np.asarray(samples, dtype=float)
    if len(values) < _FEWEST_FOR_A_MEAN:
        return None
    worth = max(len(values) / correlation_time(samples), 2.0)
    reach = float(stdtrit(worth - 1, (1 + confidence) / 2) * np.std(values, ddof=1) / worth**0.5)
    middle = float(np.mean(values))
    return Estimate(value=middle, low=middle - reach, high=middle + reach, confidence=confidence)


def correlation_time(samples: Sequence[float]) -> float:
    """Tell how many samples in a row tell as much about the median as one independent sample; at least 1.

    The sum of the autocorrelations of ``sign(sample - median)`` over all lags, cut off where the sum of two
    neighbouring ones is no longer positive.

    Source: C. J. Geyer, Practical Markov Chain Monte Carlo, Statistical Science 7, 1992, section 3.3.

    >>> correlation_time([1, 2, 1, 2, 1, 2]), correlation_time([1] * 50 + [2] * 50) > 20
    (1.0, True)
    """
    values = np.asarray(samples, dtype=float)
    return _correlation_time(np.sign(values - np.median(values))) if len(values) else 1.0


def is_correlated(samples: Sequence[float]) -> bool:
    """Tell whether so few of the samples are independent that the interval of their median may be too narrow.

    Something that comes and goes (another process, a clock frequency) may leave the order of the samples about their
    median alone, so their logarithms are asked as well.

    >>> is_correlated([1, 2, 1, 2] * 20), is_correlated([1, 1, 1, 1, 1, 2, 2, 2, 2, 2] * 8)
    (False, True)
    """
    values = np.asarray(samples, dtype=float)
    if len(values) == 0 or np.min(values) <= 0:
        return False
    logs = np.log(values)
    return any(
        _correlation_time(each) > _CORRELATED and _neighbours_correlate(each)
        for each in (np.sign(values - np.median(values)), logs - np.mean(logs))
    )


def _neighbours_correlate(centred: NDArray[np.float64]) -> bool:
    """Tell whether neighbours are alike by more than chance makes them in one of a hundred runs."""
    variance = float(np.mean(centred**2))
    return variance > 0 and float(centred[1:] @ centred[:-1]) / len(centred) / variance > 2.33 / len(centred) ** 0.5


def _correlation_time(centred: NDArray[np.float64]) -> float:
    variance = float(np.mean(centred**2))
    if variance == 0:
        return 1.0
    count = len(centred)
    spectrum = np.fft.rfft(centred, 1 << (2 * count - 1).bit_length())
    correlations = np.fft.irfft(spectrum * np.conj(spectrum))[: count // 2 * 2] / count / variance
    pairs = correlations[0::2] + correlations[1::2]
    ends = np.nonzero(pairs <= 1e-9)[0]
    found = -1.0 + 2.0 * float(np.sum(pairs[: ends[0]] if len(ends) else pairs))
    return max(1.0, round(found, 9))  # the same for the samples in reverse


@lru_cache(maxsize=64)
def _normal_quantile(confidence: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))


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
