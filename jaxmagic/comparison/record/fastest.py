"""Finds the fastest candidate, or all that may be the fastest if that is not certain."""

from __future__ import annotations

from ...statistics.medians import median
from .comparison import Comparison
from .verdict import agrees, verdict_between


def fastest(comparison: Comparison) -> tuple[str, ...]:
    """Return the labels of the candidates that may be the fastest, the one with the shortest median first.

    A candidate is excluded if the one with the shortest median is certainly faster, given the number of candidates.
    So there is a single label only if it is faster than each of the others, and not because it happened to come first
    among equals.

    Candidates whose output differs from the baseline's do not compete, nor do derivatives with their function.
    """
    baseline = comparison.baseline
    competing = [
        each
        for each in comparison.candidates
        if agrees(comparison, each) is not False and (each.like is None or each.like in (each.label, baseline))
    ]
    first = min(competing, key=lambda each: median(each.latency.calls_ns))
    left = [each for each in competing if each is not first]
    beside = [each.label for each in left if verdict_between(comparison, first.label, each.label)[1] != "faster"]
    return (first.label, *beside)
