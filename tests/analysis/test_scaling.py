"""How times grow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.analysis.scaling import along, curves, growth
from jaxmagic.model.sweep import Point, Sweep, Variable


def test_the_exponent_is_that_of_the_power(sweep: Sweep) -> None:
    numpy, jit = sweep.curves
    assert numpy.growth is not None
    assert numpy.growth.exponent.value == pytest.approx(2.0, abs=1e-3)
    assert numpy.growth.start == 8
    assert numpy.times[3].value == pytest.approx(10e6, rel=0.2)
    assert (numpy.compile_ns[0], jit.compile_ns[0] > 10**8) == (0, True)
    assert numpy.positions == (0, 1, 2, 3, 4, 5, 6, 7)


def test_a_plateau_is_left_out_and_said_to_be(sweep: Sweep) -> None:
    _, jit = sweep.curves
    assert jit.growth is not None
    assert jit.growth.exponent.value == pytest.approx(1.0, abs=1e-3)
    assert jit.growth.start == 128  # the bend is at 64
    assert jit.growth.exponent.high - jit.growth.exponent.low < 0.05


@given(st.floats(0.2, 4), st.floats(1e-3, 1e6), st.integers(3, 12))
def test_a_power_without_noise_is_found_exactly(exponent: float, factor: float, count: int) -> None:
    sizes = [2.0**k for k in range(count)]
    found = growth(sizes, [factor * size**exponent for size in sizes])
    assert found is not None
    assert found.start == 1
    assert found.exponent.value == pytest.approx(exponent, abs=1e-6)
    assert found.exponent.low <= found.exponent.value <= found.exponent.high


def test_intervals_cover_the_exponent_of_noisy_powers_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(7)
    sizes = np.array([2.0**k for k in range(4, 11)])
    covered = 0
    for _ in range(2000):
        found = growth(list(sizes), list(sizes**1.5 * np.exp(rng.normal(0, 0.1, len(sizes)))))
        assert found is not None
        covered += found.exponent.low <= 1.5 <= found.exponent.high
    # One in five is called bent by chance, and fitted through fewer points then: wider, and still right.
    assert 0.92 <= covered / 2000 <= 0.97


@pytest.mark.parametrize(("constant", "power"), [(3e2, 1.5), (2e4, 3.0)])
def test_intervals_cover_the_exponent_behind_a_plateau_too(constant: float, power: float) -> None:
    rng = np.random.default_rng(11)
    sizes = np.array([2.0**k for k in range(4, 14)])
    covered = 0
    for _ in range(400):
        found = growth(list(sizes), list((constant + sizes**power) * np.exp(rng.normal(0, 0.02, len(sizes)))))
        assert found is not None
        covered += found.exponent.low <= power <= found.exponent.high
    assert covered / 400 >= 0.89


def test_a_constant_before_a_power_does_not_spoil_the_exponent() -> None:
    rng = np.random.default_rng(3)
    sizes = [2.0**k for k in range(2, 14)]
    times = [(1e4 + size**2) * np.exp(rng.normal(0, 0.01)) for size in sizes]
    found = growth(sizes, times)
    assert found is not None
    assert found.exponent.value == pytest.approx(2.0, abs=0.1)
    assert found.start >= 128


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_points_have_no_exponent(count: int) -> None:
    assert growth(list(range(1, count + 1)), [1.0] * count) is None


def test_a_time_of_zero_has_no_exponent() -> None:
    assert growth([1, 2, 3], [0, 1, 2]) is None


def test_a_grid_has_a_curve_for_each_value_of_the_other_variable(sweep: Sweep, compared: Any) -> None:
    numbers = sweep.variables[0]
    dtype = Variable(name="dtype", labels=("float32", "bfloat16"))
    points = [
        Point(at=(row, column), comparison=compared(1e6 * (row + 1) * 2**column, 1e6))
        for row in range(2)
        for column in (2, 0, 1)
    ]
    grid = replace(sweep, variables=(dtype, numbers), points=tuple(points))
    assert along(grid) == 1
    found = curves(grid)
    assert [(each.label, each.others) for each in found] == [
        ("numpy", "dtype=float32"),
        ("jit", "dtype=float32"),
        ("numpy", "dtype=bfloat16"),
        ("jit", "dtype=bfloat16"),
    ]
    assert found[2].name == "numpy, dtype=bfloat16"
    assert found[0].positions == (0, 1, 2)  # in the order of the sizes, not of the measurements
    assert [round(each.value / found[0].times[0].value) for each in found[0].times] == [1, 2, 4]


def test_without_numbers_there_is_no_growth(sweep: Sweep) -> None:
    words = replace(sweep.variables[0], numbers=None)
    named = replace(sweep, variables=(words,))
    assert [each.growth for each in named.curves] == [None, None]
