"""Describes distributions of samples as curves and density shapes, thinned to what is visible."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import exp, log

from ..statistics import medians
from ..units import time_unit
from .curves import Curves, Mark, Series
from .scale import Scale

#: The number of quantiles that a distribution is drawn through, and of bins of a hill; more would not be visible.
_POINTS = 100
_PLACES = 32

_SHARE = Scale(label="share of samples", quantity="share", low=0.0, high=1.0)


def share_until(name: str, samples: Sequence[float], *, end: float | None = None, hue: int = 0) -> Series:
    """Describe the empirical distribution function: for each value, the share of samples that are no larger.

    Every point lies on the function of all samples. Between points it deviates by at most a hundredth.

    Args:
        name: the name of the curve.
        samples: in any order.
        end: the end of the axis; larger samples are not drawn.
        hue: the number of the curve's colour.

    >>> curve = share_until("f", [3, 1, 2, 2])
    >>> list(zip(curve.x, curve.y))
    [(1, 0.0), (1, 0.25), (2, 0.75), (3, 1.0)]
    """
    ordered = sorted(samples)
    count = len(ordered)
    ranks = (
        range(count)
        if count <= _POINTS
        else sorted({-(-count * each // _POINTS) - 1 for each in range(1, _POINTS + 1)} | {0})
    )
    last = ordered[-1] if end is None else end
    x, y = [ordered[0]], [0.0]
    for value in sorted({ordered[rank] for rank in ranks}):
        if value <= last:
            x.append(value)
            y.append(bisect_right(ordered, value) / count)
    if last > x[-1]:
        x.append(last)
        y.append(bisect_right(ordered, last) / count)
    return Series(name=name, x=tuple(x), y=tuple(y), hue=hue, step=True)


def hill(ratios: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Return the density of ratios as a smoothed histogram of their logarithms, with a maximum of 1.

    The outermost fortieth on either side is left out, so that an outlier does not flatten the rest.

    >>> hill([2.0, 2.0, 2.0])
    ()
    """
    logs = sorted(log(each) for each in ratios)
    low, high = medians.quantile(logs, 0.025), medians.quantile(logs, 0.975)
    if len(logs) < 6 or high - low < 1e-9:
        return ()
    counts = [0.0] * _PLACES
    for value in logs:
        if low <= value <= high:
            counts[min(int((value - low) / (high - low) * _PLACES), _PLACES - 1)] += 1
    for _ in range(3):
        counts = [(a + 2 * b + c) / 4 for a, b, c in zip([0, *counts], counts, [*counts[1:], 0], strict=False)]
    highest = max(counts)
    width = (high - low) / _PLACES
    inner = [(exp(low + width * (index + 0.5)), count / highest) for index, count in enumerate(counts)]
    return ((exp(low - width / 2), 0.0), *inner, (exp(high + width / 2), 0.0))


def distributions(calls: Mapping[str, Sequence[float]], title: str, marks: tuple[Mark, ...] = ()) -> Curves:
    """Describe the distribution of each candidate's calls, from the fastest call to where only outliers are left."""
    low = min(map(min, calls.values()))
    high = max(map(_without_outliers, calls.values()))
    if high <= low:
        low, high = (0.9 * low, 1.1 * low) if low else (0.0, 1.0)
    beyond = sum(each > high for samples in calls.values() for each in samples)
    return Curves(
        title=title,
        x=Scale(
            label="time of a call",
            quantity="time",
            low=low,
            high=high,
            log=low > 0 and high > 20 * low,
            unit=time_unit(medians.median(next(iter(calls.values())))),  # as in the headline
        ),
        y=_SHARE,
        series=tuple(
            share_until(name, samples, end=high, hue=hue) for hue, (name, samples) in enumerate(calls.items())
        ),
        marks=marks,
        note=f"{beyond} beyond →" if beyond else "",
    )


def _without_outliers(calls: Sequence[float]) -> float:
    """Return where the samples end, apart from outliers."""
    low, high = medians.quartiles(calls)
    return min(max(calls), high + 3 * max(high - low, 0.01 * high))
