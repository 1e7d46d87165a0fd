"""The exponent of a time's growth, apart from its overhead."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
import pytest
import simulated as simulated_calls
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxmagic.comparison.record.between_points import standard_error
from jaxmagic.comparison.record.curve import Growth
from jaxmagic.comparison.record.growth import growth, is_bounded, is_known
from jaxmagic.statistics.medians import median_interval

SIZES = [2.0**k for k in range(6, 13)]
Curve = Callable[[np.ndarray], np.ndarray]


def simulated(curve: Curve, deviation: float, count: int, sizes: list[float] = SIZES) -> list[Growth]:
    """Growths of so many sweeps of one curve, with noise between points."""
    rng = np.random.default_rng(7)
    times = curve(np.array(sizes))
    made = [growth(sizes, list(times * np.exp(rng.normal(0, deviation, len(sizes))))) for _ in range(count)]
    return [each for each in made if each is not None]


def coverage(found: list[Growth], exponent: float) -> float:
    return float(np.mean([each.exponent.low <= exponent <= each.exponent.high for each in found]))


@settings(max_examples=30, deadline=None)
@given(st.floats(0.2, 4), st.floats(1e-3, 1e6), st.integers(3, 12))
def test_a_power_without_noise_is_found_exactly(exponent: float, factor: float, count: int) -> None:
    sizes = [2.0**k for k in range(count)]
    found = growth(sizes, [factor * size**exponent for size in sizes])
    assert found is not None
    assert (found.start, found.overhead_ns) == (1, None)
    assert found.exponent.value == pytest.approx(exponent, abs=1e-6)
    assert found.exponent.low <= found.exponent.value <= found.exponent.high


@pytest.mark.parametrize("overhead", [0.0, 64.0**2, 512.0**2, 4096.0**2])
def test_intervals_cover_the_exponent_whatever_the_overhead(overhead: float) -> None:
    found = simulated(lambda n: overhead + n**2, 0.02, 40)
    assert coverage(found, 2.0) >= 0.93


@pytest.mark.parametrize(("bend", "count"), [(256.0, 5), (512.0, 6), (512.0, 7)])
def test_intervals_cover_the_exponent_where_overhead_and_work_overlap(bend: float, count: int) -> None:
    found = simulated(lambda n: np.maximum(bend, n), 0.01, 40, SIZES[:count])
    assert coverage(found, 1.0) >= 0.93


@pytest.mark.parametrize("count", [3, 4, 7])
@pytest.mark.parametrize(("overhead", "exponent"), [(0.0, 1.0), (300.0**2, 2.0)])
def test_intervals_cover_the_exponent_where_some_points_are_known_better(
    count: int, overhead: float, exponent: float
) -> None:
    rng = np.random.default_rng(11)
    sizes = np.array([64.0 * 4**k for k in range(3)] if count == 3 else SIZES[:count])
    found = []
    for _ in range(40):
        errors = 10 ** rng.uniform(-3, -0.7, count)  # from 0.1 % to 20 %, as on a machine with other processes
        times = (overhead + sizes**exponent) * np.exp(rng.normal(0, np.hypot(0.02, errors)))
        found.append(growth(list(sizes), list(times), list(errors)))
    made = [each for each in found if each is not None]
    assert coverage(made, exponent) >= 0.93


#: How much of the largest slowdown each point has, of points in ascending order of their sizes.
DISTURBED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "independent": lambda drawn: drawn,
    "large sizes more": np.sort,
    "small sizes more": lambda drawn: np.sort(drawn)[::-1],
    "later points only": lambda drawn: np.arange(len(drawn)) >= len(drawn) // 2,
}


@pytest.mark.parametrize("disturbed", DISTURBED)
@pytest.mark.parametrize(("count", "slowdown", "overhead"), [(4, 6.0, 0.0), (7, 2.0, 0.0), (7, 2.0, 128.0**3)])
def test_intervals_cover_the_exponent_where_other_processes_slow_points_down(
    count: int, slowdown: float, overhead: float, disturbed: str
) -> None:
    rng = np.random.default_rng(5)
    sizes = np.array(SIZES[:count])
    found = []
    for _ in range(12):
        share = DISTURBED[disturbed](rng.uniform(0, 1, count))
        times = (overhead + sizes**3) * slowdown**share * np.exp(rng.normal(0, 0.02, count))
        found.append(growth(list(sizes), list(times), [0.01] * count, [slowdown] * count))
    made = [each for each in found if each is not None]
    assert coverage(made, 3.0) >= 0.93
    assert not any(each.changes for each in made)


@pytest.mark.parametrize("slowdown", [1.0, 4.6])
@pytest.mark.parametrize(("exponent", "overhead"), [(1.0, 0.0), (2.0, 0.0), (2.0, 300.0**2)])
def test_intervals_cover_the_exponent_of_sampled_times(slowdown: float, exponent: float, overhead: float) -> None:
    rng, noise = np.random.default_rng(13), simulated_calls.correlated(0.9)
    sizes = 100.0 * 2 ** np.arange(5)
    made = []
    for _ in range(400):
        means = (overhead + sizes**exponent) * slowdown ** rng.uniform(0, 1, 5) * np.exp(rng.normal(0, 0.02, 5))
        found = [median_interval(list(mean * noise(rng, 40))) for mean in means]
        times = [each for each in found if each is not None]
        errors = [standard_error(each) for each in times]
        made.append(growth(list(sizes), [each.value for each in times], errors, [slowdown] * 5))
    grown = [each for each in made if each is not None]
    assert len(grown) == 400
    assert coverage(grown, exponent) >= 0.93
    if exponent == 2 and not overhead:  # its growth shows, however much others may have slowed points down
        assert np.mean([is_bounded(each) for each in grown]) >= 0.9


def test_an_exponent_is_uncertain_where_slowdowns_of_few_points_may_explain_it() -> None:
    times = [size**3 for size in SIZES[:4]]
    quiet, busy = growth(SIZES[:4], times), growth(SIZES[:4], times, slowdowns=[6.0] * 4)
    assert quiet is not None
    assert busy is not None
    assert is_known(quiet)
    assert not is_known(busy)


@pytest.mark.parametrize("times", [[2.12, 12.6, 51.6], [0.596, 1.69, 12.2, 46.3], [64.0, 1024.0, 4096.0, 16384.0]])
def test_an_exponent_that_changes_along_the_sweep_has_no_interval(times: list[float]) -> None:
    found = growth([64.0 * 4**k for k in range(len(times))], times)
    assert found is not None
    assert found.changes
    assert (found.exponent.low, found.exponent.high) == (-inf, inf)
    assert not is_known(found)
    noisy = growth([64.0 * 4**k for k in range(len(times))], times, [0.3] * len(times))
    assert noisy is not None
    assert not noisy.changes  # noise explains it


@pytest.mark.parametrize("deviation", [0.02, 0.05])
@pytest.mark.parametrize("count", [3, 4, 7])
def test_noise_is_not_taken_for_an_exponent_that_changes(count: int, deviation: float) -> None:
    found = simulated(lambda n: n * np.log(n), deviation, 40, SIZES[:count])
    assert np.mean([each.changes for each in found]) <= 0.05


@pytest.mark.parametrize("count", [3, 4, 5])
def test_a_quadratic_behind_its_overhead_is_covered_or_not_told(count: int) -> None:
    sizes = SIZES[:count]
    found = simulated(lambda n: sizes[-1] ** 2 + n**2, 0.02, 40, sizes)
    told = [each for each in found if is_known(each)]
    wrong = [each for each in told if not each.exponent.low <= 2 <= each.exponent.high]
    assert len(wrong) <= 0.05 * len(found)


def test_an_overhead_is_told_with_its_interval_where_there_is_one() -> None:
    found = growth(SIZES, [12_000 + 3 * size**1.5 for size in SIZES])
    assert found is not None
    assert found.overhead_ns is not None
    assert found.overhead_ns.value == pytest.approx(12_000, rel=0.01)
    assert found.overhead_ns.low < 12_000 < found.overhead_ns.high
    assert found.start == 256  # 3 · 252^1.5 = 12,000
    assert found.exponent.value == pytest.approx(1.5, abs=0.01)


def test_a_power_behind_an_overhead_that_is_larger_everywhere_starts_nowhere() -> None:
    found = growth(SIZES, [2 * SIZES[-1] + size for size in SIZES])
    assert found is not None
    assert found.start == inf


def test_a_constant_may_hide_any_growth() -> None:
    rng = np.random.default_rng(2)
    found = growth(SIZES, list(1000 * np.exp(rng.normal(0, 0.01, len(SIZES)))))
    assert found is not None
    assert (found.exponent.low, found.exponent.high) == (-inf, inf)
    assert not is_known(found)
    assert not is_bounded(found)


def test_a_time_that_falls_has_a_negative_exponent() -> None:
    found = growth([1, 2, 4, 8, 16], [500 + 8000 / n for n in (1, 2, 4, 8, 16)])
    assert found is not None
    assert found.exponent.value == pytest.approx(-1, abs=0.01)
    assert found.start == 1
    assert found.overhead_ns is not None
    assert found.overhead_ns.value == pytest.approx(500, rel=0.02)


def test_small_sizes_in_a_faster_cache_are_left_out() -> None:
    sizes = [2.0**k for k in range(6, 16)]
    found = growth(sizes, [size * (3 if size > 256 else 1) for size in sizes])
    assert found is not None
    assert found.start == 512
    assert found.exponent.value == pytest.approx(1, abs=0.01)


def test_noise_of_four_per_cent_leaves_no_size_out() -> None:
    left_out = [each.start > SIZES[0] for each in simulated(lambda n: n**1.5, 0.04, 40)]
    assert np.mean(left_out) <= 0.1


def test_a_point_that_is_not_known_well_counts_less() -> None:
    times = [size**2 * (1.3 if size == SIZES[-1] else 1) for size in SIZES]
    trusted, weighted = growth(SIZES, times), growth(SIZES, times, [0.0] * (len(SIZES) - 1) + [0.5])
    assert trusted is not None
    assert weighted is not None
    assert abs(weighted.exponent.value - 2) < abs(trusted.exponent.value - 2) / 5


@settings(max_examples=20, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_other_units_change_the_units_only(of_size: float, of_time: float) -> None:
    times = [5 * SIZES[2] + size for size in SIZES]
    one, other = growth(SIZES, times), growth([of_size * n for n in SIZES], [of_time * each for each in times])
    assert one is not None
    assert other is not None
    assert other.exponent.low == pytest.approx(one.exponent.low, abs=1e-3)
    assert other.exponent.high == pytest.approx(one.exponent.high, abs=1e-3)
    assert other.start == pytest.approx(of_size * one.start)
    assert one.overhead_ns is not None
    assert other.overhead_ns is not None
    assert other.overhead_ns.value == pytest.approx(of_time * one.overhead_ns.value, rel=1e-2)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_points_have_no_exponent(count: int) -> None:
    assert growth(list(range(1, count + 1)), [1.0] * count) is None


def test_a_time_of_zero_has_no_exponent() -> None:
    assert growth([1, 2, 3], [0, 1, 2]) is None


def test_sizes_that_lie_very_far_apart_do_not_overflow() -> None:
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        found = growth([1e-90, 1.0, 1e90], [1.0, 1.0, 1e90])
    assert found is not None


def test_times_that_hardly_grow_have_an_overhead_or_none_but_never_an_error() -> None:
    """Found with sweeps of one constant function, whose overhead was beyond all numbers."""
    found = growth([1, 2, 4, 8], [26469.5, 24997.0, 21200.0, 17488.0], [0.03, 0.025, 0.0195, 0.0287])
    assert found is not None
    rng = np.random.default_rng(1)
    for count in (3, 4, 6):
        for _ in range(30):
            assert growth([2**n for n in range(count)], list(1e4 * rng.lognormal(0, 0.3, count)), [0.03] * count)
