"""Computes the ratio of a candidate to a baseline that is sampled twice per round, with an interval for any noise.

Each round is a block of three: one sample of a candidate and two of the baseline, in shuffled order. If the candidate
differs from the baseline only by a factor, then after division by it each of the three is the smallest, the middle or
the largest equally often, whatever the noise is and however it changes from round to round. So nothing is assumed
about the distribution of the noise, and drifts and other slow changes cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import exp

import numpy as np
from numpy.typing import NDArray

from ...statistics.estimate import Estimate
from ...statistics.medians import CONFIDENCE, between
from .samples import Trial

#: Beyond this many rounds, the normal distribution gives the same ranks.
_EXACT = 400


def blocked_ratio(
    times: Sequence[float], first: Sequence[float], again: Sequence[float], confidence: float = CONFIDENCE
) -> Estimate | None:
    """Compute the ratio of a candidate's time to the baseline's, from rounds with two samples of the baseline.

    The ratio is the median of all ratios ``times / first`` and ``times / again``. The candidate is compared with each
    sample of the baseline and never with their mean. Noise is skewed, so a mean of two samples has a higher median
    than one sample, and the candidate would look faster than it is.

    Args:
        times: the candidate's time in each round.
        first: the baseline's first time in each round.
        again: the baseline's second time in each round.
        confidence: the confidence of the interval.

    Returns:
        ``None`` if there are fewer rounds than the confidence requires (four for 95 %), or if a clock did not move.

    >>> found = blocked_ratio([2, 4, 6, 8], [1, 2, 3, 4], [1, 2, 3, 4])
    >>> found.value, found.low, found.high
    (2.0, 2.0, 2.0)
    """
    if min(times) <= 0 or min(first) <= 0 or min(again) <= 0:
        return None
    found = blocked_median(np.log(np.concatenate([np.divide(times, first), np.divide(times, again)])), confidence)
    if found is None:
        return None
    return Estimate(value=exp(found.value), low=exp(found.low), high=exp(found.high), confidence=confidence)


def blocked_median(values: Sequence[float] | NDArray[np.float64], confidence: float = CONFIDENCE) -> Estimate | None:
    """Compute the median difference between a candidate and both samples of the baseline, with its interval.

    In each round 0, 1 or 2 of the two differences lie below the truth, each with probability one third. The interval
    reaches from the k-th smallest to the k-th largest difference. It uses the largest k for which the sum of these
    numbers over all rounds is below k rarely enough.

    Args:
        values: two differences per round, in any order.
        confidence: the confidence of the interval.

    Returns:
        ``None`` if there are fewer rounds than the confidence requires.

    Source: P. van Elteren, On the combination of independent two-sample tests of Wilcoxon, 1960.
    """
    rank = blocked_rank(len(values) // 2, confidence)
    return None if rank == 0 else between(values, rank, confidence)


def in_turns(one: Trial | None, twice: Trial | None) -> Estimate | None:
    """Compute the ratio of a trial to one with two samples per round; ``None`` if either is missing."""
    if one is None or twice is None:
        return None
    return blocked_ratio(one.calls_ns, twice.calls_ns[0::2], twice.calls_ns[1::2])


def rounds_for(confidence: float) -> int:
    """Return the fewest rounds that give an interval with this confidence.

    >>> rounds_for(0.95), rounds_for(1 - 0.05 / 5)
    (4, 5)
    """
    rounds = 1
    while blocked_rank(rounds, confidence) == 0:
        rounds += 1
    return rounds


@lru_cache(maxsize=512)
def blocked_rank(rounds: int, confidence: float) -> int:
    """Return the largest k for which a sum of `rounds` numbers, each 0, 1 or 2, is below k seldom enough.

    The probability is at most half of ``1 - confidence``.

    >>> blocked_rank(3, 0.95), blocked_rank(4, 0.95)
    (0, 1)
    """
    seldom = (1 - confidence) / 2
    if rounds > _EXACT:
        from scipy.special import ndtri

        # A sum below k is one of at most k - 1, which ends at k - 1/2 for a continuous distribution.
        return int(rounds + ndtri(seldom) * (2 * rounds / 3) ** 0.5 + 0.5)
    return int(np.searchsorted(_distribution(rounds), seldom, side="right"))


@lru_cache(maxsize=512)
def _distribution(rounds: int) -> NDArray[np.float64]:
    """Return the cumulative distribution of a sum of `rounds` numbers that are 0, 1 or 2 with equal probability."""
    density = np.ones(1)
    for _ in range(rounds):
        density = np.convolve(density, np.full(3, 1 / 3))
    return np.cumsum(density)
