"""Where candidates overtake each other, and where only chance does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.comparison.record.between_points import BETWEEN_POINTS
from jaxmagic.comparison.record.comparison import Comparison, Trial
from jaxmagic.comparison.record.crossings import _certain, _Ratio, scatter
from jaxmagic.comparison.record.curve import Crossing, Variable
from jaxmagic.comparison.record.sweep import Point, Sweep

SIZES = tuple(64.0 * 4**k for k in range(5))


def slowed(comparison: Comparison, label: str, factor: float) -> Comparison:
    """The same comparison, with all samples of one candidate so many times as long."""

    def times(trial: Trial, factor: float) -> Trial:
        return replace(trial, samples_ns=tuple(round(factor * each) for each in trial.samples_ns))

    made = tuple(
        replace(each, latency=times(each.latency, factor)) if each.label == label else each
        for each in comparison.candidates
    )
    return replace(comparison, candidates=made)


def swept(sweep: Sweep, like: Comparison, factors: Any) -> Sweep:
    """A sweep in which jit takes so many times as long as numpy, point by point."""
    points = tuple(Point(at=(at,), comparison=slowed(like, "jit", factor)) for at, factor in enumerate(factors))
    labels = tuple(str(int(size)) for size in SIZES)
    return replace(sweep, variables=(Variable(name="n", labels=labels, numbers=SIZES),), points=points)


@pytest.fixture
def equal(compared: Any) -> Comparison:
    """Both take 10 ms."""
    return compared(10e6, 10e6)


def simulated(sweep: Sweep, like: Comparison, slope: float, deviation: float) -> list[tuple[float, Sweep]]:
    """Sweeps whose candidates differ by a power, with noise between points; and where they truly cross."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(30):
        truth = float(np.exp(rng.uniform(np.log(SIZES[0] * 2), np.log(SIZES[-1] / 2))))
        factors = (np.array(SIZES) / truth) ** slope * np.exp(2**0.5 * rng.normal(0, deviation, len(SIZES)))
        found.append((truth, swept(sweep, like, factors)))
    return found


def test_a_crossing_lies_between_the_points_where_both_are_certain(sweep: Sweep) -> None:
    (found,) = sweep.crossings
    assert (found.before, found.after, found.variable) == ("numpy", "jit", "n")
    assert (found.low, found.high) == (32, 128)
    assert found.value == pytest.approx(64, rel=0.01)


def test_without_an_overtaking_there_is_no_crossing(sweep: Sweep) -> None:
    assert replace(sweep, points=sweep.points[4:]).crossings == ()


def test_without_numbers_there_is_no_crossing(sweep: Sweep) -> None:
    assert replace(sweep, variables=(replace(sweep.variables[0], numbers=None),)).crossings == ()


def test_one_point_has_no_crossing(sweep: Sweep) -> None:
    assert replace(sweep, points=sweep.points[:1]).crossings == ()


@pytest.mark.parametrize("deviation", [0.02, 0.05])
def test_identical_candidates_do_not_cross_by_what_differs_between_points(
    sweep: Sweep, equal: Comparison, deviation: float
) -> None:
    made = [each for _, each in simulated(sweep, equal, 0.0, deviation)]
    verdicts = [{point.comparison["jit"].verdict for point in each.points if point.comparison} for each in made]
    assert sum({"faster", "slower"} <= each for each in verdicts) >= 5  # by verdicts alone they would cross
    assert sum(bool(each.crossings) for each in made) <= 1


def test_slopes_that_differ_by_a_half_cross_and_the_interval_holds_where(sweep: Sweep, equal: Comparison) -> None:
    made = simulated(sweep, equal, -0.5, 0.03)
    found: list[tuple[float, tuple[Crossing, ...]]] = [(truth, each.crossings) for truth, each in made]
    seen = [(truth, each[0]) for truth, each in found if len(each) == 1]
    assert len(seen) >= 0.85 * len(found)
    assert sum(each.low < truth < each.high for truth, each in seen) >= 0.9 * len(seen)
    assert all(each.low < each.value < each.high for _, each in seen)
    assert all((each.before, each.after) == ("numpy", "jit") for _, each in seen)


def test_more_candidates_need_clearer_ratios(sweep: Sweep, equal: Comparison) -> None:
    """The share of chance is divided among all ratios of the sweep."""
    crossing = swept(sweep, equal, np.exp([0.1, 0.05, 0, -0.05, -0.1]))
    more = []
    for point in crossing.points:
        assert point.comparison is not None
        copies = (replace(point.comparison.candidates[0], label=f"copy {n}") for n in range(3))
        comparison = replace(point.comparison, candidates=(*point.comparison.candidates, *copies))
        more.append(replace(point, comparison=comparison))
    labels = (*crossing.labels, *(f"copy {n}" for n in range(3)))
    assert crossing.crossings
    assert not replace(crossing, labels=labels, points=tuple(more)).crossings


def test_a_point_that_is_not_known_well_has_to_lie_farther_off() -> None:
    errors = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2]
    ratios = [_Ratio(2.0**at, 0.3, error, "slower") for at, error in enumerate(errors)]
    assert _certain(ratios, 0.05 / 7) == [True] * 6 + [False]


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=8), st.floats(-2, 2), st.floats(-2, 2))
def test_a_straight_line_adds_nothing_to_the_scatter(noise: list[float], slope: float, level: float) -> None:
    x = [0.5 * at for at in range(len(noise))]
    lined = [level + slope * at + each for at, each in zip(x, noise, strict=True)]
    errors = [0.0] * len(x)
    assert scatter(x, lined, errors).deviation == pytest.approx(scatter(x, noise, errors).deviation)


def test_scatter_is_the_standard_deviation_of_a_ratio_where_points_are_many() -> None:
    noise = np.random.default_rng(5).normal(0, 0.1, 400)
    assert scatter(list(range(400)), list(noise), [0.0] * 400).deviation == pytest.approx(0.1, rel=0.1)


def test_scatter_of_two_points_is_the_prior() -> None:
    found = scatter([0, 1], [-1, 1], [0.0, 0.0])
    assert found.deviation == pytest.approx(2**0.5 * BETWEEN_POINTS)
