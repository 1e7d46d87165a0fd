"""Verdicts on synthetic rounds, whose truth is known."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.benchmarking.record.in_turns import blocked_ratio
from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.benchmarking.record.versus import Verdict, judge
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.verdict import known, ratio, ratio_between, ratios
from jaxmagic.statistics.estimate import Estimate
from jaxmagic.statistics.medians import stopping_checkpoints


def verdict(rng: Any, truth: float, noise: float, *, drift: float = 0.0, most: int = 200) -> Verdict:
    """As it is sampled: in rounds, until the ratios are known or the budget is spent."""
    moments = np.exp(drift * np.cumsum(rng.normal(0, 1, most)))  # what all samples of a round share
    first, again, other = (moments * np.exp(rng.normal(0, noise, most)) for _ in range(3))
    other = other * truth
    for count in stopping_checkpoints(40):
        count = min(count, most)
        if known([first[:count], other[:count]], again[:count], 0.01) or count == most:
            break
    return judge(blocked_ratio(other[:count], first[:count], again[:count]))


def verdicts(truth: float, noise: float, *, trials: int = 300, seed: int = 0, **how: Any) -> Counter[Verdict]:
    rng = np.random.default_rng(seed)
    return Counter(verdict(rng, truth, noise, **how) for _ in range(trials))


def test_a_against_a_is_no_difference() -> None:
    assert verdicts(1.0, 0.02)["no difference"] >= 285


def test_a_against_a_is_no_difference_on_a_machine_that_drifts() -> None:
    assert verdicts(1.0, 0.02, drift=0.05)["no difference"] >= 285


@pytest.mark.parametrize(("truth", "wanted"), [(0.97, "faster"), (1.03, "slower"), (0.5, "faster"), (3.0, "slower")])
def test_three_percent_under_two_percent_of_noise_are_found(truth: float, wanted: Verdict) -> None:
    found = verdicts(truth, 0.02)
    assert found[wanted] >= 270
    assert not found["faster" if wanted == "slower" else "slower"]


def test_where_noise_hides_a_difference_nothing_is_claimed() -> None:
    found = verdicts(1.03, 0.3)
    assert found["too noisy to tell"] >= 250
    assert found["faster"] <= 3


times = st.lists(st.floats(1, 1e9), min_size=6, max_size=40)


@given(times, st.randoms())
def test_a_ratio_times_its_inverse_is_one(samples: list[float], random: Any) -> None:
    others = samples.copy()
    random.shuffle(others)
    one, other = ratio(samples, others), ratio(others, samples)
    assert one is not None
    assert other is not None
    assert one.value * other.value == pytest.approx(1)
    assert one.low * other.high == pytest.approx(1)


def test_a_ratio_is_of_rounds_and_not_of_medians() -> None:
    base = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    found = ratio([3 * each for each in base], base)
    assert found is not None
    assert (found.low, found.value, found.high) == pytest.approx((3, 3, 3))
    assert ratio(base[:5], base[:5]) is None


def of(low: float, high: float) -> Estimate:
    return Estimate(value=(low * high) ** 0.5, low=low, high=high, confidence=0.95)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (of(1.1, 1.2), "slower"),
        (of(0.8, 0.9), "faster"),
        (of(1.011, 1.012), "slower"),
        (of(0.99, 1.02), "no difference"),
        (of(1.005, 1.02), "no difference"),  # excludes one, but not what placement makes
        (of(1.005, 1.2), "too noisy to tell"),
        (of(0.9, 1.1), "too noisy to tell"),
        (None, "too noisy to tell"),
    ],
)
def test_which_verdict(found: Estimate | None, wanted: Verdict) -> None:
    assert judge(found) == wanted
    other_way: dict[str, str] = {"faster": "slower", "slower": "faster"}
    assert found is None or judge(found.inverse) == other_way.get(wanted, wanted)


def test_a_larger_floor_takes_a_larger_difference() -> None:
    assert judge(of(1.1, 1.2), floor=0.05) == "slower"
    assert judge(of(1.1, 1.2), floor=0.1) == "too noisy to tell"


def test_versus_is_against_both_samples_of_the_baseline(comparison: Comparison) -> None:
    found = comparison["jit"]
    assert found.baseline == "numpy"
    assert found.verdict == "faster"
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(0.5, rel=0.02)
    itself = comparison["numpy"]
    assert (itself.verdict, itself.break_even_calls) == ("no difference", 0)
    assert itself.interval == (1, 1)


def test_a_ratio_is_the_same_from_both_sides(comparison: Comparison) -> None:
    one, other = ratio_between(comparison, "jit", "numpy"), ratio_between(comparison, "numpy", "jit")
    assert one is not None
    assert other is not None
    assert (other.low, other.value, other.high) == pytest.approx((1 / one.high, 1 / one.value, 1 / one.low))


def test_a_candidate_is_beside_each_sample_of_the_baseline_and_never_beside_their_mean() -> None:
    """A time with a long tail is shorter than the mean of two others of its kind in more than half of the rounds."""
    rng = np.random.default_rng(1)
    times, first, again = 1 + rng.exponential(1, (3, 100_000))
    found = blocked_ratio(times, first, again)
    assert found is not None
    assert found.value == pytest.approx(1, abs=0.02)
    assert np.mean(times < np.sqrt(first * again)) > 0.52


def test_ratios_of_rounds_have_the_estimate_in_their_middle(comparison: Comparison) -> None:
    found = comparison["jit"].ratio
    assert found is not None
    assert np.median(ratios(comparison, "jit")) == pytest.approx(found.value, rel=1e-3)
    other = replace(comparison, baseline="jit")
    assert len(ratios(other, "numpy")) == len(comparison.again.samples_ns)


def test_several_candidates_have_wider_intervals(comparison: Comparison) -> None:
    jit = comparison.candidate("jit")
    more = [replace(jit, label=label) for label in "abcd"]
    six = replace(comparison, candidates=(*comparison.candidates, *more))
    two, one_of_five = comparison["jit"].ratio, six["jit"].ratio
    assert two is not None
    assert one_of_five is not None
    assert (two.confidence, round(one_of_five.confidence, 9)) == (0.95, 0.99)
    assert one_of_five.low < two.low < two.value == one_of_five.value < two.high < one_of_five.high


def test_compiling_has_paid_for_itself_after_some_calls(comparison: Comparison) -> None:
    numpy, jit = (np.median(each.latency.samples_ns) for each in comparison.candidates)
    longer_ns = 171_000_000  # to compile
    found = comparison["jit"]
    assert found.break_even_calls == pytest.approx(longer_ns / (numpy - jit), rel=0.02)
    assert found.break_even_interval is not None
    assert 0 < found.break_even_interval[0] < found.break_even_calls < found.break_even_interval[1]
    slower = replace(comparison, baseline="jit")
    assert slower["numpy"].verdict == "slower"
    assert slower["numpy"].break_even_calls is None


def test_what_compiled_no_longer_pays_at_once(comparison: Comparison) -> None:
    one, other = comparison.candidates
    same = replace(comparison, candidates=(replace(one, first_call=other.first_call), other))
    assert same["jit"].break_even_calls == 0


def test_the_noise_is_the_baseline_beside_itself(comparison: Comparison) -> None:
    assert comparison.noise is not None
    assert abs(log(comparison.noise.value)) < 0.02
    few = Trial(samples_ns=comparison.again.samples_ns[:3], evaluations=1)
    short = tuple(
        replace(each, latency=Trial(samples_ns=each.latency.samples_ns[:3], evaluations=1))
        for each in comparison.candidates
    )
    assert replace(comparison, again=few, candidates=short)["jit"].verdict == "too noisy to tell"
