"""The modes of a distribution: groups of samples around frequent values, with rare values between them.

A call that is sometimes slower by a fixed amount has a mode for each speed, and a median that describes neither.
Noise alone has one mode, however skewed: the logarithms of normal, log-normal, exponential, gamma and uniform times
all have a log-concave density, which means that the density between two values is at least the geometric
interpolation of the densities at these values. A valley that falls short of this interpolation by more than chance
is evidence for two modes. The thresholds were calibrated by simulation; ``tests/statistics/test_modes.py`` states the
error rates.

A tail that is heavier than that can look like a mode. Where a fifth of the samples is delayed by an exponential time
much longer than the noise, a second mode is reported in 23 % of runs with 100 samples, and in 6 % with 400.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from .density import Array, Density, densities, shortest

#: Fewer samples are not enough to find modes.
_FEWEST = 20

#: A mode has at least this share of the samples, and at least this many.
_LEAST_SHARE = 0.07
_LEAST_COUNT = 6

#: A group with less than this share is a mode only if two thirds of it lie within `_NARROW`, in natural logarithms:
#: slow calls of many different durations are outliers.
_LARGE_SHARE = 0.25
_NARROW = 0.16

#: Differences below this, in natural logarithms, separate no modes.
_FINEST = 1e-3

#: The minimum shortfall of a valley below the interpolation, in standard deviations, for each bandwidth from the
#: narrowest on: a narrow one has more places for a chance valley, and a wide one blurs the edges of the distribution.
#: The second number, divided by the number of samples, is added, because small counts are not normal.
_SHORTFALLS = (4.3, 3.75, 3.2, 2.65, 2.1, 1.6, 2.0, 2.5, 3.0, 3.5)
_SHORTFALL_SCARCE = 20.0

#: The minimum excess, in standard deviations, of the density of a mode's shortest half over the adjacent valleys.
_EXCESS = 1.3

#: A valley is at most this share of the lower of its two peaks.
_DEPTH = 0.8

#: The effective count at a mode's peak is at least this share of its samples. A bandwidth at which it is less
#: splits a tail into single samples.
_PEAKED = 0.5


class Mode(NamedTuple):
    """A group of samples around a frequent value.

    Attributes:
        median: the median of the group, in the unit of the samples.
        share: the share of the samples in the group; the shares of all modes add up to one.
    """

    median: float
    share: float


def modes(samples: Sequence[float], resolution: float = 0.0) -> tuple[Mode, ...]:
    """Find the modes of the samples, from the lowest to the highest.

    Args:
        samples: durations in any order.
        resolution: the step of the clock, in the unit of the samples. Equal samples are spread over one step.

    Returns:
        One mode where there is no evidence for more; none for fewer than 20 samples, which are too few to tell.

    >>> modes([100, 101, 102, 103, 104, 105, 120, 121, 122, 123] * 4, resolution=1)
    (Mode(median=102.5, share=0.6), Mode(median=121.5, share=0.4))
    >>> modes([10, 11, 12, 13, 14] * 8, resolution=1)
    (Mode(median=12.0, share=1.0),)
    """
    ordered = np.sort(np.asarray(samples, dtype=float))
    if len(ordered) < _FEWEST:
        return ()
    logs = _logs(ordered, resolution)
    best: tuple[int, float, list[int]] = (0, 0.0, [])
    for density, shortfall in zip(densities(logs, _FINEST), _SHORTFALLS, strict=True):
        score, cuts = _Landscape(logs, density, shortfall + _SHORTFALL_SCARCE / len(logs)).cuts()
        best = max(best, (len(cuts), score, cuts))
    parts = np.split(ordered, best[2])
    return tuple(Mode(float(np.median(part)), len(part) / len(ordered)) for part in parts)


def _logs(ordered: Array, resolution: float) -> Array:
    """Return the ordered logarithms of the samples, with equal samples spread over a step of the clock."""
    starts = np.flatnonzero(np.diff(ordered, prepend=-np.inf))
    equal = np.diff(starts, append=len(ordered))  # how many, for each value
    ranks = np.arange(len(ordered)) - np.repeat(starts, equal)
    values = np.sort(ordered + resolution * ((ranks + 0.5) / np.repeat(equal, equal) - 0.5))
    positive = values[values > 0]
    return np.log(np.maximum(values, positive[0])) if len(positive) else np.zeros(len(values))


class _Landscape:
    """The peaks and valleys of a density, without those that may be chance."""

    def __init__(self, logs: Array, density: Density, shortfall: float) -> None:
        self._logs, self._density, self._shortfall = logs, density, shortfall
        counts = density.counts
        rising = np.diff(counts) > 0
        tops = np.flatnonzero(rising[:-1] & ~rising[1:]) + 1
        self._peaks: list[int] = tops[counts[tops] > 1].tolist()
        self._valleys = [a + int(np.argmin(counts[a:b])) for a, b in zip(self._peaks, self._peaks[1:], strict=False)]
        self._scores = [self._score(index) for index in range(len(self._valleys))]

    def cuts(self) -> tuple[float, list[int]]:
        """Return the score of the least clear remaining valley, and the number of samples below each valley."""
        counts = self._density.counts
        while self._valleys:
            score = min(self._scores)
            if score < 1:
                before = self._scores.index(score)
                self._remove(before + int(counts[self._peaks[before + 1]] < counts[self._peaks[before]]))
                continue
            cuts = self._cuts()
            worst = self._least_mode(np.split(self._logs, cuts))
            if worst is None:
                return score, cuts
            self._remove(worst)
        return 0.0, []

    def _cuts(self) -> list[int]:
        places = self._density.origin + self._density.spacing * np.asarray(self._valleys)
        return [int(cut) for cut in np.searchsorted(self._logs, places)]

    def _remove(self, peak: int) -> None:
        """Remove a peak and the higher of its adjacent valleys."""
        beside = [index for index in (peak - 1, peak) if 0 <= index < len(self._valleys)]
        higher = max(beside, key=lambda index: self._density.counts[self._valleys[index]])
        del self._peaks[peak], self._valleys[higher], self._scores[higher]
        if 0 < peak < len(self._peaks):
            self._scores[peak - 1] = self._score(peak - 1)

    def _score(self, index: int) -> float:
        """Return how far a valley falls short of the interpolation between its peaks; a score of 1 is enough."""
        before, valley, after = self._peaks[index], self._valleys[index], self._peaks[index + 1]
        counts, wider = self._density.counts, self._density.wider
        if counts[valley] > _DEPTH * min(counts[before], counts[after]):
            return 0.0
        part = (valley - before) / (after - before)
        expected = float(wider[before] ** (1 - part) * wider[after] ** part)
        return (_root(expected) - _root(float(counts[valley]))) / self._shortfall

    def _least_mode(self, parts: list[Array]) -> int | None:
        """Return the smallest group that is too small, too wide or too thin for a mode; ``None`` if all are modes."""
        poor = [index for index, part in enumerate(parts) if not self._is_mode(index, part)]
        return min(poor, key=lambda index: len(parts[index]), default=None)

    def _is_mode(self, index: int, part: Array) -> bool:
        count = len(part)
        if count < max(_LEAST_SHARE * len(self._logs), _LEAST_COUNT):
            return False
        if count < _LARGE_SHARE * len(self._logs) and shortest(part, 2 / 3) > _NARROW:
            return False
        density = self._density
        if density.counts[self._peaks[index]] < _PEAKED * count:
            return False
        half = max(shortest(part, 0.5), density.spacing)
        beside = [float(density.counts[valley]) for valley in self._valleys[max(index - 1, 0) : index + 1]]
        return _root(0.5 * count / half * density.per_unit) - _root(max(beside)) > _EXCESS


def _root(count: float) -> float:
    """Transform a count so that its standard deviation is one (F. J. Anscombe, Biometrika 35, 1948)."""
    return 2 * sqrt(max(count, 0.0) + 0.375)
