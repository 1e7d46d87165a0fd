"""The record of a benchmark: facts, and what follows from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import pytest

from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.samples import Trial


def test_times_are_those_of_a_call() -> None:
    trial = Trial(samples_ns=(10, 20, 30), evaluations=10)
    assert trial.calls_ns == (1, 2, 3)


def test_median_and_interval_are_those_of_the_latency(benchmark: Benchmark) -> None:
    found = replace(
        benchmark,
        latency=Trial(samples_ns=tuple(2 * (61 * each % 99 + 1) for each in range(99)), evaluations=2),
        pipelined=Trial(samples_ns=(40, 60, 50), evaluations=10),
    )
    assert sorted(found.samples_ns) == list(range(2, 200, 2))
    assert found.median_ns == 50
    assert found.interval_ns == (40, 60)
    assert found.pipelined_ns == 5
    assert replace(found, pipelined=None).pipelined_ns is None


def test_a_few_samples_have_a_median_and_no_interval(benchmark: Benchmark) -> None:
    found = replace(benchmark, latency=Trial(samples_ns=(1, 2, 3), evaluations=1))
    assert found.median_ns == 2
    assert found.interval_ns is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda b: Trial(samples_ns=(1,), evaluations=0), "evaluations: expected 1 or more, got 0"),
        (lambda b: Trial(samples_ns=(0,), evaluations=1), "samples_ns: expected 1 or more, got 0"),
        (lambda b: replace(b, latency=Trial(samples_ns=(), evaluations=1)), "at least one sample"),
        (lambda b: replace(b, pipelined=Trial(samples_ns=(), evaluations=1)), "pipelined.samples_ns is empty"),
        (
            lambda b: replace(b, pipelined=Trial(samples_ns=(1,) * 3, evaluations=1), waited=b.latency),
            "waited.samples_ns: expected 6 samples, two for each of pipelined, got",
        ),
    ],
)
def test_what_cannot_be_is_refused(benchmark: Benchmark, make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(benchmark)


def test_the_value_is_no_part_of_what_is_compared_printed_or_listed(benchmark: Benchmark) -> None:
    found = replace(benchmark, value=jnp.ones(3))
    assert found == benchmark
    assert "value" not in repr(found)
    assert "value" not in found.to_dict()


def test_to_dict_has_the_facts_and_what_follows(benchmark: Benchmark) -> None:
    found = benchmark.to_dict()
    assert found["latency"]["samples_ns"] == benchmark.samples_ns
    assert found["median_ns"] == benchmark.median_ns
    assert found["first_call"]["code"] == "f(x)"
    assert found["conditions"]["overhead_ns"] == 900.0
