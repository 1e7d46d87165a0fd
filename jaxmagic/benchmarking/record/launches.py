"""Compares records of different processes: their ratio, its interval, and the smallest difference that they can show.

Two processes that run the same program differ by more than the interval within each of them suggests: memory layout
and alignment differ, and clocks and other load have changed. So a process counts as one observation, the logarithm of
its median, and a verdict rests on how much such observations differ.

With three or more processes on both sides Welch's t-test is used, because both sides show their own variance. With
fewer, the variance is moderated as in Smyth (2004, Statistical Applications in Genetics and Molecular Biology 3(1)):
a prior variance with four degrees of freedom, measured on this machine or assumed, is pooled with the variance of the
processes. In simulations with normal noise, 3 processes and 3 equal ones are called different in at most 3.5 % of
cases, however much processes differ. For 1 and 1 with an assumed 2 % it is 0.3 % of cases if that is true, 3.5 % if
processes differ by 3 %, and 20 % if they differ by 5 %: the noise has to be measured.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...statistics.estimate import Estimate
from ...statistics.medians import CONFIDENCE
from .process_noise import ProcessNoise
from .versus import LEAST_DIFFERENCE

#: The standard deviation of log medians between processes that is assumed if none was measured.
ASSUMED_SD = 0.02

#: The degrees of freedom of the prior variance.
_PRIOR_DF = 4

#: This many processes on both sides show their own variance.
ENOUGH = 3

#: A difference below this, in logarithms, is never called one.
_FLOOR = log(1 + LEAST_DIFFERENCE)

#: A ratio counts as detectable if it is detected in this share of cases. Ratios beyond a hundred are not tried.
_POWER, _LARGEST_RATIO = 0.8, 100.0

#: The number of quantiles that approximate a chi-squared distribution.
_QUANTILES = 40


class Side(NamedTuple):
    """The processes of one record.

    Attributes:
        medians: the logarithm of the median time of a call, for each process.
        errors: the standard error of each within its process; ``None`` where it has too few samples.
    """

    medians: tuple[float, ...]
    errors: tuple[float | None, ...]


class Design(NamedTuple):
    """The number of processes on each side of a comparison, and how much they differ.

    Attributes:
        old: the number of processes of the earlier record.
        new: the number of processes of the later record.
        sd: the standard deviation of a process's log median, including its standard error within the process.
        prior_sd: the prior standard deviation of a moderated test.
    """

    old: int
    new: int
    sd: float
    prior_sd: float

    @property
    def is_welch(self) -> bool:
        """True if both sides show their own variance."""
        return min(self.old, self.new) >= ENOUGH


def noise_sd(noise: ProcessNoise | None, call_ns: float) -> float:
    """Return the standard deviation between processes to expect for a program whose call takes `call_ns`.

    Short calls vary more than long ones. So it is the noise of the program with the most similar duration, or that of
    all programs together if it is larger. Without a measurement it is the assumed 2 %.

    >>> noise_sd(None, 1e6)
    0.02
    """
    if noise is None:
        return ASSUMED_SD
    nearest = min(noise.programs, key=lambda each: abs(log(each.call_ns / max(call_ns, 1.0))))
    return max(nearest.sd, sqrt(float(np.mean([each.sd**2 for each in noise.programs]))))


class Compared(NamedTuple):
    """The result of comparing two records.

    Attributes:
        ratio: the new time over the old time.
        design: the numbers of processes and how much they differ, for :func:`smallest_ratio`.
        between_sd: the standard deviation between processes that the interval rests on.
        within_sd: the standard error within a process.
        is_shown: whether the records themselves show `between_sd`; otherwise it was measured separately or assumed.
    """

    ratio: Estimate
    design: Design
    between_sd: float
    within_sd: float
    is_shown: bool


def compare_sides(old: Side, new: Side, between_sd: float = ASSUMED_SD) -> Compared | None:
    """Compute the ratio of times, new over old, with its 95 % interval and the noise that it rests on.

    Args:
        old: the processes of the earlier record.
        new: the processes of the later record.
        between_sd: the standard deviation between processes, measured or assumed; used if one side has fewer than
            three processes.

    Returns:
        ``None`` if the standard error within a process is needed and unknown.

    >>> one, other = Side((0.0,), (0.001,)), Side((0.2,), (0.001,))
    >>> ratio = compare_sides(one, other).ratio
    >>> round(ratio.value, 2), round(ratio.low, 2), round(ratio.high, 2)
    (1.22, 1.13, 1.32)
    """
    difference = float(np.mean(new.medians) - np.mean(old.medians))
    counts = len(old.medians), len(new.medians)
    errors = [each for each in (*old.errors, *new.errors) if each is not None]
    within = float(np.mean(np.square(errors))) if errors else 0.0
    if min(counts) >= ENOUGH:
        before, now = _variance(old), _variance(new)
        reach = float(_welch_reach(np.asarray(before), np.asarray(now), *counts))
        sd = sqrt((before + now) / 2)
        return Compared(_estimate(difference, reach), Design(*counts, sd, sd), sd, sqrt(within), is_shown=True)
    if len(errors) < sum(counts):
        return None
    df, squares = sum(counts) - 2, _squares(old) + _squares(new)
    shown = squares / df if df else 0.0  # the prior is never less than the processes themselves show
    prior = max(between_sd**2 + within, shown)
    variance = _moderated(prior, squares, df)
    reach = float(_student(_PRIOR_DF + df)) * sqrt(variance * _shares(*counts))
    is_shown = shown > between_sd**2 + within
    return Compared(
        ratio=_estimate(difference, reach),
        design=Design(*counts, sd=sqrt(variance), prior_sd=sqrt(between_sd**2 + within)),
        between_sd=sqrt(shown) if is_shown else between_sd,
        within_sd=sqrt(within),
        is_shown=is_shown,
    )


def power(design: Design, ratio: float) -> float:
    """Return the share of cases in which such records are called different in the right direction.

    The variance that a test finds varies from case to case. So this is a mean over its chi-squared distribution.

    Args:
        design: the numbers of processes, and how much they differ.
        ratio: the true ratio of times.

    >>> design = Design(old=3, new=3, sd=0.02, prior_sd=0.02)
    >>> round(power(design, 1.05), 1), round(power(design, 1.1), 1)
    (0.3, 0.9)
    """
    from scipy.special import ndtr

    far = abs(log(ratio)) - _FLOOR
    spread = design.sd * sqrt(_shares(design.old, design.new))
    if spread == 0:
        return float(far > 0)
    return float(np.mean(ndtr((far - _reaches(design)) / spread)))


def smallest_ratio(design: Design) -> float | None:
    """Return the smallest ratio of times that is detected in 8 of 10 cases; ``None`` if it exceeds a hundred.

    >>> design = Design(old=1, new=1, sd=0.02, prior_sd=0.02)
    >>> ratio = smallest_ratio(design)
    >>> round(ratio, 2), round(power(design, ratio), 2)
    (1.12, 0.8)
    """
    low, high = 0.0, log(_LARGEST_RATIO)
    if power(design, exp(high)) < _POWER:
        return None
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if power(design, exp(middle)) >= _POWER else (middle, high)
    return exp(high)


@lru_cache(maxsize=64)
def _reaches(design: Design) -> NDArray[np.float64]:
    """Return how far the interval reaches to either side, for each of the variances that a test may find."""
    variance = design.sd**2
    if design.is_welch:
        old, new = (variance * _chi_squared(each - 1) / (each - 1) for each in (design.old, design.new))
        return _welch_reach(old[:, None], new[None, :], design.old, design.new)
    df = design.old + design.new - 2
    squares = variance * _chi_squared(df) if df else np.zeros(1)
    prior = np.maximum(design.prior_sd**2, squares / max(df, 1))
    return _student(_PRIOR_DF + df) * np.sqrt(_moderated(prior, squares, df) * _shares(design.old, design.new))


def _welch_reach(
    old: NDArray[np.float64], new: NDArray[np.float64], old_count: int, new_count: int
) -> NDArray[np.float64]:
    """Return half the width of Welch's interval, from the variances of both sides."""
    one, other = old / old_count, new / new_count
    total = np.maximum(one + other, np.finfo(float).tiny)
    df = total**2 / np.maximum(one**2 / (old_count - 1) + other**2 / (new_count - 1), np.finfo(float).tiny)
    return np.asarray(_student(df) * np.sqrt(one + other))


def _student(df: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return Student's quantile for the interval."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(df, (1 + CONFIDENCE) / 2))


def _chi_squared(df: int) -> NDArray[np.float64]:
    """Return equally likely values of a chi-squared distribution."""
    from scipy.special import gammaincinv

    return np.asarray(2 * gammaincinv(df / 2, (np.arange(_QUANTILES) + 0.5) / _QUANTILES))


def _moderated(
    prior: NDArray[np.float64] | float, squares: NDArray[np.float64] | float, df: int
) -> NDArray[np.float64] | float:
    return (_PRIOR_DF * prior + squares) / (_PRIOR_DF + df)


def _variance(side: Side) -> float:
    """Return the variance of a process's log median: between processes, or within them if that is larger."""
    errors = [each for each in side.errors if each is not None]
    within = float(np.mean(np.square(errors))) if errors else 0.0
    return max(_squares(side) / (len(side.medians) - 1), within)


def _squares(side: Side) -> float:
    return float(np.sum(np.square(np.asarray(side.medians) - np.mean(side.medians))))


def _shares(old: int, new: int) -> float:
    return 1 / old + 1 / new


def _estimate(difference: float, reach: float) -> Estimate:
    return Estimate(
        value=exp(difference), low=exp(difference - reach), high=exp(difference + reach), confidence=CONFIDENCE
    )
