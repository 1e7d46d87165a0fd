"""Differences that may come from how two candidates were measured, and say nothing of their code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ... import units
from ...benchmarking.record.versus import LEAST_DIFFERENCE, Versus
from ...records.finding import Finding
from ...statistics.medians import median
from .comparison import Candidate, Comparison

#: What the loop around the calls takes may differ by this share of it from one function to the next.
_LOOP = 0.1


def floor_between(one: Candidate, other: Candidate) -> float:
    """Give the difference up to which two candidates are not told apart, as a share of their times.

    It is 1 %, or more where the loop takes long beside the calls, or where one candidate's samples are means of more
    calls than the other's.
    """
    return max(LEAST_DIFFERENCE, _of_loops(one, other), _of_unequal_samples(one, other))


def _of_loops(one: Candidate, other: Candidate) -> float:
    call_ns = min(median(each.latency.calls_ns) for each in (one, other))
    return _LOOP * max(each.conditions.overhead_ns for each in (one, other)) / max(call_ns, 1)


def _of_unequal_samples(one: Candidate, other: Candidate) -> float:
    """Medians of means of few and of many calls lie between the median and the mean of single calls."""
    if one.latency.evaluations == other.latency.evaluations:
        return 0.0
    return max(_skew(each.latency.calls_ns) for each in (one, other))


def _skew(times: Sequence[float]) -> float:
    """By what share the mean differs from the median."""
    middle = median(times)
    return abs(sum(times) / len(times) / middle - 1) if middle else 0.0


def withheld(comparison: Comparison, beside: Versus) -> Iterator[Finding]:
    """Say why a candidate whose interval excludes one has no verdict, where that is how it was measured."""
    ratio = beside.ratio
    candidate, baseline = (comparison.candidate(each) for each in (beside.label, beside.baseline))
    if beside.verdict != "too noisy to tell" or ratio is None or ratio.low <= 1 <= ratio.high:
        return
    loop, samples = _of_loops(candidate, baseline), _of_unequal_samples(candidate, baseline)
    if max(loop, samples) <= LEAST_DIFFERENCE:
        return
    names = f"{candidate.label} beside {baseline.label}"
    if samples >= loop:
        calls = " and ".join(str(each.latency.evaluations) for each in (candidate, baseline))
        share = units.percent(samples)
        yield Finding(
            kind="unequal samples",
            text=f"{names}: their samples are means of {calls} calls, whose median is not their mean. Up to "
            f"{share} of difference may come from that.",
            remedy="Repeat the shorter call within its candidate, so that both take about as long.",
        )
    else:
        yield Finding(
            kind="long loop",
            text=f"{names}: beside such short calls the loop around them may make up to {units.percent(loop)} of "
            "difference.",
            remedy="Let each candidate do more work in a call.",
        )
