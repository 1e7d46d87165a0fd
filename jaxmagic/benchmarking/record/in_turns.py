"""A time beside two times of something else, taken in the same round: an interval that holds for any noise.

Each round is a block of three: one sample of a candidate and two of the baseline, in shuffled order. Where the
candidate differs from the baseline by a factor only, each of the three is the smallest, the middle or the largest
equally often, whatever the noise is and however it changes from round to round. So nothing is assumed about its
distribution, and drifts and other slow changes cancel.
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

#: From so many rounds on, the normal distribution gives the same ranks.
_EXACT = 400


def blocked_ratio(
    times: Sequence[float], first: Sequence[float], again: Sequence[float], confidence: float = CONFIDENCE
) -> Estimate | None:
    """The ratio of a candidate's time to the baseline's, from rounds with one sample of it and two of the baseline.

    The median of all ratios ``times / first`` and ``times / again``. The candidate is put beside each sample of the
    baseline and never beside their mean: noise is skewed, a mean of two has a higher median than one, and the
    candidate would look faster than it is.

    Args:
        times: of the candidate in each round.
        first: of the baseline in each round.
        again: of the baseline once more in each round.
        confidence: of the interval.

    Returns:
        ``None`` for fewer rounds than the confidence takes (four for 95 %), and where a clock did not move.

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
    """The median of what a candidate differs by from both samples of the baseline, with its interval.

    How many of the two differences of a round lie below the truth is 0, 1 or 2, each with probability one third. The
    interval reaches from the k-th smallest to the k-th largest of all, with the largest k for which the sum over the
    rounds is below k seldom enough.

    Args:
        values: two for each round, in any order.
        confidence: of the interval.

    Returns:
        ``None`` for fewer rounds than the confidence takes.

    Source: P. van Elteren, On the combination of independent two-sample tests of Wilcoxon, 1960.
    """
    rank = blocked_rank(len(values) // 2, confidence)
    return None if rank == 0 else between(values, rank, confidence)


def in_turns(one: Trial | None, twice: Trial | None) -> Estimate | None:
    """The ratio of a trial to another one that has two samples in each round; ``None`` where one is missing."""
    if one is None or twice is None:
        return None
    return blocked_ratio(one.calls_ns, twice.calls_ns[0::2], twice.calls_ns[1::2])


def rounds_for(confidence: float) -> int:
    """The fewest rounds of which an interval with this confidence follows.

    >>> rounds_for(0.95), rounds_for(1 - 0.05 / 5)
    (4, 5)
    """
    rounds = 1
    while blocked_rank(rounds, confidence) == 0:
        rounds += 1
    return rounds


@lru_cache(maxsize=512)
def blocked_rank(rounds: int, confidence: float) -> int:
    """The largest k that a sum of `rounds` numbers, each 0, 1 or 2, is below with at most half of what is left.

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
    """The cumulative distribution of a sum of `rounds` numbers that are 0, 1 or 2 with equal probability."""
    density = np.ones(1)
    for _ in range(rounds):
        density = np.convolve(density, np.full(3, 1 / 3))
    return np.cumsum(density)
