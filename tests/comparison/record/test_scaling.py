"""The curves of a sweep."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
import pytest

from jaxmagic.comparison.record.curve import Growth, Variable
from jaxmagic.comparison.record.growth import is_known
from jaxmagic.comparison.record.scaling import along, curves
from jaxmagic.comparison.record.sweep import Point, Sweep


def test_the_exponent_is_that_of_the_power(sweep: Sweep) -> None:
    numpy, jit = sweep.curves
    assert numpy.growth is not None
    assert numpy.growth.exponent.value == pytest.approx(2.0, abs=1e-3)
    assert numpy.growth.start == 8
    assert numpy.times[3].value == pytest.approx(10e6, rel=0.2)
    assert (numpy.compile_ns[0], jit.compile_ns[0] > 10**8) == (0, True)
    assert numpy.positions == (0, 1, 2, 3, 4, 5, 6, 7)


def test_a_plateau_is_an_overhead_and_the_exponent_that_of_the_work(sweep: Sweep) -> None:
    _, jit = sweep.curves
    assert jit.growth is not None
    assert jit.growth.exponent.value == pytest.approx(1.0, abs=1e-3)
    assert jit.growth.exponent.high - jit.growth.exponent.low < 0.2
    assert jit.growth.overhead_ns is not None
    assert jit.growth.overhead_ns.value == pytest.approx(jit.times[0].value, rel=0.01)
    assert jit.growth.start in (64, 128)  # the bend is at 64


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


def test_a_few_scattered_samples_leave_the_exponent_less_certain(sweep: Sweep) -> None:
    def width(spread: float) -> float:
        points = []
        for point in sweep.points[:4]:
            assert point.comparison is not None
            candidates = []
            for each in point.comparison.candidates:
                middle = median(each.latency.samples_ns)
                samples = tuple(round(middle * factor) for factor in (1 - spread, 1, 1 + spread))
                candidates.append(replace(each, latency=replace(each.latency, samples_ns=samples)))
            again = replace(point.comparison.again, samples_ns=(1, 1, 1))
            points.append(replace(point, comparison=replace(point.comparison, candidates=candidates, again=again)))
        grows = curves(replace(sweep, points=tuple(points)))[0].growth
        assert grows is not None
        return grows.exponent.high - grows.exponent.low

    assert width(0.3) > 2 * width(0.001)


def test_a_single_sample_is_known_less_well_than_points_with_many(sweep: Sweep) -> None:
    def width(few: int) -> float:
        points = []
        for number, point in enumerate(sweep.points[:4]):
            assert point.comparison is not None
            candidates = []
            for each in point.comparison.candidates:
                middle = median(each.latency.samples_ns)
                samples = tuple(round(middle * factor) for factor in (0.5, 0.6, 0.8, 1, 1.2, 1.6, 2))
                taken = samples[3 : 3 + few] if number == 3 else samples
                candidates.append(replace(each, latency=replace(each.latency, samples_ns=taken)))
            again = replace(point.comparison.again, samples_ns=(1,) * len(taken))
            points.append(replace(point, comparison=replace(point.comparison, candidates=candidates, again=again)))
        grows = curves(replace(sweep, points=tuple(points)))[0].growth
        assert grows is not None
        return grows.exponent.high - grows.exponent.low

    assert width(1) > width(4)


@pytest.mark.parametrize("rounds", [(1, 1, 1), (1, 1, 1, 1), (2, 1, 1, 1)])
def test_single_samples_at_every_point_leave_the_growth_unknown(sweep: Sweep, rounds: tuple[int, ...]) -> None:
    """One sample shows no scatter: it may be off by any factor."""
    points = []
    for point, count in zip(sweep.points, rounds, strict=False):
        assert point.comparison is not None
        taken = [
            replace(each, latency=replace(each.latency, samples_ns=(each.latency.samples_ns[0], 9 * 10**6)[:count]))
            for each in point.comparison.candidates
        ]
        again = replace(point.comparison.again, samples_ns=(1,) * count)
        points.append(replace(point, comparison=replace(point.comparison, candidates=taken, again=again)))
    for curve in curves(replace(sweep, points=tuple(points))):
        assert curve.growth is not None
        assert not is_known(curve.growth)


@pytest.mark.parametrize(
    ("loads", "known"), [((0.1,) * 4, True), ((1.6,) * 4, False), ((1.6, 1.6, 1.6, None), False)]
)
def test_the_exponent_is_uncertain_where_other_processes_keep_a_small_machine_busy(
    sweep: Sweep, loads: tuple[float | None, ...], known: bool
) -> None:
    points = []
    for point, load in zip(sweep.points, loads, strict=False):
        assert point.comparison is not None
        conditions = (replace(each.conditions, other_load=load) for each in point.comparison.candidates)
        candidates = tuple(
            map(lambda each, at: replace(each, conditions=at), point.comparison.candidates, conditions)
        )
        environment = replace(point.comparison.environment, cpu_count=2)
        comparison = replace(point.comparison, candidates=candidates, environment=environment)
        points.append(replace(point, comparison=comparison))
    grows = curves(replace(sweep, points=tuple(points)))[0].growth
    assert grows is not None
    assert is_known(grows) is known


def _grown(sweep: Sweep, samples: list[list[float]], load: float | None) -> Growth:
    """Return the growth of a candidate with these samples at the first points, beside such a load on two CPUs."""
    points = []
    for point, taken in zip(sweep.points, samples, strict=False):
        assert point.comparison is not None
        candidates = tuple(
            replace(
                each,
                latency=replace(each.latency, samples_ns=tuple(map(round, taken))),
                conditions=replace(each.conditions, other_load=load),
            )
            for each in point.comparison.candidates
        )
        environment = replace(point.comparison.environment, cpu_count=2)
        again = replace(point.comparison.again, samples_ns=(1,) * len(taken))
        comparison = replace(point.comparison, candidates=candidates, environment=environment, again=again)
        points.append(replace(point, comparison=comparison))
    grows = curves(replace(sweep, points=tuple(points)))[0].growth
    assert grows is not None
    return grows


def _over(sweep: Sweep, count: int) -> Sweep:
    """Return a sweep over 1, 2, …, with the points of the given one."""
    numbers = tuple(map(float, range(1, len(sweep.variables[0].labels) + 1)))
    labels = tuple(map(str, map(int, numbers)))
    return replace(
        sweep, variables=(Variable(name="n", labels=labels, numbers=numbers),), points=sweep.points[:count]
    )


@pytest.mark.parametrize("overhead", [0, 1])
@pytest.mark.parametrize("rounds", [1, 5])
@pytest.mark.parametrize("load", [1.2, None])
def test_intervals_cover_the_exponent_where_others_slow_points_with_few_rounds_tenfold(
    sweep: Sweep, load: float | None, rounds: int, overhead: float
) -> None:
    """The few rounds of a point fall into a moment with more load than the average."""
    rng = np.random.default_rng(7)
    covered = []
    for _ in range(40):
        means = 1e6 * (overhead + np.arange(1, 6) ** 0.7) * rng.normal(1, 0.01, 5)
        slowdowns = [*rng.uniform(1, 2 if load else 1, 3), *rng.uniform(1, 10, 2)]
        counts = [40, 40, 40, rounds, rounds]
        samples = [
            list(mean * slowdown * rng.normal(1, 0.02, count))
            for mean, slowdown, count in zip(means, slowdowns, counts, strict=True)
        ]
        exponent = _grown(_over(sweep, 5), samples, load).exponent
        covered.append(exponent.low <= 0.7 <= exponent.high)
    assert np.mean(covered) >= 0.95


@pytest.mark.parametrize(("load", "known"), [(0.1, True), (None, False)])
def test_points_with_few_rounds_count_where_the_machine_is_known_to_be_quiet(
    sweep: Sweep, load: float | None, known: bool
) -> None:
    samples = [[1e6 * 4**number * factor for factor in (1, 1.001, 1.002)] for number in range(5)]
    assert is_known(_grown(sweep, samples, load)) is known
