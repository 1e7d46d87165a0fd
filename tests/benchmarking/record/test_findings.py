"""Each thing that is wrong with samples is named, and nothing is where nothing is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.records.other_load import is_loaded


def with_calls(benchmark: Benchmark, calls_ns: Any) -> Benchmark:
    return replace(benchmark, latency=Trial(samples_ns=tuple(int(each) for each in calls_ns), evaluations=1))


def kinds(benchmark: Benchmark) -> list[str]:
    return [each.kind for each in benchmark.warnings]


def with_conditions(benchmark: Benchmark, **changes: Any) -> Benchmark:
    return replace(benchmark, conditions=replace(benchmark.conditions, **changes))


def test_nothing_is_wrong_with_good_samples(benchmark: Benchmark) -> None:
    assert kinds(benchmark) == []


def test_drift_is_named_with_its_size(benchmark: Benchmark) -> None:
    rng = np.random.default_rng(0)
    rising = with_calls(benchmark, 1e7 * (1 + 0.3 * np.linspace(0, 1, 90)) * rng.normal(1, 0.02, 90))
    (found,) = rising.warnings
    assert found.kind == "drift"
    assert "rose by 1" in found.text or "rose by 2" in found.text
    falling = with_calls(benchmark, rising.samples_ns[::-1])
    assert "fell" in falling.warnings[0].text
    assert "--budget" in falling.warnings[0].remedy
    slight = with_calls(benchmark, 1e7 * (1 + 0.02 * np.linspace(0, 1, 90)) * rng.normal(1, 0.002, 90))
    assert kinds(slight) == []


def test_two_modes_are_named_with_their_places(benchmark: Benchmark) -> None:
    rng = np.random.default_rng(1)
    two = with_calls(benchmark, np.where(rng.random(200) < 0.7, 1e7, 1.2e7) * rng.normal(1, 0.02, 200))
    (found,) = two.warnings
    assert found.kind == "modes"
    assert found.text == (
        "The samples have two modes: 9.97 ms (70 %), 12.0 ms (30 %). The median is over all of them."
    )
    near = with_calls(benchmark, np.where(rng.random(200) < 0.7, 1e7, 1.02e7) * rng.normal(1, 0.001, 200))
    assert kinds(near) == []


def test_three_modes_are_named_with_their_shares(benchmark: Benchmark) -> None:
    rng = np.random.default_rng(2)
    places = rng.choice([5.0e6, 6.1e6, 9.8e6], 400, p=[0.6, 0.25, 0.15])
    (found,) = with_calls(benchmark, places * rng.normal(1, 0.02, 400)).warnings
    assert found.text.startswith("The samples have three modes: 4.98 ms (59 %), 6.09 ms (26 %), 9.76 ms (15 %).")


def test_the_clock_step_is_divided_by_the_calls_of_a_sample(benchmark: Benchmark) -> None:
    rng = np.random.default_rng(3)
    coarse = with_conditions(benchmark, resolution_ns=60, overhead_ns=0)

    def kinds_of(samples_ns: Any) -> list[str]:
        ticks = tuple(int(60 * tick) for tick in np.round(samples_ns / 60))
        return kinds(replace(coarse, latency=Trial(samples_ns=ticks, evaluations=100)))

    assert kinds_of(rng.normal(6000, 60, 200)) == []
    assert kinds_of(np.where(rng.random(200) < 0.7, 6000, 7000) + rng.normal(0, 60, 200)) == ["modes"]


def test_outliers_are_not_warned_of(benchmark: Benchmark) -> None:
    calls = list(benchmark.samples_ns)
    calls[::30] = [5 * each for each in calls[::30]]
    assert kinds(with_calls(benchmark, calls)) == []


def test_what_compiled_between_samples_is_named_with_its_cause(benchmark: Benchmark, compilation: Any) -> None:
    (found,) = with_conditions(benchmark, compilations=(compilation(), compilation(function="g"))).warnings
    assert found.kind == "recompiled"
    assert "2 programs compiled" in found.text
    assert "the last was g: first call." in found.text


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"folded": True}, "folded", "takes no array"),
        ({"collected": 12, "collection_ns": 10**9}, "garbage collection", "in 12 samples, for 1.00 s of their time"),
        ({"other_load": 1.25}, "load", "1.2 of 2 CPUs busy."),
        ({"other_load": 0.6}, "load", "Other processes kept 0.60 of 2 CPUs busy."),
        ({"resolution_ns": 10**6}, "too short", "too short for the clock, which ticks every 1.00 ms"),
        ({"overhead_ns": 2e6}, "too short", "About 2.00 ms of each call is the loop and the wait"),
        (
            {"overhead_ns": 2e9},
            "too short",
            "About 9.98 ms of each call is the loop and the wait",
        ),  # never more than all
    ],
)
def test_conditions_are_named(benchmark: Benchmark, changes: Any, kind: str, words: str) -> None:
    found = with_conditions(benchmark, **changes).warnings
    assert [each.kind for each in found] == [kind]
    assert words in found[0].text
    assert found[0].remedy.endswith(".")


@pytest.mark.parametrize(
    "changes",
    [{"other_load": 0.4}, {"other_load": None}, {"collected": 3, "collection_ns": 10**6}, {"overhead_ns": 5e5}],
)
def test_what_does_not_matter_is_not_told(benchmark: Benchmark, changes: Any) -> None:
    assert kinds(with_conditions(benchmark, **changes)) == []


@pytest.mark.parametrize(
    ("other_load", "processors", "expected"),
    [
        (0.4, 2, False),
        (0.6, 2, True),
        (1.9, 8, False),
        (2.1, 8, True),
        (1.9, 64, False),
        (2.1, 64, True),
        (16, 64, True),
    ],
)
def test_a_few_busy_processors_are_a_load_however_many_there_are(
    other_load: float, processors: int, expected: bool
) -> None:
    assert is_loaded(other_load, processors) is expected
    assert not is_loaded(None, processors)


def test_the_load_is_named_with_the_processors(benchmark: Benchmark) -> None:
    busy = with_conditions(benchmark, other_load=3.14)
    (found,) = replace(busy, environment=replace(busy.environment, cpu_count=64)).warnings
    assert found.text == "Other processes kept 3.1 of 64 CPUs busy."


def test_samples_that_depend_on_each_other_are_told(benchmark: Benchmark) -> None:
    rng = np.random.default_rng(7)
    noise = 1e7 * np.exp(lfilter([0.05 * 0.6], [1, -0.8], rng.normal(0, 1, 400)))
    assert "correlated" in kinds(with_calls(benchmark, noise))
    assert "correlated" not in kinds(with_calls(benchmark, rng.permutation(noise)))
    assert "correlated" not in kinds(with_calls(benchmark, noise[:90]))  # the report says what it assumes there
