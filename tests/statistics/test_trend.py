"""Trends in synthetic samples: none in noise, however correlated, and found where planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter

from jaxmagic.statistics.trend import drift

SHAPES: dict[str, Callable[[Any, int], Any]] = {
    "normal": lambda rng, n: rng.normal(1, 0.05, n),
    "log-normal": lambda rng, n: rng.lognormal(0, 0.1, n),
    "exponential": lambda rng, n: 1 + rng.exponential(0.1, n),
    "uniform": lambda rng, n: rng.uniform(1, 2, n),
}


@pytest.mark.parametrize("count", [20, 40, 1000])
@pytest.mark.parametrize("shape", SHAPES)
def test_samples_of_one_kind_have_no_trend(shape: str, count: int) -> None:
    rng = np.random.default_rng(5)
    assert sum(drift(SHAPES[shape](rng, count)) is not None for _ in range(200)) <= 2


@pytest.mark.parametrize("count", [20, 40, 90, 300, 1000])
@pytest.mark.parametrize("correlation", [0.3, 0.6, 0.9])
def test_noise_that_lasts_longer_than_a_sample_is_no_trend(correlation: float, count: int) -> None:
    rng = np.random.default_rng(count)
    found = 0
    for _ in range(300):
        noise = lfilter([1], [1, -correlation], rng.normal(size=count + 300))[300:]
        found += drift(1 + 0.05 * np.sqrt(1 - correlation**2) * noise) is not None
    assert found <= 0.02 * 300


@pytest.mark.parametrize("slope", [0.1, -0.1])
def test_a_trend_is_found_with_its_size(slope: float) -> None:
    rng = np.random.default_rng(6)
    rising = [drift((1 + slope * np.linspace(0, 1, 90)) * rng.normal(1, 0.02, 90)) for _ in range(100)]
    found = [size for size in rising if size is not None]
    assert len(found) >= 95
    assert np.median(found) == pytest.approx(slope * 2 / 3, abs=0.015)


@pytest.mark.parametrize("at", [30, 45, 60])
def test_a_step_is_found(at: int) -> None:
    rng = np.random.default_rng(7)
    found = [drift(np.where(np.arange(90) < at, 1, 1.1) * rng.normal(1, 0.02, 90)) for _ in range(100)]
    assert sum(size is not None for size in found) >= 95


def test_a_coarse_clock_makes_no_trend_and_hides_none() -> None:
    rng = np.random.default_rng(7)
    assert all(drift(np.round(rng.normal(40, 0.6, 200))) is None for _ in range(50))
    assert drift([40.0] * 30 + [41.0] * 10) is not None
    assert drift([40.0] * 100) is None


@given(st.lists(st.floats(1e-3, 1e9), min_size=6, max_size=60))
def test_the_unit_does_not_matter(samples: list[float]) -> None:
    assert drift([2 * each for each in samples]) == drift(samples)


@pytest.mark.parametrize("samples", [[], [1.0], [1.0, 2.0]])
def test_too_few_samples_say_nothing(samples: list[float]) -> None:
    assert drift(samples) is None
