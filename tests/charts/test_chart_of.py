"""Chart descriptions: exact at every point, thinned, and independent of pixels."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.benchmarking.charts import over_time
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.charts.chart_of import chart_of
from jaxmagic.charts.curves import Curves
from jaxmagic.charts.distribution import hill, share_until
from jaxmagic.charts.spec import Forest
from jaxmagic.comparison.charts.choices import latencies
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.sweep import Sweep
from jaxmagic.session.history import History

SAMPLES = st.lists(st.integers(1, 10**6), min_size=1, max_size=400)


@given(SAMPLES)
def test_every_point_of_a_distribution_lies_on_that_of_all_samples(samples: list[int]) -> None:
    found = share_until("f", samples)
    ordered = sorted(samples)
    points = list(zip(found.x, found.y, strict=True))
    assert points[0] == (ordered[0], 0)
    assert points[-1] == (ordered[-1], 1)
    for x, y in points[1:]:
        assert x is not None
        assert y == bisect_right(ordered, x) / len(ordered)
    assert list(found.x) == sorted(found.x, key=lambda each: each or 0)


@given(SAMPLES)
def test_thinning_hides_no_more_than_a_hundredth(samples: list[int]) -> None:
    found = share_until("f", samples)
    ordered = sorted(samples)
    assert len(found.x) <= 103
    for value in samples:
        drawn = max(
            y for x, y in zip(found.x, found.y, strict=True) if x is not None and y is not None and x <= value
        )
        assert bisect_right(ordered, value) / len(ordered) - drawn <= 0.0101


def test_a_distribution_ends_where_the_axis_does() -> None:
    found = share_until("f", [1, 2, 3, 4], end=2.5)
    assert list(zip(found.x, found.y, strict=True)) == [(1, 0.0), (1, 0.25), (2, 0.5), (2.5, 0.5)]


@given(st.lists(st.floats(0.1, 10), min_size=6, max_size=200), st.floats(0.2, 5))
def test_a_hill_moves_with_its_ratios(ratios: list[float], factor: float) -> None:
    here, there = hill(ratios), hill([each * factor for each in ratios])
    assert len(here) == len(there)
    assert all(0 <= height <= 1 for _, height in here)
    if here:
        assert max(height for _, height in here) == 1
        assert there[0][0] == pytest.approx(here[0][0] * factor)


def test_a_benchmark_is_its_distribution_with_the_median_and_its_interval(benchmark: Benchmark) -> None:
    found = chart_of(replace(benchmark, pipelined=None))
    assert isinstance(found, Curves)
    (latency,), (median,) = found.series, found.marks
    assert len(latency.x) == 91
    assert median.at == benchmark.median_ns
    assert (median.low, median.high) == benchmark.interval_ns
    assert found.x.low == min(benchmark.samples_ns)
    assert found.note == ""


@pytest.mark.parametrize(
    ("milliseconds", "count", "drawn"),
    [(9.0, 7, True), (9.0, 5, False), (9.95, 7, False), (4.0, 7, False), (12.0, 7, False)],
)
def test_pipelined_calls_are_drawn_where_they_are_told_apart_and_near(
    benchmark: Benchmark, milliseconds: float, count: int, drawn: bool
) -> None:
    pipelined = Trial(samples_ns=(round(milliseconds * 10**7),) * count, evaluations=10)
    found = chart_of(replace(benchmark, pipelined=pipelined))
    assert isinstance(found, Curves)
    assert [each.name for each in found.series] == ["latency", "pipelined"][: 1 + drawn]
    assert [each.muted for each in found.series] == [False, True][: 1 + drawn]


def test_samples_beyond_the_picture_are_counted(benchmark: Benchmark) -> None:
    far = Trial(samples_ns=(*benchmark.samples_ns, 10**9, 2 * 10**9), evaluations=1)
    found = chart_of(replace(benchmark, latency=far))
    assert isinstance(found, Curves)
    assert found.note == "2 beyond →"
    assert found.x.high < 10**8
    assert found.series[0].y[-1] == pytest.approx(90 / 92)


@pytest.mark.parametrize("samples", [(5, 5, 5), (5,) * 20, (1, 10**12), (1, 1), (7,)])
def test_odd_samples_have_an_axis_as_well(benchmark: Benchmark, samples: Any) -> None:
    found = chart_of(replace(benchmark, latency=Trial(samples_ns=samples, evaluations=1)))
    assert isinstance(found, Curves)
    assert found.series[0].y[-1] == 1


def test_a_comparison_is_a_row_for_each_candidate(comparison: Comparison) -> None:
    found = chart_of(comparison)
    assert isinstance(found, Forest)
    numpy, jit = found.rows
    assert (numpy.value, numpy.verdict, numpy.hill) == (1.0, "baseline", ())
    assert (jit.low, jit.high) == comparison["jit"].interval
    assert jit.verdict == "faster"
    assert comparison.noise is not None
    assert found.noise == (comparison.noise.low, comparison.noise.high)
    inside = [place for place, _ in jit.hill]
    assert found.x.low < min(inside) < jit.value < max(inside) < 1 < found.x.high


def test_few_rounds_have_a_row_without_interval_and_hill(comparison: Comparison) -> None:
    few = Trial(samples_ns=(1, 2, 3), evaluations=1)
    candidates = tuple(replace(each, latency=few) for each in comparison.candidates)
    found = chart_of(replace(comparison, again=few, candidates=candidates))
    assert isinstance(found, Forest)
    assert found.noise is None
    assert (found.rows[1].low, found.rows[1].hill) == (None, ())


def test_the_candidates_times_are_curves_of_different_hues(comparison: Comparison) -> None:
    found = latencies(comparison)
    assert [(each.name, each.hue) for each in found.series] == [("numpy", 0), ("jit", 1)]


def test_a_timing_is_a_bar_of_parts_that_add_up(timing: Any, compilation: Any) -> None:
    record = timing(compilation())
    (bar,) = chart_of(record).bars
    assert [name for name, _ in bar.parts] == ["trace", "lower", "XLA", "host", "wait"]
    assert sum(size for _, size in bar.parts) == record.wall_ns == chart_of(record).x.high
    assert chart_of(timing(dispatch_ns=0, wait_ns=0)).bars[0].parts == ()


def test_the_history_is_a_bar_for_each_of_its_last_timings(timing: Any, benchmark: Benchmark) -> None:
    history = History()
    with pytest.raises(ValueError, match="there are no runs to show"):
        chart_of(history)
    for number in range(15):
        history.append(timing(code=f"f({number})"))
    assert [bar.name for bar in chart_of(history).bars] == [f"[{number}] f({number})" for number in range(14, 2, -1)]
    history.append(benchmark)
    assert chart_of(history).bars[0].name.endswith("(first call)")


def test_what_is_no_record_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="expected a record or the history, got int"):
        chart_of(3)


def test_a_sweep_is_a_curve_for_each_candidate_and_one_for_what_it_compiled(sweep: Sweep) -> None:
    found = chart_of(sweep)
    assert isinstance(found, Curves)
    assert [(each.name, each.hue, each.dashed) for each in found.series] == [
        ("numpy", 0, False),
        ("jit", 1, False),
        ("jit: compile", 1, True),
    ]
    numpy = found.series[0]
    assert numpy.x == (8, 16, 32, 64, 128, 256, 512, 1024)
    assert numpy.low is not None
    assert numpy.high is not None
    assert all(low <= y <= high for low, y, high in zip(numpy.low, numpy.y, numpy.high, strict=True))  # type: ignore[operator]
    assert (found.x.quantity, found.x.log, found.y.quantity, found.y.log) == ("number", True, "time", True)
    assert [mark.label for mark in found.marks] == ["jit overtakes numpy near"]


def test_a_sweep_over_names_has_them_on_its_axis(sweep: Sweep) -> None:
    named = replace(sweep.variables[0], numbers=None)
    found = chart_of(replace(sweep, variables=(named,)))
    assert isinstance(found, Curves)
    assert found.x.names == named.labels[:-1]  # at the last one all candidates failed
    assert found.series[0].x == tuple(range(8))
    assert found.marks == ()


def test_a_sweep_of_which_nothing_was_measured_has_no_picture(sweep: Sweep) -> None:
    with pytest.raises(ValueError, match="no point of the sweep could be measured"):
        chart_of(replace(sweep, points=sweep.points[-1:]))


def test_one_of_several_pictures_is_drawn_by_its_name(comparison: Comparison, benchmark: Benchmark) -> None:
    assert chart_of(comparison, "ratios") == chart_of(comparison)
    assert chart_of(comparison, "distributions") == latencies(comparison)
    assert chart_of(benchmark, "order") == over_time(benchmark)
    with pytest.raises(
        ValueError, match="of: expected one of 'ratios', 'distributions' for a Comparison, got 'hills'"
    ):
        chart_of(comparison, "hills")
    with pytest.raises(ValueError, match=r"got 'c.png'. Write figure\(\).savefig\('c.png'\) for a file"):
        chart_of(comparison, "c.png")
