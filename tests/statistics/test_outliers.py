"""Outliers in synthetic samples: rare in clean noise, however skewed, and found where planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.statistics.outliers import Outliers, outliers

CLEAN: dict[str, Callable[[Any, int], Any]] = {
    "normal": lambda rng, n: rng.normal(1, 0.05, n),
    "log-normal 0.1": lambda rng, n: rng.lognormal(0, 0.1, n),
    "log-normal 0.5": lambda rng, n: rng.lognormal(0, 0.5, n),
    "exponential": lambda rng, n: rng.exponential(1, n),
    "exponential above a minimum": lambda rng, n: 1 + rng.exponential(0.1, n),
    "gamma": lambda rng, n: rng.gamma(2, 1, n),
    "uniform": lambda rng, n: rng.uniform(1, 2, n),
}


@pytest.mark.parametrize("n", [20, 40, 100, 1000])
@pytest.mark.parametrize("shape", CLEAN)
def test_clean_noise_seldom_has_outliers(shape: str, n: int) -> None:
    rng = np.random.default_rng(n)
    found = [sum(outliers(CLEAN[shape](rng, n))) > 0 for _ in range(200)]
    assert np.mean(found) <= 0.06


@pytest.mark.parametrize("n", [50, 100, 1000])
@pytest.mark.parametrize("factor", [3.0, 1 / 3])
def test_planted_outliers_are_counted(n: int, factor: float) -> None:
    rng = np.random.default_rng(1)
    planted = n // 50
    hits = 0
    for _ in range(100):
        samples = rng.normal(1, 0.05, n)
        samples[:planted] *= factor
        found = outliers(samples)
        hits += min(found.high if factor > 1 else found.low, planted)
    assert hits >= 0.95 * 100 * planted


def test_a_tenth_of_the_samples_can_be_outliers() -> None:
    rng = np.random.default_rng(2)
    samples = rng.normal(1, 0.05, 200)
    samples[:20] *= rng.uniform(2, 10, 20)
    assert outliers(samples) == Outliers(low=0, high=20)


def test_differences_of_a_percent_are_no_outliers() -> None:
    assert outliers([1000] * 50 + [1001] * 5 + [1010]) == Outliers(low=0, high=0)
    assert outliers([1000] * 50 + [1100]) == Outliers(low=0, high=1)


@pytest.mark.parametrize(("samples", "expected"), [([], (0, 0)), ([5], (0, 0)), ([0, 0, 0], (0, 0))])
def test_few_samples_and_a_clock_that_did_not_move_have_none(samples: list[float], expected: tuple[int, int]) -> None:
    assert outliers(samples) == expected


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=60), st.randoms())
def test_the_order_of_samples_does_not_matter(samples: list[float], random: Any) -> None:
    shuffled = samples.copy()
    random.shuffle(shuffled)
    assert outliers(shuffled) == outliers(samples)
