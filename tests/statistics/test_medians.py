"""Medians and their intervals on synthetic samples with a known true value."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter
from scipy.stats import binom

from jaxmagic.statistics.estimate import Estimate
from jaxmagic.statistics.medians import (
    correlation_time,
    is_correlated,
    median_interval,
    quartiles,
    sign_interval,
    stopping_checkpoints,
)

Draw = Callable[[Any, int], Any]

SHAPES: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(1, 0.05, n),
    "log-normal": lambda rng, n: rng.lognormal(0, 0.1, n),
    "exponential": lambda rng, n: 1 + rng.exponential(0.1, n),
    "uniform": lambda rng, n: rng.uniform(1, 2, n),
}


def two(rng: Any, n: int, *, apart: float = 0.2, width: float = 0.02) -> Any:
    return np.where(rng.random(n) < 0.7, rng.normal(1, width, n), rng.normal(1 + apart, width, n))


def two_centred(rng: Any, n: int) -> Any:
    """Draw from two modes whose median, at the 5/7 quantile of the lower mode, is 1."""
    return two(rng, n) - 0.02 * 0.5659488


@pytest.mark.parametrize(("shape", "rtol"), [("normal", 0.01), ("log-normal", 0.02), ("two modes", 0.01)])
def test_intervals_cover_the_truth_although_sampling_stops_when_they_are_narrow(shape: str, rtol: float) -> None:
    draw = SHAPES.get(shape, two_centred)
    rng = np.random.default_rng(4)
    trials, covered, stopped_early = 2000, 0, 0
    for _ in range(trials):
        samples = draw(rng, 1000)
        for count in stopping_checkpoints():
            interval = median_interval(samples[:count])
            assert interval is not None
            if interval.relative_width <= rtol or count * 1.5 > len(samples):
                break
        covered += interval.low <= 1 <= interval.high
        stopped_early += count < 500
    assert 0.93 <= covered / trials <= 0.98
    assert stopped_early > trials / 4  # stopping early is what endangers the coverage


@pytest.mark.parametrize("count", [6, 7, 40, 41, 999, 100_000])
def test_the_interval_is_the_narrowest_with_its_confidence(count: int) -> None:
    interval = sign_interval(range(count))
    assert interval is not None
    below = int(interval.low)  # as many samples lie below the interval
    assert 2 * binom.cdf(below, count, 0.5) <= 0.05 < 2 * binom.cdf(below + 1, count, 0.5)
    assert interval.high == count - 1 - below


@pytest.mark.parametrize("count", range(6))
def test_fewer_than_six_samples_have_no_interval(count: int) -> None:
    assert median_interval([1.0] * count) is None


def test_checkpoints_are_few_and_far_apart() -> None:
    assert list(islice(stopping_checkpoints(), 5)) == [100, 150, 225, 337, 505]
    assert list(islice(stopping_checkpoints(40), 3)) == [40, 60, 90]


def autoregressive(rng: Any, phi: float, n: int) -> Any:
    return np.exp(0.05 * lfilter([1], [1, -phi], rng.normal(0, (1 - phi**2) ** 0.5, n + 300))[300:])


@pytest.mark.parametrize(("phi", "signs"), [(0.0, 1.0), (0.5, 2.307), (0.9, 13.28)])
def test_the_correlation_time_is_that_of_the_signs(phi: float, signs: float) -> None:
    """For AR(1), the correlation of signs at lag k is the arcsine of phi^k over a right angle."""
    lags = np.arange(1, 2000)
    assert 1 + 2 * np.sum(np.arcsin(phi**lags) * 2 / np.pi) == pytest.approx(signs, rel=1e-3)
    rng = np.random.default_rng(10)
    found = [correlation_time(autoregressive(rng, phi, 4000)) for _ in range(50)]
    assert np.median(found) == pytest.approx(signs, rel=0.15)


def test_correlated_samples_are_told_from_independent_ones() -> None:
    rng = np.random.default_rng(11)
    assert sum(is_correlated(autoregressive(rng, 0.9, 100)) for _ in range(100)) >= 98
    assert sum(is_correlated(rng.exponential(1, 400)) for _ in range(100)) <= 3
    # An effect that lengthens 20 samples at a time leaves the median unchanged.
    rare = [np.where(np.arange(400) % 100 < 20, 2.0, 1.0) * rng.lognormal(0, 0.02, 400) for _ in range(50)]
    assert all(map(is_correlated, rare))
    assert not is_correlated([])
    assert not is_correlated([0.0, 1.0])


def test_correlated_samples_have_a_wider_interval_and_never_a_narrower_one() -> None:
    rng = np.random.default_rng(12)
    for phi in (0.0, 0.9):
        samples = autoregressive(rng, phi, 400)
        one, other = median_interval(samples), sign_interval(samples)
        assert one is not None
        assert other is not None
        assert one.low <= other.low <= other.high <= one.high
        assert (one.high - one.low > 2 * (other.high - other.low)) == (phi > 0)


positive = st.lists(st.floats(1e-3, 1e9), min_size=6, max_size=60)


@given(positive, st.randoms())
def test_the_order_of_samples_does_not_matter(samples: list[float], random: Any) -> None:
    shuffled = samples.copy()
    random.shuffle(shuffled)
    assert sign_interval(shuffled) == sign_interval(samples)
    assert median_interval(samples[::-1]) == median_interval(samples)


@given(positive)
def test_scaling_scales(samples: list[float]) -> None:
    one, two = median_interval(samples), median_interval([2 * each for each in samples])
    assert one is not None
    assert two is not None
    assert (two.value, two.low, two.high) == (2 * one.value, 2 * one.low, 2 * one.high)


@given(positive)
def test_the_interval_encloses_the_median_and_lies_within_the_samples(samples: list[float]) -> None:
    interval = median_interval(samples)
    assert interval is not None
    assert min(samples) <= interval.low <= interval.value <= interval.high <= max(samples)


def test_how_wide_an_interval_is() -> None:
    assert Estimate(value=100, low=99, high=103, confidence=0.95).relative_width == 0.03
    assert Estimate(value=0, low=0, high=1, confidence=0.95).relative_width == float("inf")
    assert Estimate(value=0, low=0, high=0, confidence=0.95).relative_width == 0


def test_quartiles_enclose_the_middle_half() -> None:
    assert quartiles(range(101)) == (25, 75)
