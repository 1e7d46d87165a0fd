"""Says where the medians of two candidates are farther apart than their ratio within rounds."""

from __future__ import annotations

from collections.abc import Mapping

from ... import units
from ...statistics.medians import median
from ..record.comparison import Comparison
from ..record.verdict import counterpart

#: A ratio of medians beyond an interval by less than this does not look so when both are rounded.
_ROUNDING = 0.01


def about_medians(comparison: Comparison) -> list[str]:
    """Say why two times may be farther apart than the interval of their ratio."""
    return [of_medians(label, {"": ratio}) for label, ratio in ratios_of_medians(comparison).items()]


def of_medians(label: str, ratios: Mapping[str, float]) -> str:
    """Say which factors the medians of a candidate show, of several points the least and the largest.

    Args:
        label: the candidate.
        ratios: the ratio of the medians at each point, all of them faster or all slower.
    """
    how = "slower" if max(ratios.values()) > 1 else "faster"
    factors = sorted((max(each, 1 / each), place) for place, each in ratios.items())
    ends = [(units.factor(factor), place) for factor, place in (factors[0], factors[-1])]
    if len({factor for factor, _ in ends}) == 1:
        told = f"{ends[0][0]} {how}"
    else:
        told = " to ".join(f"{factor} {how} (at {place})" for factor, place in ends)
    verdicts = "verdict rests" if len(ratios) == 1 else "verdicts rest"
    return (
        f"By the medians alone, {label} is {told}. The {verdicts} on the ratios within rounds, where drifts cancel."
    )


def ratios_of_medians(comparison: Comparison) -> dict[str, float]:
    """Return the ratio of each candidate's median to its baseline's where that is outside of the ratio's interval."""
    found = {}
    for candidate in comparison.candidates:
        versus = counterpart(comparison, candidate)
        if versus.ratio is None or versus.label == versus.baseline:
            continue
        baseline = comparison.candidate(versus.baseline)
        apart = median(candidate.latency.calls_ns) / median(baseline.latency.calls_ns)
        if not versus.ratio.low * (1 - _ROUNDING) <= apart <= versus.ratio.high * (1 + _ROUNDING):
            found[candidate.label] = apart
    return found
