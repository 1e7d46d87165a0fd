"""On synthetic samples, whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from jaxmagic.analysis.statistics import drift, looks, median_interval, outliers, quartiles, two_modes
from jaxmagic.model.estimate import Estimate

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
    """Two modes whose median, at the 5/7 quantile of the lower, is 1."""
    return two(rng, n) - 0.02 * 0.5659488


@pytest.mark.parametrize(("shape", "rtol"), [("normal", 0.01), ("log-normal", 0.02), ("two modes", 0.01)])
def test_intervals_cover_the_truth_although_sampling_stops_when_they_are_narrow(shape: str, rtol: float) -> None:
    draw = SHAPES.get(shape, two_centred)
    rng = np.random.default_rng(4)
    trials, covered, stopped_early = 2000, 0, 0
    for _ in range(trials):
        samples = draw(rng, 1000)
        for count in looks():
            interval = median_interval(samples[:count])
            assert interval is not None
            if interval.relative_width <= rtol or count * 1.5 > len(samples):
                break
        covered += interval.low <= 1 <= interval.high
        stopped_early += count < 500
    assert 0.93 <= covered / trials <= 0.97
    assert stopped_early > trials / 4  # it is the stopping that endangers the coverage


@pytest.mark.parametrize("count", [6, 7, 40, 41, 999, 100_000])
def test_the_interval_is_the_narrowest_with_its_confidence(count: int) -> None:
    interval = median_interval(range(count))
    assert interval is not None
    below = int(interval.low)  # as many samples lie below the interval
    assert 2 * binom.cdf(below, count, 0.5) <= 0.05 < 2 * binom.cdf(below + 1, count, 0.5)
    assert interval.high == count - 1 - below


@pytest.mark.parametrize("count", range(6))
def test_fewer_than_six_samples_have_no_interval(count: int) -> None:
    assert median_interval([1.0] * count) is None


def test_looks_are_few_and_far_apart() -> None:
    assert list(islice(looks(), 5)) == [40, 60, 90, 135, 202]


positive = st.lists(st.floats(1e-3, 1e9), min_size=6, max_size=60)


@given(positive, st.randoms())
def test_the_order_of_samples_does_not_matter(samples: list[float], random: Any) -> None:
    shuffled = samples.copy()
    random.shuffle(shuffled)
    assert median_interval(shuffled) == median_interval(samples)
    assert outliers(shuffled) == outliers(samples)
    assert two_modes(shuffled) == two_modes(samples)


@given(positive)
def test_scaling_scales(samples: list[float]) -> None:
    one, two = median_interval(samples), median_interval([2 * each for each in samples])
    assert one is not None
    assert two is not None
    assert (two.value, two.low, two.high) == (2 * one.value, 2 * one.low, 2 * one.high)
    assert drift([2 * each for each in samples]) == drift(samples)


@given(positive)
def test_the_interval_encloses_the_median_and_lies_within_the_samples(samples: list[float]) -> None:
    interval = median_interval(samples)
    assert interval is not None
    assert min(samples) <= interval.low <= interval.value <= interval.high <= max(samples)


def test_how_wide_an_interval_is() -> None:
    assert Estimate(value=100, low=99, high=103, confidence=0.95).relative_width == 0.03
    assert Estimate(value=0, low=0, high=1, confidence=0.95).relative_width == float("inf")
    assert Estimate(value=0, low=0, high=0, confidence=0.95).relative_width == 0


@pytest.mark.parametrize("count", [40, 1000])
@pytest.mark.parametrize("shape", SHAPES)
def test_samples_of_one_kind_have_no_trend_and_no_modes(shape: str, count: int) -> None:
    rng = np.random.default_rng(5)
    found = [(drift(each), two_modes(each)) for each in (SHAPES[shape](rng, count) for _ in range(200))]
    assert sum(trend is not None for trend, _ in found) <= 2
    assert sum(modes is not None for _, modes in found) <= 16


def test_a_trend_is_found_with_its_size() -> None:
    rng = np.random.default_rng(6)
    for slope in (0.1, -0.1):
        rising = [drift((1 + slope * np.linspace(0, 1, 90)) * rng.normal(1, 0.02, 90)) for _ in range(100)]
        found = [each for each in rising if each is not None]
        assert len(found) >= 95
        assert np.median(found) == pytest.approx(slope * 2 / 3, abs=0.015)


def test_a_coarse_clock_makes_no_trend_and_no_modes() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        ticks = np.round(rng.normal(40, 0.6, 200))
        assert drift(ticks) is None
        assert two_modes(ticks, resolution=1) is None
    assert drift([40.0] * 30 + [41.0] * 10) is not None
    assert drift([40.0] * 100) is None


def test_two_modes_are_found_with_their_places_and_shares() -> None:
    rng = np.random.default_rng(8)
    found = [two_modes(two(rng, 200)) for _ in range(100)]
    assert all(found)
    assert np.median([modes.low for modes in found if modes]) == pytest.approx(1, rel=0.01)
    assert np.median([modes.high for modes in found if modes]) == pytest.approx(1.2, rel=0.01)
    assert np.median([modes.share for modes in found if modes]) == pytest.approx(0.3, abs=0.03)


def test_a_few_outliers_are_no_mode_but_are_counted() -> None:
    rng = np.random.default_rng(9)
    samples = rng.normal(1, 0.02, 200)
    assert sum(outliers(samples)) <= 6
    samples[::40] *= 5
    samples[7] /= 5
    assert two_modes(samples) is None
    assert outliers(samples).high >= 5
    assert outliers(samples).low >= 1


def test_quartiles_enclose_the_middle_half() -> None:
    assert quartiles(range(101)) == (25, 75)


@pytest.mark.parametrize("samples", [[], [1.0], [1.0, 2.0]])
def test_too_few_samples_say_nothing(samples: list[float]) -> None:
    assert drift(samples) is None
    assert two_modes(samples) is None
