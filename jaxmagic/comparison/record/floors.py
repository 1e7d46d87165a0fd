"""Bounds the differences between two candidates that may come from how they were measured, not from their code."""

from __future__ import annotations

from collections.abc import Sequence

from ...benchmarking.record.versus import LEAST_DIFFERENCE
from ...statistics.medians import median
from .candidate import Candidate

#: The overhead of the loop around the calls may differ by this share of it from one function to the next.
_LOOP = 0.1


def floor_between(one: Candidate, other: Candidate) -> float:
    """Return the difference up to which two candidates are not distinguished, as a share of their times.

    It is 1 %, or more if the loop takes long compared with the calls, or if one candidate's samples are means of more
    calls than the other's.
    """
    return max(LEAST_DIFFERENCE, of_loops(one, other), of_unequal_samples(one, other))


def of_loops(one: Candidate, other: Candidate) -> float:
    """Return the share of a call by which the overhead of the loop may differ between two candidates."""
    call_ns = min(median(each.latency.calls_ns) for each in (one, other))
    return _LOOP * max(each.conditions.overhead_ns for each in (one, other)) / max(call_ns, 1)


def of_unequal_samples(one: Candidate, other: Candidate) -> float:
    """Bound the difference between medians of means of few and of many calls.

    All of them lie between the median and the mean of single calls.
    """
    if one.latency.evaluations == other.latency.evaluations:
        return 0.0
    return max(_skew(each.latency.calls_ns) for each in (one, other))


def _skew(times: Sequence[float]) -> float:
    """Return the difference between mean and median, as a share of the median."""
    middle = median(times)
    return abs(sum(times) / len(times) / middle - 1) if middle else 0.0
