"""The median of samples and its confidence interval.

Times are skewed, have several modes and outliers, and follow no known distribution. Everything here is therefore
based on their order: quantiles, ranks, and an interval whose coverage holds for any distribution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .estimate import Estimate

CONFIDENCE = 0.95

#: With at least this many samples, their correlation can be estimated, even if it extends over some ten samples.
FEWEST_FOR_CORRELATION = 100

#: The fewest samples whose median has an interval with 95 % confidence.
FEWEST_FOR_INTERVAL = 6

#: With a correlation time above this, fewer than half of the samples are effectively independent.
_CORRELATED = 2.0


def stopping_checkpoints(first: int = FEWEST_FOR_CORRELATION) -> Iterator[int]:
    """Yield the numbers of samples at which to check whether the interval is narrow enough: 100, 150, 225, ….

    Checking after every sample would stop when chance has made the interval narrow, and such intervals cover the true
    value too rarely. With few checks, each after half as many samples again, the coverage stays as it was. With fewer
    than 100 samples the autocorrelation cannot be estimated reliably.
    """
    count = first
    while True:
        yield count
        count += count // 2


def median(samples: Sequence[float]) -> float:
    """Return the median of the samples.

    >>> median([3, 1, 2])
    2.0
    """
    return float(np.median(np.asarray(samples, dtype=float)))


def median_interval(samples: Sequence[float], confidence: float = CONFIDENCE) -> Estimate | None:
    """Return the median with a distribution-free interval between two of the samples.

    The ranks of :func:`sign_interval` are moved outwards to account for correlation: n correlated samples carry as
    much information about their median as ``n / correlation_time(samples)`` independent ones.

    Args:
        samples: in the order in which they were taken.
        confidence: the share of intervals that cover the true median.

    Returns:
        ``None`` if no interval between samples has that confidence; for 95 % that means fewer than six samples. If
        samples are so few and so correlated that the interval would extend beyond them, it ends at the smallest and
        the largest sample.

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
    """Return the median of independent samples, with a distribution-free interval between two of them.

    The number of samples below the true median is binomial with probability one half. The k-th smallest and the k-th
    largest sample enclose it unless fewer than k samples lie on one side; k is the largest number for which that is
    rare enough.

    Returns:
        ``None`` if no interval between samples has that confidence.

    Source: H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed., section 7.1.

    >>> estimate = sign_interval([1, 2, 3, 4, 5, 6, 7])
    >>> estimate.value, estimate.low, estimate.high
    (4.0, 1.0, 7.0)
    """
    rank = _rank(len(samples), confidence)
    return None if rank == 0 else between(samples, rank, confidence)


def between(samples: Sequence[float] | NDArray[np.float64], rank: int, confidence: float) -> Estimate:
    """Return the median, with an interval from the sample of this rank to the sample of the same rank from above."""
    ordered = np.sort(np.asarray(samples, dtype=float))
    return Estimate(
        value=float(np.median(ordered)),
        low=float(ordered[rank - 1]),
        high=float(ordered[-rank]),
        confidence=confidence,
    )


def correlation_time(samples: Sequence[float]) -> float:
    """Return how many consecutive samples are worth as much as one independent sample for the median; at least 1.

    This is the sum of the autocorrelations of ``sign(sample - median)`` over all lags, truncated where the sum of two
    neighbouring lags is no longer positive.

    Source: C. J. Geyer, Practical Markov Chain Monte Carlo, Statistical Science 7, 1992, section 3.3.

    >>> correlation_time([1, 2, 1, 2, 1, 2]), correlation_time([1] * 50 + [2] * 50) > 20
    (1.0, True)
    """
    values = np.asarray(samples, dtype=float)
    return _correlation_time(np.sign(values - np.median(values))) if len(values) else 1.0


def is_correlated(samples: Sequence[float]) -> bool:
    """Return whether the samples are so correlated that the interval of their median may be too narrow.

    Intermittent effects (another process, the clock frequency) may not change which samples lie above the median, so
    the logarithms of the samples are tested as well.

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
    """Return whether the lag-one correlation is larger than chance makes it in one of a hundred runs."""
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
    """Return the largest k for which it is rare enough that fewer than k samples lie on one side of the median."""
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
    """Return the lower and the upper quartile.

    >>> quartiles([1, 2, 3, 4, 5])
    (2.0, 4.0)
    """
    low, high = np.quantile(np.asarray(samples, dtype=float), (0.25, 0.75))
    return float(low), float(high)


def quantile(samples: Sequence[float], share: float) -> float:
    """Return the value below which this share of the samples lies.

    >>> quantile([1, 2, 3, 4, 5], 0.75)
    4.0
    """
    return float(np.quantile(np.asarray(samples, dtype=float), share))


class Histogram(NamedTuple):
    """A histogram.

    Attributes:
        counts: the number of samples in each bin; the last bin also counts the samples beyond it.
        low: the lower end of the first bin.
        high: the upper end of the last bin.
        beyond: the number of samples above `high`.
    """

    counts: tuple[int, ...]
    low: float
    high: float
    beyond: int


def histogram(samples: Sequence[float], bins: int = 30) -> Histogram | None:
    """Count the samples in bins of equal width, from the smallest sample to where only outliers are left.

    Returns:
        ``None`` if all samples are equal, or if there are fewer than ten.

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
