"""Which candidates are the fastest: one alone where that is certain, else all of which none is told apart."""

from __future__ import annotations

from ...statistics.medians import median
from .comparison import Comparison
from .verdict import agrees, verdict_between


def fastest(comparison: Comparison) -> tuple[str, ...]:
    """The labels of the candidates that may be the fastest, the one with the shortest median first.

    A candidate is out where the one with the shortest median is faster than it for certain, given how many were
    compared. So a single label is named alone only if it is faster than each of the others, and not because it
    happened to come first among equals.

    Candidates that compute something else than the baseline, and derivatives beside their function, do not compete.
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
