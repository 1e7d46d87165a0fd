"""Benchmarks, comparisons and sweeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.samples import Conditions, Trial
from jaxmagic.comparison.record.candidate import Candidate
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.curve import Variable
from jaxmagic.comparison.record.sweep import Failure, Point, Sweep
from jaxmagic.compilation.record.compilation import Compilation
from jaxmagic.records.environment import Environment
from jaxmagic.timing.record import Timing


@pytest.fixture
def benchmark(timing: Callable[..., Timing], compilation: Callable[..., Compilation]) -> Benchmark:
    """A fabricated record in which nothing is wrong: 90 samples of 10 ms, give or take 2 %."""
    rng = np.random.default_rng(3)
    first = timing(compilation())
    return Benchmark(
        code="f(x)",
        started_at=first.started_at,
        first_call=first,
        warmup_ns=(15_000_000, 12_000_000, 10_500_000),
        latency=Trial(samples_ns=tuple(map(round, rng.normal(10e6, 0.2e6, 90))), evaluations=1),
        pipelined=Trial(samples_ns=tuple(map(round, rng.normal(96e6, 1e6, 7))), evaluations=10),
        rtol=0.01,
        budget_ns=10**9,
        stopped_by="precision",
        conditions=Conditions(overhead_ns=900.0, resolution_ns=60, other_load=0.1),
        environment=first.environment,
    )


@pytest.fixture
def compared(timing: Callable[..., Timing], compilation: Callable[..., Compilation]) -> Callable[..., Comparison]:
    """Makes records of numpy and jit, which compiled 171 ms longer, of calls that take so long in the middle."""
    return partial(fabricate_comparison, timing, compilation)


def fabricate_comparison(
    timing: Callable[..., Timing], compilation: Callable[..., Compilation], numpy_ns: float, jit_ns: float
) -> Comparison:
    rng = np.random.default_rng(4)
    moments = np.exp(0.03 * np.cumsum(rng.normal(0, 1, 60)))

    def trial(mean_ns: float) -> Trial:
        return Trial(samples_ns=tuple(map(int, mean_ns * moments * rng.normal(1, 0.02, 60))), evaluations=1)

    def candidate(label: str, mean_ns: float, first_call: Timing) -> Candidate:
        return Candidate(
            label=label,
            code=f"{label}_version(x)",
            first_call=first_call,
            warmup_ns=(11_000_000,),
            latency=trial(mean_ns),
            pipelined=None,
            memory=None,
            check=None,
            conditions=Conditions(overhead_ns=900.0, resolution_ns=60, other_load=0.1),
        )

    eager, jitted = timing(), timing(compilation())
    return Comparison(
        code=None,
        started_at=eager.started_at,
        baseline="numpy",
        twice="numpy",
        candidates=(candidate("numpy", numpy_ns, eager), candidate("jit", jit_ns, jitted)),
        again=trial(numpy_ns),
        rtol=0.01,
        budget_ns=10**9,
        stopped_by="precision",
        environment=eager.environment,
    )


@pytest.fixture
def comparison(compared: Callable[..., Comparison]) -> Comparison:
    """A fabricated record: jit takes 5 ms where numpy takes 10."""
    return compared(10e6, 5e6)


@pytest.fixture
def with_modes(comparison: Comparison) -> Comparison:
    """Of numpy and jit their derivatives as well, each of them twice as slow as its function."""

    def slower(trial: Trial) -> Trial:
        return Trial(samples_ns=tuple(2 * each for each in trial.samples_ns), evaluations=1)

    made = []
    for each in comparison.candidates:
        made.append(replace(each, like="numpy"))
        grad = replace(each, label=f"{each.label} grad", latency=slower(each.latency), like="numpy grad")
        made.append(grad)
    return replace(comparison, candidates=tuple(made))


@pytest.fixture
def named(comparison: Comparison) -> Callable[..., Comparison]:
    """Makes comparisons of as many candidates as there are labels, each of them slower than the one before."""

    def trial(factor: float, rounds: int) -> Trial:
        spread = (1 + 0.0001 * (number * 37 % 101) for number in range(rounds))
        return Trial(samples_ns=tuple(round(5e6 * factor * each) for each in spread), evaluations=1)

    def make(*labels: str, rounds: int = 60) -> Comparison:
        one = comparison.candidates[1]
        candidates = tuple(
            replace(one, label=label, latency=trial(1.3**place, rounds)) for place, label in enumerate(labels)
        )
        again = trial(1.0, rounds)
        return replace(comparison, baseline=labels[0], twice=labels[0], again=again, candidates=candidates)

    return make


@pytest.fixture
def sweep(compared: Callable[..., Comparison], environment: Environment) -> Sweep:
    """A fabricated record: numpy grows as n^2; jit is on a plateau below 64 and overtakes it there; 2048 fails."""
    sizes = (8, 16, 32, 64, 128, 256, 512, 1024)
    points = [
        Point(at=(index,), comparison=compared(10e6 * (n / 64) ** 2, 10e6 * max(n / 64, 1)))
        for index, n in enumerate(sizes)
    ]
    failures = (
        Failure(label="numpy", error="MemoryError: 32 GiB"),
        Failure(label="jit", error="XlaRuntimeError: full"),
    )
    points.append(Point(at=(8,), comparison=None, failures=failures))
    numbers = (*map(float, sizes), 2048.0)
    return Sweep(
        code="numpy: f(n)\njit: g(n)",
        started_at="2026-01-02T03:04:05+00:00",
        variables=(Variable(name="n", labels=tuple(str(int(each)) for each in numbers), numbers=numbers),),
        labels=("numpy", "jit"),
        baseline="numpy",
        points=tuple(points),
        budget_ns=10**10,
        stopped_by="end",
        environment=environment,
    )


def grid_of(sweep: Any, program: Any) -> Any:
    """Sweep a second variable as well, with memory that grows along the first one."""
    points = []
    for point in sweep.points:
        for dtype in (0, 1):
            size = (2 - dtype) * 4096 * 2 ** point.at[0]
            known = point.comparison and replace(
                point.comparison,
                candidates=tuple(
                    replace(each, memory=replace(program, argument_bytes=0, temporary_bytes=size * (1 + number)))
                    for number, each in enumerate(point.comparison.candidates)
                ),
            )
            points.append(Point(at=(*point.at, dtype), comparison=known, failures=point.failures))
    dtype = Variable(name="dtype", labels=("float32", "bfloat16"))
    return replace(sweep, variables=(*sweep.variables, dtype), points=tuple(points))


def without_end(sweep: Any) -> Any:
    """Leave the upper half of a sweep unmeasured."""
    failures = (Failure(label="numpy", error="MemoryError: 32 GiB"),)
    return replace(
        sweep,
        points=tuple(
            each if each.at[0] < 4 else Point(at=each.at, comparison=None, failures=failures) for each in sweep.points
        ),
    )
