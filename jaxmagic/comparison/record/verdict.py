"""Judges which candidate is faster, by how much, and with what confidence: rounds give ratios, ratios give verdicts.

The samples of one round were taken at about the same time, so what slows one of them down slows the others down as
well. So candidates are compared round by round, and the median of the ratios counts, never the ratio of the medians.
Each round contains the baseline twice, and a candidate is compared with each of its two samples.

The confidence is for all candidates together: with several of them each interval is wider, so that in at most one of
twenty comparisons any interval misses the true value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, exp

import numpy as np

from ... import units
from ...benchmarking.record.findings import folded, not_run, recompiled
from ...benchmarking.record.in_turns import blocked_median, blocked_ratio
from ...benchmarking.record.versus import LEAST_DIFFERENCE, Verdict, Versus, judge
from ...records.finding import Finding
from ...records.other_load import loaded
from ...statistics.estimate import Estimate
from ...statistics.medians import CONFIDENCE, sign_interval
from .candidate import Candidate
from .comparison import Comparison
from .floors import floor_between, of_loops, of_unequal_samples

#: The confidence with which the baseline has to differ from itself to cause a warning.
_ALARM = 0.999


def ratio(times: Sequence[float], others: Sequence[float], confidence: float = CONFIDENCE) -> Estimate | None:
    """Return the median of the ratios of each round, with its interval; ``None`` if there are too few rounds.

    It is computed in logarithms, so that swapping the two inverts the ratio and its interval. The order within a
    round is shuffled, so which of two equals takes longer is a coin toss, and rounds are independent even if the
    noise is not.

    >>> found = ratio([2, 4, 6, 8, 10, 12], [1, 2, 3, 4, 5, 6])
    >>> found.value, found.low, found.high
    (2.0, 2.0, 2.0)
    """
    if min(times) <= 0 or min(others) <= 0:  # a clock that did not move: no ratio follows from that
        return None
    found = sign_interval(np.log(np.divide(times, others)), confidence)
    if found is None:
        return None
    return Estimate(value=exp(found.value), low=exp(found.low), high=exp(found.high), confidence=confidence)


def family_confidence(others: int) -> float:
    """Return the confidence of each interval for which all of them hold with 95 %: 99 % for five other candidates.

    >>> family_confidence(1), round(family_confidence(5), 6)
    (0.95, 0.99)
    """
    return 1 - (1 - CONFIDENCE) / max(others, 1)


def known(times: Sequence[Sequence[float]], again: Sequence[float], rtol: float) -> bool:
    """Tell whether the ratios of all candidates to the baseline are known precisely enough.

    Args:
        times: the times of each candidate in each round, the baseline first.
        again: the second times of the baseline.
        rtol: how far the intervals may reach from their medians, as a share of the medians.
    """
    first, *others = times
    confidence = family_confidence(len(others))
    estimates = [blocked_ratio(each, first, again, confidence) for each in others]
    return all(each is not None and each.relative_width <= rtol for each in estimates)


def noise(comparison: Comparison, confidence: float = CONFIDENCE) -> Estimate | None:
    """Return the ratio of the two times of the candidate that was measured twice."""
    first = comparison.candidate(comparison.twice).latency
    return ratio(comparison.again.calls_ns, first.calls_ns, confidence)


def ratios(comparison: Comparison, label: str) -> list[float]:
    """Return the ratio to the baseline in each round; two per round if the baseline was measured twice."""
    times = comparison.candidate(label).latency.calls_ns
    baseline = comparison.candidate(comparison.baseline).latency.calls_ns
    others = [baseline, comparison.again.calls_ns] if comparison.baseline == comparison.twice else [baseline]
    return [one / other for each in others for one, other in zip(times, each, strict=True)]


def ratio_between(comparison: Comparison, label: str, other: str) -> Estimate | None:
    """Return the time of one candidate over that of another, with the confidence for all candidates together."""
    confidence = family_confidence(len(comparison) - 1)
    times, others = (comparison.candidate(each).latency.calls_ns for each in (label, other))
    again = comparison.again.calls_ns
    if other == comparison.twice:
        return blocked_ratio(times, others, again, confidence)
    if label == comparison.twice:
        found = blocked_ratio(others, times, again, confidence)
        return None if found is None else found.inverse
    return ratio(times, others, confidence)


def verdict_between(comparison: Comparison, label: str, other: str) -> tuple[Estimate | None, Verdict]:
    """Return the ratio of two candidates' times, and the verdict on it."""
    found = ratio_between(comparison, label, other)
    return found, judge(found, floor_between(comparison.candidate(label), comparison.candidate(other)))


def counterpart(comparison: Comparison, candidate: Candidate) -> Versus:
    """Compare a candidate with its alternative: the same derivative of the baseline, or else the baseline."""
    like = candidate.like
    if like is None or like == candidate.label or like not in list(comparison):
        return versus(comparison, candidate)
    beside = replace(comparison, baseline=like)
    return versus(beside, beside.candidate(candidate.label))


def findings(comparison: Comparison) -> tuple[Finding, ...]:
    """Find everything that makes the ratios less reliable than they look, most serious first."""
    # What went on beside the rounds went on beside all candidates.
    shared = comparison.candidates[0].conditions
    empty = [each.label for each in comparison.candidates if each.conditions.folded]
    found = [folded(f"The jitted call of {label}") for label in empty]
    idle = (each for one in comparison.candidates for each in not_run(one.first_call, f"{one.label}: "))
    return (
        *idle,
        *found,
        *recompiled(shared),
        *(each for one in comparison.candidates for each in withheld(comparison, counterpart(comparison, one))),
        *_differs_from_itself(comparison),
        *loaded(shared.other_load, comparison.environment),
    )


def _differs_from_itself(comparison: Comparison) -> list[Finding]:
    """Warn if the two samples of one candidate in the same rounds differ by more than chance."""
    found = noise(comparison, _ALARM)
    if found is None or judge(found) not in ("faster", "slower"):
        return []
    low, high = (max(each, 1 / each) for each in (found.low, found.high))
    return [
        Finding(
            kind="unstable baseline",
            text=f"{comparison.twice} differs from itself in the same rounds, by "
            f"{units.percent(min(low, high) - 1)} or more: something favours one of two equal loops.",
            remedy="Do not rely on differences of that size; measure again in a fresh session.",
        )
    ]


def agrees(comparison: Comparison, candidate: Candidate) -> bool | None:
    """Tell whether a candidate computes what the baseline does; ``None`` if that is unknown.

    Outputs were compared with the output of one candidate, which need not be the current baseline.
    """
    other = comparison.candidate(counterpart(comparison, candidate).baseline)
    if candidate is other:
        return True
    checks = [each.check for each in (candidate, other) if each.check is not None]
    if not checks or any(each.varies for each in checks):
        return None
    passed = [each.check is None or each.check.passed for each in (candidate, other)]
    return True if all(passed) else False if any(passed) else None


def versus(comparison: Comparison, candidate: Candidate) -> Versus:
    """Compare a candidate with the baseline."""
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
    found_ratio, verdict = verdict_between(comparison, candidate.label, baseline.label)
    break_even = _break_even(comparison, candidate, baseline, verdict)
    return Versus(
        label=candidate.label,
        baseline=baseline.label,
        ratio=found_ratio,
        verdict=verdict,
        break_even_calls=None if break_even is None else break_even[0],
        break_even_interval=None if break_even is None else break_even[1:],
    )


def _break_even(
    comparison: Comparison, candidate: Candidate, baseline: Candidate, verdict: Verdict
) -> tuple[int, int, int] | None:
    """Return after how many calls a longer compilation has paid for itself, and the least and most such numbers.

    The time saved per call is estimated from the same rounds as the ratio, with the same ranks. So if the verdict is
    *faster*, its whole interval is above zero.
    """
    longer_ns = candidate.first_call.compile_ns - baseline.first_call.compile_ns
    if longer_ns <= 0:
        return (0, 0, 0) if verdict != "slower" else None
    if verdict != "faster":
        return None
    won_ns = _won_ns(comparison, candidate, baseline)
    if won_ns is None or won_ns.low <= 0:
        return None
    return ceil(longer_ns / won_ns.value), ceil(longer_ns / won_ns.high), ceil(longer_ns / won_ns.low)


def _won_ns(comparison: Comparison, candidate: Candidate, baseline: Candidate) -> Estimate | None:
    """Return by how much a call of the candidate is shorter than one of the baseline, from round to round."""
    confidence = family_confidence(len(comparison) - 1)
    times, others = candidate.latency.calls_ns, baseline.latency.calls_ns
    again = comparison.again.calls_ns
    if baseline.label == comparison.twice:
        won = [other - one for each in (others, again) for one, other in zip(times, each, strict=True)]
        return blocked_median(won, confidence)
    if candidate.label == comparison.twice:
        won = [other - one for each in (times, again) for one, other in zip(each, others, strict=True)]
        return blocked_median(won, confidence)
    return sign_interval([other - one for one, other in zip(times, others, strict=True)], confidence)


def withheld(comparison: Comparison, beside: Versus) -> Iterator[Finding]:
    """Say why a candidate has no verdict although its interval excludes one, if the measurement is the reason."""
    ratio = beside.ratio
    candidate, baseline = (comparison.candidate(each) for each in (beside.label, beside.baseline))
    if beside.verdict != "too noisy to tell" or ratio is None or ratio.low <= 1 <= ratio.high:
        return
    loop, samples = of_loops(candidate, baseline), of_unequal_samples(candidate, baseline)
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
