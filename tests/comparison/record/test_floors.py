"""Differences that may come from how candidates were measured have no verdict, and the report says why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.benchmarking.report.versus import verdict
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.report.sentences import headline


@pytest.fixture
def short(compared: Callable[..., Comparison]) -> Callable[[float], Comparison]:
    """Makes records of calls of 10 and 9 µs, in a loop that takes so long."""

    def make(overhead_ns: float) -> Comparison:
        found = compared(10_000, 9_000)
        conditions = replace(found.candidates[0].conditions, overhead_ns=overhead_ns)
        return replace(found, candidates=tuple(replace(each, conditions=conditions) for each in found.candidates))

    return make


@pytest.fixture
def skewed(compared: Callable[..., Comparison]) -> Callable[..., Comparison]:
    """Makes records of exponential times, with so many calls in the samples of the two candidates."""

    def make(numpy_calls: int, jit_calls: int, *, jit_ns: float = 9e3) -> Comparison:
        found = compared(10_000, 9_000)
        rng = np.random.default_rng(2)

        def trial(mean_ns: float, calls: int) -> Trial:
            samples = rng.exponential(mean_ns, (200, calls)).sum(axis=1)
            return Trial(samples_ns=tuple(map(int, samples)), evaluations=calls)

        numpy, jit = found.candidates
        return replace(
            found,
            candidates=(
                replace(numpy, latency=trial(1e4, numpy_calls)),
                replace(jit, latency=trial(jit_ns, jit_calls)),
            ),
            again=trial(1e4, numpy_calls),
        )

    return make


def kinds(comparison: Comparison) -> list[str]:
    return [each.kind for each in comparison.warnings]


def test_what_the_loop_may_make_up_is_no_difference(short: Callable[[float], Comparison]) -> None:
    assert short(100)["jit"].verdict == "faster"
    assert kinds(short(100)) == []
    found = short(20_000)  # by 10 %, where a tenth of the loop is 24 %
    assert found["jit"].verdict == "too noisy to tell"
    assert kinds(found) == ["long loop"]
    assert "24 % of difference" in found.warnings[0].text


def test_samples_of_unequal_numbers_of_calls_are_compared_with_care(skewed: Callable[..., Comparison]) -> None:
    found = skewed(1, 58, jit_ns=1.1e4)
    assert found["jit"].ratio is not None
    assert found["jit"].ratio.low > 1.1  # the mean of exponential times is 1.44 times their median
    assert found["jit"].verdict == "too noisy to tell"
    (why,) = [each for each in found.warnings if each.kind == "unequal samples"]
    assert "jit beside numpy" in why.text
    assert "58 and 1 calls" in why.text
    assert verdict(found["jit"]).startswith("inconclusive (")
    assert headline(found).startswith("Inconclusive: jit may be")


def test_a_verdict_that_is_given_needs_no_reason(skewed: Callable[..., Comparison]) -> None:
    assert "unequal samples" not in kinds(skewed(3, 3))
    clear = skewed(1, 58, jit_ns=9e4)
    assert clear["jit"].verdict == "slower"
    assert "unequal samples" not in kinds(clear)
