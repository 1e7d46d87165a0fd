"""Differences that may come from how two candidates were measured, and say nothing of their code."""

from __future__ import annotations

from collections.abc import Sequence

from ...benchmarking.record.versus import LEAST_DIFFERENCE
from ...statistics.medians import median
from .candidate import Candidate

#: What the loop around the calls takes may differ by this share of it from one function to the next.
_LOOP = 0.1


def floor_between(one: Candidate, other: Candidate) -> float:
    """Give the difference up to which two candidates are not told apart, as a share of their times.

    It is 1 %, or more where the loop takes long beside the calls, or where one candidate's samples are means of more
    calls than the other's.
    """
    return max(LEAST_DIFFERENCE, of_loops(one, other), of_unequal_samples(one, other))


def of_loops(one: Candidate, other: Candidate) -> float:
    """The share of a call that the loop around it may take in one of them and not in the other."""
    call_ns = min(median(each.latency.calls_ns) for each in (one, other))
    return _LOOP * max(each.conditions.overhead_ns for each in (one, other)) / max(call_ns, 1)


def of_unequal_samples(one: Candidate, other: Candidate) -> float:
    """Medians of means of few and of many calls lie between the median and the mean of single calls."""
    if one.latency.evaluations == other.latency.evaluations:
        return 0.0
    return max(_skew(each.latency.calls_ns) for each in (one, other))


def _skew(times: Sequence[float]) -> float:
    """By what share the mean differs from the median."""
    middle = median(times)
    return abs(sum(times) / len(times) / middle - 1) if middle else 0.0
