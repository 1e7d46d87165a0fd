"""When sampling stops, on a clock and with calls that a test makes up; and once on the real JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, repeat
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.capture.clock import now_ns
from jaxmagic.capture.runner import Runner
from jaxmagic.capture.sampler import Plan, default_budget_ns, take_benchmark, warm_up
from jaxmagic.model.benchmark import Benchmark

MS = 10**6
PLAN = Plan()


class Scripted(Runner):
    """Calls that take the times of a script, on a clock that nothing else moves."""

    def __init__(self, times_ns: Iterator[float], *, parallel: float = 1.0) -> None:
        self.now_ns = 0
        super().__init__(self._next, clock=self.clock)
        self._times_ns = times_ns
        self._parallel = parallel

    def clock(self) -> int:
        self.now_ns += 50
        return self.now_ns

    def _next(self) -> None:
        self.now_ns += round(next(self._times_ns))

    def single_call(self) -> tuple[int, int]:
        return self.sample() // self.evaluations, 0

    def pipelined_sample(self, calls: int) -> int:
        return round(self._parallel * sum(next(self._times_ns) for _ in range(calls)))


def measured(times_ns: Iterator[float], plan: Plan = PLAN, **how: Any) -> Benchmark:
    runner = Scripted(times_ns, **how)
    return take_benchmark(runner, plan, clock=runner.clock)


def noisy(mean_ns: float, noise: float, seed: int = 0) -> Iterator[float]:
    rng = np.random.default_rng(seed)
    while True:
        yield mean_ns * rng.normal(1, noise)


def test_sampling_stops_when_the_interval_is_narrow() -> None:
    found = measured(noisy(5 * MS, 0.01))
    assert found.stopped_by == "precision"
    assert len(found.samples_ns) in (40, 60)
    assert found.estimate is not None
    assert found.estimate.relative_width <= 0.01
    assert found.median_ns == pytest.approx(5 * MS, rel=0.01)


def test_noise_takes_more_samples_until_the_budget_is_spent() -> None:
    found = measured(noisy(5 * MS, 0.3))
    assert found.stopped_by == "budget"
    assert sum(found.samples_ns) + sum(found.warmup_ns) <= 1000 * MS
    assert sum(found.samples_ns) >= 600 * MS
    assert measured(noisy(5 * MS, 0.3), Plan(rtol=0.2)).stopped_by == "precision"


def test_a_call_longer_than_the_budget_is_sampled_three_times() -> None:
    found = measured(repeat(3000 * MS))
    assert len(found.samples_ns) == 3
    assert len(found.warmup_ns) == 1
    assert found.interval_ns is None
    assert found.pipelined is None


def test_as_many_samples_and_evaluations_as_asked_for() -> None:
    found = measured(noisy(5 * MS, 0.01), Plan(samples=7, evaluations=3))
    assert found.stopped_by == "count"
    assert len(found.samples_ns) == 7
    assert found.latency.evaluations == 3
    assert found.median_ns == pytest.approx(5 * MS, rel=0.02)


@pytest.mark.parametrize("call_ns", [100, 10_000, 100_000])
def test_samples_of_short_calls_are_many_calls_and_last_long_enough(call_ns: int) -> None:
    found = measured(repeat(call_ns), Plan(budget_ns=50 * MS))
    assert min(found.samples_ns) >= 200 * found.conditions.resolution_ns
    assert sum(found.samples_ns) >= 0.095 * 50 * MS
    assert found.median_ns == pytest.approx(call_ns, rel=0.01)


def test_calls_are_warm_when_they_get_no_faster() -> None:
    falling = (10 * MS * (1 + 2 ** (2 - call / 2)) for call in count())
    runner = Scripted(falling)
    times_ns = warm_up(runner, Plan(budget_ns=10_000 * MS), runner.clock)
    assert 6 < len(times_ns) < 40
    assert times_ns[-1] < 1.1 * 10 * MS
    steady = Scripted(repeat(10 * MS))
    assert len(warm_up(steady, Plan(), steady.clock)) == 6
    endless = Scripted(10 * MS * 0.98**call for call in count())
    assert sum(warm_up(endless, Plan(), endless.clock)) <= 170 * MS


def test_pipelined_calls_are_told_apart() -> None:
    found = measured(noisy(5 * MS, 0.01), parallel=0.5)
    assert found.pipelined is not None
    assert found.pipelined_ns == pytest.approx(2.5 * MS, rel=0.02)
    assert found.pipelined.evaluations > 1


@pytest.fixture
def body() -> tuple[Callable[[Any], Any], Any]:
    x = jnp.ones((64, 64))
    return jax.jit(lambda x: x @ x), x


def test_what_compiled_among_the_samples_is_on_the_record(body: Any) -> None:
    f, x = body
    size = count(2)

    def call() -> Any:
        jax.jit(lambda x: x + 1)(x[: next(size)])
        return f(x)

    found = take_benchmark(Runner(call), Plan(samples=2))
    assert any(each.compiled for each in found.conditions.compilations)
    assert next(each.kind for each in found.warnings) == "recompiled"
    quiet = take_benchmark(Runner(lambda: f(x)), Plan(samples=2))
    assert quiet.conditions.compilations == ()
    assert quiet.value is not None


def test_a_donated_argument_is_an_error_that_says_so_and_fresh_ones_are_none() -> None:
    f = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.ones(8)
    with pytest.raises(jaxmagic.DonatedTwice, match=r"(?s)donated or deleted.*--each"):
        take_benchmark(Runner(lambda: f(x)), Plan(samples=3))
    fresh: list[Any] = []

    def each() -> None:
        fresh[:] = [jnp.ones(8)]

    found = take_benchmark(Runner(lambda: f(fresh[0]), each=each), Plan(samples=3))
    assert found.conditions.fresh
    assert found.pipelined is None


def test_the_users_own_exceptions_come_through_as_they_are() -> None:
    calls = count()

    def call() -> None:
        if next(calls) == 4:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        take_benchmark(Runner(call), Plan(samples=9), clock=now_ns)


def test_what_is_given_where_nobody_says() -> None:
    assert default_budget_ns(3) == 3 * 10**9
    assert default_budget_ns(3, points=4) == 6 * 10**9


def test_calls_over_several_devices_of_one_cpu_are_never_in_flight_together() -> None:
    """They may wait for each other's threads without end, and XLA ends the process then."""
    mesh = jax.sharding.Mesh(jax.devices()[:4], ("i",))
    over_all = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
    double = jax.jit(lambda x: x * 2)
    for x, together in ((jnp.ones(8), True), (jax.device_put(jnp.ones(8), over_all), False)):
        found = jaxmagic.benchmark(double, x, budget_s=0.2)
        assert (found.pipelined is not None) == together
