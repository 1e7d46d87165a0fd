"""Each thing that is wrong with samples is named, and nothing is where nothing is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jaxmagic.model.benchmark import Benchmark, Trial


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
    assert found.kind == "two modes"
    assert "9.98 ms, and 12.0 ms for 29 %" in found.text
    near = with_calls(benchmark, np.where(rng.random(200) < 0.7, 1e7, 1.02e7) * rng.normal(1, 0.001, 200))
    assert kinds(near) == []


def test_outliers_are_not_warned_of(benchmark: Benchmark) -> None:
    calls = list(benchmark.samples_ns)
    calls[::30] = [5 * each for each in calls[::30]]
    assert kinds(with_calls(benchmark, calls)) == []


def test_what_compiled_between_samples_is_named_with_its_cause(benchmark: Benchmark, compilation: Any) -> None:
    (found,) = with_conditions(benchmark, compilations=(compilation(), compilation(function="g"))).warnings
    assert found.kind == "recompiled"
    assert "2 programs compiled" in found.text
    assert "the last one g: first call." in found.text


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"folded": True}, "folded", "gets no array"),
        ({"collected": 12, "collection_ns": 10**9}, "garbage collection", "in 12 samples and took 1.00 s"),
        ({"other_load": 1.25}, "load", "1.2 of 2 processors"),
        ({"resolution_ns": 10**6}, "too short", "too short for the clock, which steps by 1.00 ms"),
        ({"overhead_ns": 2e6}, "too short", "Of each call 2.00 ms are the loop and the wait"),
        ({"overhead_ns": 2e9}, "too short", "Of each call 9.98 ms are the loop and the wait"),  # never more than all
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
