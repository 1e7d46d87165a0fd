"""One candidate is named the fastest where it is faster than all others for certain; else all that may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.comparison.record.candidate import Check
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.fastest import fastest


def family(comparison: Comparison, *factors: float, seed: int = 0, noise: float = 0.1) -> Comparison:
    """Candidates "0", "1", …, the first being the baseline, in 40 rounds."""
    rng = np.random.default_rng(seed)

    def trial(factor: float) -> Trial:
        return Trial(samples_ns=tuple(map(int, 1e7 * factor * rng.lognormal(0, noise, 40))), evaluations=1)

    one = comparison.candidates[0]
    candidates = tuple(replace(one, label=str(at), latency=trial(factor)) for at, factor in enumerate(factors))
    return replace(comparison, baseline="0", twice="0", candidates=candidates, again=trial(factors[0]))


def test_the_fastest_is_named_alone_where_that_is_certain(named: Callable[..., Comparison]) -> None:
    assert fastest(named("a", "b", "c")) == ("a",)


def test_equals_are_named_together(comparison: Comparison) -> None:
    found = fastest(family(comparison, 1, 0.5, 0.5, 0.7))
    assert set(found) == {"1", "2"}


def test_of_two_percent_under_ten_percent_of_noise_nobody_is_named_alone(comparison: Comparison) -> None:
    """The truly fastest is among those that are named, and none of the others stands alone."""
    found = [fastest(family(comparison, 1, 0.5, 0.51, 0.51, seed=seed)) for seed in range(100)]
    assert sum("1" in each for each in found) >= 95
    assert sum(len(each) == 1 for each in found) <= 3


def test_what_computes_something_else_does_not_compete(comparison: Comparison) -> None:
    made = family(comparison, 1, 0.5)
    wrong = Check(kind="allclose", passed=False, like="0")
    other = replace(made.candidates[1], check=wrong)
    assert fastest(replace(made, candidates=(made.candidates[0], other))) == ("0",)
