"""Finds where one candidate of a sweep overtakes another one.

The verdict at a point accounts for the scatter of its samples, but not for the scatter between points. By verdicts
alone, two identical candidates would overtake each other in every tenth sweep or more. So a crossing needs a point on
each side whose ratio differs from one by more than the noise between points, given the number of points.

This noise shows in the second differences of the logarithms of the ratios: how far a point lies off the line through
its neighbours. They do not depend on the slope of the curve, and a bend affects only one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from math import exp, log
from typing import NamedTuple

import numpy as np

from ...benchmarking.record.versus import Verdict
from ...statistics.medians import CONFIDENCE
from .between_points import BETWEEN_POINTS, Noise, moderated, standard_error
from .comparison import Comparison
from .curve import Crossing
from .scaling import along, rows
from .sweep import Sweep
from .verdict import agrees, versus

#: Both candidates of a ratio vary between points.
_BETWEEN_RATIOS = BETWEEN_POINTS * 2**0.5


class _Ratio(NamedTuple):
    """The ratio of two candidates at one point.

    Attributes:
        size: the value of the variable.
        log: the logarithm of the ratio of times.
        error: its standard error within the point.
        verdict: the verdict from the samples of this point alone.
    """

    size: float
    log: float
    error: float
    verdict: Verdict


class _Pair(NamedTuple):
    """Two candidates along the variable, with the other variables fixed."""

    one: str
    other: str
    others: str
    ratios: list[_Ratio]


def crossings(sweep: Sweep) -> tuple[Crossing, ...]:
    """Find where one candidate is certainly faster, given the noise between points, and the other one from there on.

    The points in between are not certain. The probability that chance alone causes a crossing is at most 5 % for the
    whole sweep: each of its ratios is allowed an equal share of that.
    """
    variable = sweep.variables[along(sweep)]
    if variable.numbers is None:
        return ()
    pairs = []
    for others, points in rows(sweep).items():
        for one, other in combinations(sweep.labels, 2):
            both = [(variable.numbers[at], each) for at, each in points if one in each and other in each]
            pairs.append(_Pair(one, other, others, _ratios(one, other, both)))
    count = sum(len(pair.ratios) for pair in pairs)
    return tuple(each for pair in pairs for each in _crossings(pair, variable.name, (1 - CONFIDENCE) / max(count, 1)))


def _ratios(one: str, other: str, both: Sequence[tuple[float, Comparison]]) -> list[_Ratio]:
    ratios = []
    for size, comparison in both:
        if any(agrees(comparison, comparison.candidate(label)) is False for label in (one, other)):
            continue  # a candidate that computes something else overtakes nothing
        rebased = replace(comparison, baseline=other)
        compared = versus(rebased, rebased.candidate(one))
        if compared.ratio is not None:
            error = standard_error(compared.ratio)
            ratios.append(_Ratio(size, log(compared.ratio.value), error, compared.verdict))
    return ratios


def _crossings(pair: _Pair, variable: str, beyond: float) -> list[Crossing]:
    if len(pair.ratios) < 2:
        return []
    certain = _certain(pair.ratios, beyond)
    crossings: list[Crossing] = []
    last = 0  # the last ratio that is certain
    for at, ratio in enumerate(pair.ratios):
        if not certain[at]:
            continue
        start = pair.ratios[last]
        if certain[last] and start.verdict != ratio.verdict:
            before, after = (pair.one, pair.other) if start.verdict == "faster" else (pair.other, pair.one)
            crossings.append(
                Crossing(
                    before=before,
                    after=after,
                    others=pair.others,
                    variable=variable,
                    low=start.size,
                    high=ratio.size,
                    value=_zero(pair.ratios[last : at + 1]),
                )
            )
        last = at
    return crossings


def _certain(ratios: Sequence[_Ratio], beyond: float) -> list[bool]:
    """Return whether each ratio differs from one, by its samples and by more than the noise between points."""
    noise = scatter(
        [log(each.size) for each in ratios], [each.log for each in ratios], [each.error for each in ratios]
    )
    typical = sum(each.error**2 for each in ratios) / len(ratios)
    reaches = (
        noise._replace(deviation=(noise.deviation**2 + max(each.error**2 - typical, 0)) ** 0.5).reach(beyond)
        for each in ratios
    )
    return [
        each.verdict in ("faster", "slower") and abs(each.log) > reach
        for each, reach in zip(ratios, reaches, strict=True)
    ]


def scatter(x: Sequence[float], y: Sequence[float], errors: Sequence[float]) -> Noise:
    """Estimate the noise of ratios between points, from how far each lies off the line through its neighbours.

    These distances share points, so there are fewer degrees of freedom than distances (Satterthwaite).

    Args:
        x: logarithms of the variable, ascending.
        y: logarithms of the ratios.
        errors: their standard errors within the points.

    >>> noise = scatter([0.0, 1.0, 2.0, 3.0], [0.0, 0.1, 0.2, 0.3], [0.0] * 4)
    >>> noise.deviation < 0.03, round(noise.freedom, 2)
    (True, 4.38)
    """
    rows = []
    for at in range(1, len(x) - 1):
        share = (x[at] - x[at - 1]) / (x[at + 1] - x[at - 1])
        row = np.zeros(len(x))
        row[at - 1 : at + 2] = share - 1, 1, -share
        rows.append(row / np.linalg.norm(row))
    if not rows:
        return moderated(0.0, 0.0, errors, _BETWEEN_RATIOS)
    design = np.stack(rows)
    freedom = len(rows) ** 2 / float(np.sum((design @ design.T) ** 2))
    mean_square = float(np.mean((design @ np.asarray(y)) ** 2))
    return moderated(mean_square * freedom, freedom, errors, _BETWEEN_RATIOS)


def _zero(ratios: Sequence[_Ratio]) -> float:
    """Find where the line through the points, in log-log scale, crosses zero; the middle one if there are several."""
    zeros = []
    for left, right in pairwise(ratios):
        if (left.log < 0) != (right.log < 0):
            share = left.log / (left.log - right.log)
            zeros.append(log(left.size) + share * (log(right.size) - log(left.size)))
    return exp(zeros[len(zeros) // 2])  # the ends lie on opposite sides of zero, so the number is odd
