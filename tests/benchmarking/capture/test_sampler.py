"""When sampling stops, on a clock and with calls that a test makes up; and once on the real JAX."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count, repeat
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reports import Reports

import jaxmagic
from jaxmagic.benchmarking.capture.plan import Plan, default_budget_ns
from jaxmagic.benchmarking.capture.runner import Runner
from jaxmagic.benchmarking.capture.sampler import take_benchmark
from jaxmagic.benchmarking.capture.warmup import warm_up
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.versus import judge
from jaxmagic.runtime.clock import now_ns
from jaxmagic.timing.record import Timing

MS = 10**6
PLAN = Plan()


class Scripted(Runner):
    """Calls that take the times of a script, on a clock that nothing else moves."""

    def __init__(self, times_ns: Iterator[float], *, parallel: float = 1.0) -> None:
        self.now_ns = 0
        super().__init__(self._next, clock=self.clock)
        self.calls = 0
        self._times_ns = times_ns
        self._parallel = parallel

    def clock(self) -> int:
        self.now_ns += 50
        return self.now_ns

    def _next(self) -> None:
        self.calls += 1
        self.now_ns += round(next(self._times_ns))

    def single_call(self) -> tuple[int, int]:
        return self.waited_sample(1), 0

    def detect_serial(self) -> bool:
        return False

    def pipelined_sample(self, calls: int) -> int:
        return round(self._parallel * sum(next(self._times_ns) for _ in range(calls)))


def measured(times_ns: Iterator[float], plan: Plan = PLAN, evaluations: int | None = None, **how: Any) -> Benchmark:
    runner = Scripted(times_ns, **how)
    return take_benchmark(runner, plan, evaluations=evaluations, clock=runner.clock)


def noisy(mean_ns: float, noise: float, seed: int = 0) -> Iterator[float]:
    rng = np.random.default_rng(seed)
    while True:
        yield mean_ns * rng.normal(1, noise)


def test_sampling_stops_when_the_interval_is_narrow() -> None:
    found = measured(noisy(5 * MS, 0.01))
    assert found.stopped_by == "precision"
    assert len(found.samples_ns) in (100, 150)
    assert found.estimate is not None
    assert found.estimate.relative_width <= 0.01
    assert found.median_ns == pytest.approx(5 * MS, rel=0.01)


def test_noise_takes_more_samples_until_the_budget_is_spent() -> None:
    found = measured(noisy(5 * MS, 0.3))
    assert found.stopped_by == "budget"
    assert sum(found.samples_ns) + sum(found.warmup_ns) <= 1000 * MS
    assert sum(found.samples_ns) >= 600 * MS
    assert measured(noisy(5 * MS, 0.3), Plan(rtol=0.2)).stopped_by == "precision"


def test_a_call_longer_than_the_budget_is_called_twice_and_both_are_told() -> None:
    runner = Scripted(repeat(3000 * MS))
    found = take_benchmark(runner, PLAN, clock=runner.clock)
    assert found.first_call.wall_ns >= 3000 * MS
    assert len(found.samples_ns) == 1
    assert found.warmup_ns == ()
    assert found.interval_ns is None
    assert found.pipelined is None
    assert runner.calls == 2


def test_a_later_process_measures_like_the_one_that_chose_the_number_of_calls() -> None:
    first = measured(repeat(100), Plan(samples=5, budget_ns=100 * MS))
    later = measured(repeat(100), Plan(samples=5, budget_ns=100 * MS), evaluations=first.latency.evaluations)
    assert (later.latency.evaluations, len(later.samples_ns)) == (first.latency.evaluations, 5)
    assert len(later.warmup_ns) == len(first.warmup_ns) > 1
    assert first.pipelined is not None
    assert later.pipelined == first.pipelined


@pytest.mark.parametrize(
    ("call_ms", "samples"),
    [
        (500, 2),  # six would cost three times the budget
        (300, 6),  # an interval's six cost less than the budget once more
        (167, 6),
        (100, 10),
        (50, 20),
    ],
)
def test_a_call_that_lasts_long_is_a_sample_and_nothing_is_calibrated(call_ms: int, samples: int) -> None:
    runner = Scripted(repeat(0.99 * call_ms * MS))  # the clock moves as well
    found = take_benchmark(runner, PLAN, clock=runner.clock)
    assert (len(found.samples_ns), found.latency.evaluations) == (samples, 1)
    assert found.warmup_ns == ()
    assert runner.calls == 1 + samples


def test_a_long_call_that_compiles_again_is_no_sample() -> None:
    """As after a first call with a weak type; what goes on compiling is given up after its part of the budget."""
    seen = count()

    def call() -> Any:
        return jax.jit(lambda x: x + 1)(jnp.ones(next(seen) + 2)) if next(seen) < 3 else None

    runner = Runner(call)
    found = take_benchmark(runner, Plan(samples=2, evaluations=1))
    assert len(found.warmup_ns) == 1
    assert len(found.samples_ns) == 2


def test_one_loop_of_one_call_makes_two_calls() -> None:
    for call_ns in (200, 50_000, 20 * MS):
        runner = Scripted(repeat(call_ns))
        found = take_benchmark(runner, Plan(samples=1, evaluations=1), clock=runner.clock)
        assert (runner.calls, len(found.samples_ns), found.warmup_ns) == (2, 1, ())


def test_an_interrupt_reports_what_was_taken() -> None:
    def interrupted(times_ns: Iterator[float], after: int) -> Iterator[float]:
        for number, each in enumerate(times_ns):
            if number == after:
                raise KeyboardInterrupt
            yield each

    found = measured(interrupted(repeat(30 * MS), after=8))
    assert (found.stopped_by, len(found.samples_ns)) == ("interrupt", 7)
    assert found.pipelined is None
    calls = count()
    measured(2.0 * MS + 0 * next(calls) for _ in repeat(0))
    in_flight = measured(interrupted(repeat(2.0 * MS), after=next(calls) - 5))  # the last calls are in flight
    assert (in_flight.stopped_by, in_flight.pipelined) == ("interrupt", None)
    assert len(in_flight.samples_ns) == 100
    with pytest.raises(KeyboardInterrupt):
        measured(interrupted(repeat(30 * MS), after=1))  # while it is warmed up: there is nothing to report


def test_samples_are_single_calls_whatever_the_budget_is() -> None:
    """The median of means of several calls is another number: 1.1 times as long for log-normal noise of 0.5."""

    def skewed() -> Iterator[float]:
        rng = np.random.default_rng(1)
        while True:
            yield from 40_000 * rng.lognormal(0, 0.5, 1000)

    for budget_ns in (100 * MS, 1000 * MS, 10_000 * MS):
        found = measured(skewed(), Plan(budget_ns=budget_ns))
        assert found.latency.evaluations == 1
        assert found.median_ns == pytest.approx(40_000, rel=0.03)
        assert len(found.samples_ns) < 20_000  # calls between them are not timed


def test_progress_is_told_between_samples() -> None:
    runner = Scripted(repeat(60 * MS))
    with Reports() as progress:
        take_benchmark(runner, PLAN, progress=progress, clock=runner.clock)
    assert progress.stages == [
        ("first call", None, True, False),
        ("warming up", None, False, False),  # no thread wakes while calls are timed
        ("samples", None, False, True),
    ]
    assert len(progress.steps) > 3
    assert all(total is not None and done <= total for _, done, total in progress.steps)


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
    times_ns = warm_up(runner, Plan(budget_ns=10_000 * MS), runner.clock).calls_ns
    assert 6 < len(times_ns) < 40
    assert times_ns[-1] < 1.1 * 10 * MS
    steady = Scripted(repeat(10 * MS))
    assert len(warm_up(steady, Plan(budget_ns=2000 * MS), steady.clock).calls_ns) == 6
    endless = Scripted(9 * MS * 0.98**call for call in count())
    assert sum(warm_up(endless, Plan(), endless.clock).calls_ns) <= 170 * MS


def test_pipelined_calls_are_told_apart() -> None:
    found = measured(noisy(2 * MS, 0.01), parallel=0.5)
    assert found.pipelined is not None
    assert found.pipelined_ns == pytest.approx(MS, rel=0.02)
    assert found.pipelined.evaluations > 1
    assert found.waited is not None
    assert found.waited.evaluations == found.pipelined.evaluations
    assert len(found.waited.samples_ns) == 2 * len(found.pipelined.samples_ns)
    assert found.pipelined_ratio is not None
    assert found.pipelined_ratio.value == pytest.approx(0.5, rel=0.02)


def test_pipelined_calls_that_spare_nothing_are_not_called_faster_where_the_machine_drifts() -> None:
    spared = 0
    for seed in range(30):
        times = (each * (1 - 2e-4 * number) for number, each in enumerate(noisy(2 * MS, 0.03, seed)))
        found = measured(times, Plan(budget_ns=500 * MS))
        assert found.pipelined_ratio is not None
        spared += judge(found.pipelined_ratio) == "faster"
    assert spared <= 2


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


def failing(error: type[BaseException], at: int) -> Runner:
    """Calls of which one raises."""
    calls = count(1)

    def call() -> None:
        if next(calls) == at:
            raise error

    return Runner(call)


@pytest.mark.parametrize("error", [ZeroDivisionError, SystemExit])
def test_samples_before_an_exception_are_kept(error: type[BaseException]) -> None:
    kept: list[Any] = []
    with pytest.raises(error):
        take_benchmark(failing(error, at=6), Plan(samples=9, evaluations=1), unfinished=kept.append)
    (found,) = kept
    assert (found.error, found.stopped_by, len(found.samples_ns)) == (error.__name__, "error", 4)
    assert f"Ended by {error.__name__} after 4 samples." in str(found)
    assert found.value is None


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_before_there_is_a_sample_an_interrupt_leaves_the_first_call(error: type[BaseException]) -> None:
    for at, raised in ((1, error.__name__), (2, None)):
        kept: list[Any] = []
        with pytest.raises(error):
            take_benchmark(failing(error, at), PLAN, unfinished=kept.append)
        (found,) = kept
        assert isinstance(found, Timing)
        assert found.error == raised


@pytest.mark.parametrize("at", [1, 2])
def test_an_exception_before_there_is_a_sample_leaves_nothing(at: int) -> None:
    kept: list[Any] = []
    with pytest.raises(ZeroDivisionError):
        take_benchmark(failing(ZeroDivisionError, at), PLAN, unfinished=kept.append)
    assert kept == []


def test_a_recording_that_fails_costs_no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise jaxmagic.NotMeasured("the profiler is in use")

    monkeypatch.setattr("jaxmagic.benchmarking.capture.sampler.take_device_time", fail)
    kept: list[Any] = []
    with pytest.raises(jaxmagic.NotMeasured, match="in use"):
        take_benchmark(Runner(lambda: None), Plan(samples=9), device=True, unfinished=kept.append)
    assert [(each.error, len(each.samples_ns)) for each in kept] == [("NotMeasured", 9)]


def test_what_is_given_where_nobody_says() -> None:
    assert default_budget_ns(3) == 3 * 10**9
    assert default_budget_ns(3, points=4) == 6 * 10**9


@pytest.mark.clock
def test_calls_over_several_devices_of_one_cpu_are_never_in_flight_together() -> None:
    """They may wait for each other's threads without end, and XLA ends the process then."""
    mesh = jax.sharding.Mesh(jax.devices()[:4], ("i",))
    over_all = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
    double = jax.jit(lambda x: x * 2)
    for x, together in ((jnp.ones(8), True), (jax.device_put(jnp.ones(8), over_all), False)):
        found = jaxmagic.benchmark(double, x, budget_s=0.2)
        assert (found.pipelined is not None) == together


def test_what_statistics_import_is_no_part_of_the_budget() -> None:
    """Half a second of it, in the first benchmark of a session and in each fresh process."""
    code = """
import sys
from jaxmagic.benchmarking.capture import sampler
sample = sampler.until_known
def check(*args):
    assert "scipy.special" in sys.modules
    print("sampled")
    return sample(*args)
sampler.until_known = check
import jaxmagic
assert "scipy.special" not in sys.modules
jaxmagic.benchmark(lambda: 1, budget_s=0.01)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "sampled\n"


def test_calls_over_several_devices_are_said_to_be_the_reason_that_they_are_not_pipelined() -> None:
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("i",))
    x = jax.device_put(jnp.ones(8), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i")))
    found = jaxmagic.benchmark(jax.jit(lambda x: x + 1), x, budget_s=0.1)
    assert found.pipelined is None
    assert found.conditions.serial == "several devices"
    assert "Pipelined: not measured, because overlapping calls on several devices of one CPU" in " ".join(
        str(found).split()
    )
