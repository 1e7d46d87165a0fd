"""What a reader may choose to see of a comparison or a benchmark."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.benchmarking.charts import _in_order, over_time
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.charts.chart_of import chart_of
from jaxmagic.comparison.charts.choices import ratios_chart, times_chart
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.statistics.medians import median


def test_the_median_latency_is_the_forest_of_the_report_with_its_intervals(comparison: Comparison) -> None:
    assert ratios_chart(comparison, "latency", "median") == chart_of(comparison)


def test_any_other_statistic_is_a_ratio_without_an_interval(comparison: Comparison) -> None:
    found = ratios_chart(comparison, "latency", "minimum")
    jit = found.rows[1]
    numpy_ns, jit_ns = (min(each.latency.calls_ns) for each in comparison.candidates)
    assert jit.value == pytest.approx(jit_ns / numpy_ns)
    assert (jit.low, jit.high, jit.hill, found.noise) == (None, None, (), None)


def test_colours_stay_with_their_candidates_when_one_is_left_out(comparison: Comparison) -> None:
    for statistic in ("median", "mean"):
        (jit,) = ratios_chart(comparison, "latency", statistic, hidden={"numpy"}).rows
        assert (jit.name, jit.hue) == ("jit", 1)


def test_times_are_those_of_the_candidates(comparison: Comparison) -> None:
    bars = times_chart(comparison, "latency", "median").bars
    assert [dict(each.parts)["median latency"] for each in bars] == [
        median(each.latency.calls_ns) for each in comparison.candidates
    ]


def test_what_was_not_measured_is_said_not_to_be(comparison: Comparison) -> None:
    with pytest.raises(ValueError, match="pipelined was not measured"):
        times_chart(comparison, "pipelined", "median")
    with pytest.raises(ValueError, match="numpy has no compile to compare with"):
        ratios_chart(comparison, "compile", "median")


@given(st.lists(st.integers(1, 10**6).map(float), min_size=1, max_size=2000))
def test_a_thinned_series_keeps_its_lowest_and_its_highest_sample(calls: list[float]) -> None:
    found = _in_order("samples", calls, 1, hue=0)
    assert len(found.y) <= 300
    assert min(calls) in found.y
    assert max(calls) in found.y
    assert list(found.x) == sorted(found.x)  # type: ignore[type-var]
    assert all(calls[int(x) - 1] == y for x, y in zip(found.x, found.y, strict=True))  # type: ignore[arg-type]


def test_calls_in_their_order_begin_with_the_warm_up(benchmark: Benchmark) -> None:
    found = over_time(benchmark)
    assert [each.name for each in found.series] == ["warm-up", "samples"]
    assert found.series[1].x[0] == len(benchmark.warmup_ns) + 1
    assert [each.name for each in over_time(replace(benchmark, warmup_ns=())).series] == ["samples"]
