"""Estimates the density of samples at several bandwidths, as the effective number of samples at each point.

The effective number of samples at a point is ``2 √π h n f``, with the bandwidth h and the density f. It behaves
like a count: its variance is about its value, so the square roots of two such numbers can be compared in standard
deviations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: The narrowest bandwidth, relative to the shortest interval with a quarter of the samples, and in grid points.
_NARROWEST = 0.2
_POINTS = 2.5

#: The ratio of neighbouring bandwidths.
_STEP = 1.4

#: For each bandwidth, the number of steps to the wider one that it is compared with. It is smaller for the narrowest
#: bandwidths, so that three modes remain separate.
_WIDER = (2, 2, 2, 3, 3, 3, 3, 3, 3, 3)

#: The narrowest bandwidth is at least this share of the range, which limits the length of the grid.
_SHORTEST = 1 / 1000


class Density(NamedTuple):
    """A Gaussian kernel density estimate on a grid, as effective numbers of samples.

    Attributes:
        counts: the effective number of samples at each point.
        wider: the same with a bandwidth two to three times as wide, in the units of `counts`, with less noise.
        per_unit: the effective number for a density of one sample per unit.
        origin: the first grid point.
        spacing: the distance between grid points.
    """

    counts: Array
    wider: Array
    per_unit: float
    origin: float
    spacing: float


def densities(ordered: Array, finest: float) -> Iterator[Density]:
    """Estimate the density with each bandwidth, the narrowest first.

    Args:
        ordered: the samples in ascending order.
        finest: a lower bound for the shortest interval with a quarter of the samples, to which bandwidths are scaled.
    """
    ignored = max(len(ordered) // 50, 1)  # outliers do not determine the length of the grid
    low, high = float(ordered[ignored]), float(ordered[-1 - ignored])
    narrowest = max(_NARROWEST * max(shortest(ordered, 0.25), finest), _SHORTEST * (high - low))
    spacing = narrowest / _POINTS
    widths = [_POINTS * _STEP**index for index in range(len(_WIDER) + _WIDER[-1])]
    margin = int(4 * widths[-1])
    length = 1 << (int((high - low) / spacing) + 2 * margin + 1).bit_length()
    origin = low - margin * spacing
    places = np.rint((ordered - origin) / spacing)
    within = places[(places >= 0) & (places < length)].astype(int)
    transformed = np.fft.rfft(np.bincount(within, minlength=length))
    frequencies = 2 * np.pi * np.fft.rfftfreq(length)
    smooth = [np.fft.irfft(transformed * np.exp(-0.5 * (frequencies * width) ** 2), length) for width in widths]
    for index, steps in enumerate(_WIDER):
        factor = 2 * np.sqrt(np.pi) * widths[index]
        counts, wider = (factor * np.maximum(smooth[at], 0) for at in (index, index + steps))
        yield Density(counts, wider, factor * spacing, origin, spacing)


def shortest(ordered: Array, share: float) -> float:
    """Return the length of the shortest interval between two samples that has at least this share of the samples.

    >>> shortest(np.array([0.0, 5.0, 6.0, 7.0, 20.0]), 0.5)
    2.0
    """
    steps = max(int(np.ceil(share * len(ordered))), 2) - 1
    return float(np.min(ordered[steps:] - ordered[:-steps])) if len(ordered) > steps else 0.0
