"""Which is faster, by how much, and how sure is that? From rounds to a ratio, and from a ratio to a verdict.

Samples of one round were taken within the same moment, so what slows one down slows the others down as well. So
candidates are compared round by round, and the median of the ratios is what counts, never the ratio of the medians.
The baseline is in each round twice. What its two samples differ by is noise, by construction; a difference that is
not larger is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, exp, log

from ..model.comparison import Candidate, Comparison, Verdict, Versus
from ..model.estimate import Estimate
from ..model.finding import Finding
from .conditions import folded, loaded, recompiled
from .statistics import median, median_interval

#: Ratios within this of one are the same, for all that people decide by them.
SAME = 0.03

#: What the loop around the calls takes may differ by this share of it from one function to the next.
_LOOP = 0.1


def ratio(times: Sequence[float], others: Sequence[float]) -> Estimate | None:
    """The median of the ratios of each round, with its interval; ``None`` for fewer than six rounds.

    In logarithms, so that the ratio the other way round is one over this, ends of the interval exchanged.

    >>> found = ratio([2, 4, 6, 8, 10, 12], [1, 2, 3, 4, 5, 6])
    >>> found.value, found.low, found.high
    (2.0, 2.0, 2.0)
    """
    if min(times) <= 0 or min(others) <= 0:  # a clock that did not move: no ratio follows from that
        return None
    found = median_interval([log(one / other) for one, other in zip(times, others, strict=True)])
    if found is None:
        return None
    return Estimate(value=exp(found.value), low=exp(found.low), high=exp(found.high), confidence=found.confidence)


def judge(found: Estimate | None, noise: Estimate | None, same: float = SAME, loop: float = 0.0) -> Verdict:
    """The verdict on a ratio of times.

    Faster or slower where the whole interval lies beyond one, and beyond what the baseline differs from itself. No
    difference where it lies within `same` of one, or no farther from it than the noise floor.

    Args:
        found: time over the baseline's time.
        noise: the same of the baseline with itself.
        same: how far from one is still the same.
        loop: how far from one the loop around the calls may lie alone.
    """
    if found is None or noise is None:
        return "too noisy to tell"
    floor = max(abs(log(noise.low)), abs(log(noise.high)), log(1 + loop))
    low, high = log(found.low), log(found.high)
    if low > floor:
        return "slower"
    if high < -floor:
        return "faster"
    return "no difference" if max(abs(low), abs(high)) <= log(1 + same) else "too noisy to tell"


def known(times: Sequence[Sequence[float]], again: Sequence[float], rtol: float) -> bool:
    """Whether the ratios are known well enough: of all candidates to the baseline, and of the baseline to itself.

    Args:
        times: of each candidate in each round, the baseline first.
        again: of the baseline once more.
        rtol: how far the intervals may reach from their medians, as a share of these.
    """
    first, *others = times
    both = _both(first, again)
    estimates = [ratio(again, first), *(ratio(each, both) for each in others)]
    return all(each is not None and each.relative_width <= rtol for each in estimates)


def noise(comparison: Comparison) -> Estimate | None:
    """The candidate that was measured twice, beside itself."""
    first = comparison.candidate(comparison.twice).latency
    return ratio(comparison.again.calls_ns, first.calls_ns)


def ratios(comparison: Comparison, label: str) -> list[float]:
    """A candidate's time over the baseline's, for each round."""
    candidate, baseline = comparison.candidate(label), comparison.candidate(comparison.baseline)
    times = _baseline_times(comparison, baseline)
    return [one / other for one, other in zip(candidate.latency.calls_ns, times, strict=True)]


def counterpart(comparison: Comparison, candidate: Candidate) -> Versus:
    """A candidate beside what it is an alternative to: the baseline's same derivative; else the baseline."""
    like = candidate.like
    if like is None or like == candidate.label or like not in list(comparison):
        return versus(comparison, candidate)
    beside = replace(comparison, baseline=like)
    return versus(beside, beside.candidate(candidate.label))


def findings(comparison: Comparison) -> tuple[Finding, ...]:
    """Everything that makes the ratios less than they seem, the gravest first."""
    # What went on beside the rounds went on beside all candidates.
    shared = comparison.candidates[0].conditions
    empty = [each.label for each in comparison.candidates if each.conditions.folded]
    found = [folded(f"The jitted call of {label}") for label in empty]
    return (*found, *recompiled(shared), *loaded(shared.other_load, comparison.environment))


def agrees(comparison: Comparison, candidate: Candidate) -> bool | None:
    """Whether a candidate computes what the baseline does; ``None`` where that is not known.

    Outputs were compared with that of one candidate, which need not be the baseline any more.
    """
    beside = counterpart(comparison, candidate).baseline
    other = comparison.candidate(beside)
    passed = [each.check is None or each.check.passed for each in (candidate, other)]
    compared = candidate.check is not None or other.check is not None
    if candidate is other or not compared:
        return None if candidate is not other else True
    return True if all(passed) else False if any(passed) else None


def versus(comparison: Comparison, candidate: Candidate) -> Versus:
    """A candidate beside the baseline."""
    baseline = comparison.candidate(comparison.baseline)
    if candidate is baseline:
        found = Estimate(value=1.0, low=1.0, high=1.0, confidence=1.0)
        return Versus(
            label=candidate.label,
            baseline=baseline.label,
            ratio=found,
            verdict="no difference",
            break_even_calls=0,
        )
    found_ratio = ratio(candidate.latency.calls_ns, _baseline_times(comparison, baseline))
    overhead_ns = max(each.conditions.overhead_ns for each in (candidate, baseline))
    call_ns = min(median(each.latency.calls_ns) for each in (candidate, baseline))
    verdict = judge(found_ratio, noise(comparison), loop=_LOOP * overhead_ns / max(call_ns, 1))
    return Versus(
        label=candidate.label,
        baseline=baseline.label,
        ratio=found_ratio,
        verdict=verdict,
        break_even_calls=_break_even(candidate, baseline, verdict),
    )


def _baseline_times(comparison: Comparison, baseline: Candidate) -> Sequence[float]:
    """The baseline's time in each round; from both samples, if it was measured twice."""
    times = baseline.latency.calls_ns
    return _both(times, comparison.again.calls_ns) if baseline.label == comparison.twice else times


def _both(first: Sequence[float], again: Sequence[float]) -> list[float]:
    """The baseline's time in each round, from both of its samples."""
    return [(one * other) ** 0.5 for one, other in zip(first, again, strict=True)]


def _break_even(candidate: Candidate, baseline: Candidate, verdict: Verdict) -> int | None:
    """After how many calls the time that it compiled longer is won back."""
    longer_ns = candidate.first_call.compile_ns - baseline.first_call.compile_ns
    if longer_ns <= 0:
        return 0 if verdict != "slower" else None
    if verdict != "faster":
        return None
    return ceil(longer_ns / (median(baseline.latency.calls_ns) - median(candidate.latency.calls_ns)))
