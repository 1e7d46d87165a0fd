"""Says where the medians of two candidates are farther apart than their ratio within rounds."""

from __future__ import annotations

from collections.abc import Sequence

from ...statistics.medians import median
from ..record.comparison import Comparison
from ..record.verdict import counterpart
from .sentences import factor_span

#: A ratio of medians beyond an interval by less than this does not look so when both are rounded.
_ROUNDING = 0.01


def about_medians(comparison: Comparison) -> list[str]:
    """Say why two times may be farther apart than the interval of their ratio."""
    return [of_medians(label, [ratio]) for label, ratio in ratios_of_medians(comparison).items()]


def of_medians(label: str, ratios: Sequence[float]) -> str:
    """Say which factor the medians of a candidate show at some points, all of them faster or all slower."""
    how = "slower" if ratios[0] > 1 else "faster"
    factors = [max(each, 1 / each) for each in ratios]
    return (
        f"The medians alone make {label} {factor_span(min(factors), max(factors))} {how}; the verdict is "
        "from the ratios within rounds, where drifts cancel."
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
