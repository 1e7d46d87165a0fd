"""A record beside an earlier one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import jaxmagic
from jaxmagic.analysis.regression import against, against_record, differing
from jaxmagic.model.benchmark import Benchmark, Trial
from jaxmagic.model.sweep import Sweep


def test_the_ratio_is_that_of_the_medians_with_both_intervals(benchmark: Benchmark) -> None:
    slower = tuple(round(1.2 * each) for each in benchmark.samples_ns)
    found = against(benchmark, replace(benchmark, latency=Trial(samples_ns=slower, evaluations=1)))
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1.2)
    low, high = benchmark.interval_ns or (0, 0)
    assert found.interval == pytest.approx((1.2 * low / high, 1.2 * high / low))
    assert found.verdict == "slower"
    assert against(benchmark, benchmark).verdict == "no difference"


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"jaxmagic": "9", "ipython": None, "cache_directory": "/x"}, []),
        ({"jax": "9"}, ["jax"]),
        ({"backend": "gpu", "cpu_count": 64}, ["cpu_count", "backend"]),
        ({"xla_flags": "--x"}, ["xla_flags"]),
    ],
)
def test_what_may_change_times_makes_records_incomparable(
    benchmark: Benchmark, changes: Any, fields: list[str]
) -> None:
    other = replace(benchmark, environment=replace(benchmark.environment, **changes))
    assert list(differing(benchmark.environment, other.environment)) == fields
    if fields:
        with pytest.raises(jaxmagic.NotComparable, match=f"{fields[0]} was .* and is "):
            against(benchmark, other)
    assert against(benchmark, other, anyway=True).verdict == "no difference"


def test_the_verb_takes_records_as_well(benchmark: Benchmark) -> None:
    assert jaxmagic.compare(benchmark, benchmark) == against(benchmark, benchmark)
    other = replace(benchmark, environment=replace(benchmark.environment, jax="9"))
    with pytest.raises(jaxmagic.NotComparable):
        jaxmagic.compare(benchmark, other)
    found = jaxmagic.compare(benchmark, other, anyway=True)
    assert found.verdict == "no difference"
    assert found.differing == (f"jax was {benchmark.environment.jax!r} and is '9'",)
    assert jaxmagic.compare(benchmark, benchmark, anyway=True).differing == ()


def test_a_point_with_too_few_rounds_does_not_hide_the_others(sweep: Sweep) -> None:
    first, *others = sweep.points
    assert first.comparison is not None

    def cut(trial: Trial) -> Trial:
        return replace(trial, samples_ns=trial.samples_ns[:5])

    short = replace(
        first.comparison,
        candidates=tuple(replace(each, latency=cut(each.latency)) for each in first.comparison.candidates),
        again=cut(first.comparison.again),
    )
    found = against_record(sweep, replace(sweep, points=(replace(first, comparison=short), *others)))
    assert [each.label for each in found if each.ratio is None] == ["numpy at n=8", "jit at n=8"]
    assert {each.ratio.value for each in found if each.ratio is not None} == {1.0}
    with pytest.raises(jaxmagic.NotMeasured, match="fewer than six samples"):
        against_record(sweep, replace(sweep, points=(replace(first, comparison=short),)))


def test_records_of_two_kinds_are_refused(benchmark: Benchmark, sweep: Sweep) -> None:
    with pytest.raises(TypeError, match="another of its kind; found a Benchmark and a Sweep"):
        jaxmagic.compare(benchmark, sweep)
