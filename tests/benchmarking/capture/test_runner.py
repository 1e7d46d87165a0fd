"""A sample is some calls, each waited for."""

from __future__ import annotations

import gc
import threading
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.benchmarking.capture.pipeline import take_pipelined
from jaxmagic.benchmarking.capture.runner import Runner, runner_of
from jaxmagic.benchmarking.report.sentences import about_pipelined
from jaxmagic.runtime.clock import now_ns
from jaxmagic.timing.capture.fence import Fence

pytestmark = pytest.mark.clock


@pytest.fixture
def runner(work: Any) -> Runner:
    runner = Runner(work)
    runner.first_call()
    return runner


def test_every_call_of_a_sample_is_waited_for(work: Any, runner: Runner) -> None:
    truth_ns = work.truth_ns()
    runner.evaluations = 3
    assert runner.sample() > 3 * truth_ns / 4
    assert runner.value.is_ready()


def test_work_behind_the_result_is_found_and_then_waited_for(work: Any) -> None:
    truth_ns = work.truth_ns()

    def throw_away() -> None:
        work()

    runner = Runner(throw_away)
    runner.first_call()
    calls = [runner.single_call() for _ in range(3)]
    assert runner.leaves_work_behind(calls)
    runner.fenced = True
    runner.evaluations = 2
    assert runner.sample() > 2 * truth_ns / 4


def test_a_result_that_ends_all_work_needs_no_fence(runner: Runner) -> None:
    # Once it may seem to: a busy machine takes its time to say that all is over.
    assert any(not runner.leaves_work_behind([runner.single_call() for _ in range(5)]) for _ in range(8))


@pytest.mark.parametrize(
    ("holds", "calls", "left"),
    [
        (True, [(10**6, 0)] * 3, False),
        (True, [(10**6, 10**5)] * 3, True),
        (True, [(10**6, 10**5), (10**6, 0), (10**6, 0)], False),  # one of three is noise
        (True, [(10**5, 10**4)] * 3, False),  # as short as the fence itself
        (False, [(10**6, 0), (10**6, 10**4)], True),  # nothing else would be waited for
        (False, [(10**6, 0)] * 3, False),
    ],
)
def test_when_the_fence_has_to_wait(holds: bool, calls: list[tuple[int, int]], left: bool) -> None:
    runner = Runner(lambda: None)
    runner.value = jnp.ones(2) if holds else None
    assert runner.leaves_work_behind(calls) is left


def test_pipelined_calls_are_waited_for_at_the_end(work: Any, runner: Runner) -> None:
    truth_ns = work.truth_ns()
    assert runner.pipelined_sample(3) > 3 * truth_ns / 4
    assert runner.value.is_ready()


def test_pipelined_work_that_is_thrown_away_is_waited_for(work: Any) -> None:
    truth_ns = work.truth_ns()
    runner = Runner(lambda: [work(), None][1])
    runner.first_call()
    assert runner.pipelined_sample(3) > 3 * truth_ns / 4


def test_fresh_arguments_are_made_before_every_sample_and_are_ready(work: Any) -> None:
    made: list[Any] = []
    seen: list[bool] = []

    def each() -> None:
        made.append(work())

    runner = Runner(lambda: seen.append(made[-1].is_ready()), each=each)
    runner.first_call()
    runner.sample()
    runner.sample()
    assert len(made) == 3
    assert all(seen)


def test_arguments_of_a_function_and_of_a_setup() -> None:
    def f(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    one = runner_of(f, (1, 2), {"k": 3})
    one.sample()
    assert one.value == ((1, 2), {"k": 3})
    assert one.repeatable
    two = runner_of(f, (), {}, setup=lambda: [4, 5])
    two.sample()
    assert two.value == ((4, 5), {})
    assert not two.repeatable


def test_collections_inside_a_sample_are_counted() -> None:
    before = list(gc.callbacks)
    runner = Runner(gc.collect)
    runner.sample()
    assert runner.collected == 1
    assert runner.collection_ns > 0
    quiet = Runner(lambda: None)
    gc.collect()
    quiet.sample()
    assert quiet.collected == 0
    assert gc.callbacks == before


def test_a_collection_in_another_thread_is_not_ours() -> None:
    def collect_elsewhere() -> None:
        thread = threading.Thread(target=gc.collect)
        thread.start()
        thread.join()

    runner = Runner(collect_elsewhere)
    gc.disable()
    try:
        runner.sample()
    finally:
        gc.enable()
    assert runner.collected == 0


def test_no_callback_is_left_behind_where_the_call_raises() -> None:
    before = list(gc.callbacks)
    with pytest.raises(ZeroDivisionError):
        Runner(lambda: 1 / 0).sample()
    assert gc.callbacks == before


def test_the_first_call_is_a_timing_with_what_compiled() -> None:
    f = jax.jit(lambda x: x * 3 + 1)
    x = jnp.ones(7)
    timing = Runner(lambda: f(x)).first_call("f(x)")
    assert timing.code == "f(x)"
    assert [each.function for each in timing.compilations] == ["<lambda>"]


def test_a_first_call_that_raises_leaves_nothing_running() -> None:
    with pytest.raises(ZeroDivisionError):
        Runner(lambda: 1 / 0).first_call()
    assert Runner(lambda: 1).first_call().compilations == ()


def test_the_overhead_is_that_of_an_empty_call() -> None:
    ticks = iter(range(0, 10**9, 1000))
    runner = Runner(lambda: 1, clock=lambda: next(ticks), fence=Fence())
    assert runner.overhead_ns() == 1000
    runner.evaluations = 1000
    assert runner.overhead_ns() == 1000 / 100  # of at most so many calls
    runner.evaluations = 1
    calls = []
    runner._wait = lambda value: [next(ticks) for _ in range(2000)] and calls.append(value)  # 2 ms each
    assert runner.overhead_ns() > 2_000_000
    assert len(calls) == 50
    real = Runner(lambda: jnp.ones(3), clock=now_ns)
    real.sample()
    assert 0 < real.overhead_ns() < 10**6


def test_a_setup_that_returns_one_array_is_told_of_the_comma() -> None:
    with pytest.raises(TypeError, match=r"as a tuple, got jax\.Array\. .* with the comma"):
        runner_of(jnp.sin, (), {}, lambda: jnp.ones(3)).first_call()


def test_every_runner_has_a_loop_of_its_own() -> None:
    # Python specialises instructions by the code they stand in: the second function in one loop would be slower.
    one, two = Runner(lambda: 1), Runner(lambda: 1)
    assert one._loop.__code__ is not two._loop.__code__
    assert one.sample() > 0
    assert (one.value, two.value) == (1, None)


def test_samples_meet_both_kinds_of_calls_of_what_does_something_each_second_time() -> None:
    calls = 0

    def alternating() -> int:
        nonlocal calls
        calls += 1
        return calls % 2

    runner = Runner(alternating)
    runner.lead = 1
    seen = []
    for _ in range(60):
        runner.sample()
        seen.append(runner.value)
    assert 15 < sum(seen) < 45


def test_a_runner_and_its_twin_are_looked_into_alike() -> None:
    """With a dictionary, a copied object and its copy are slower: a baseline beside itself was not."""
    runner = Runner(lambda: 1)
    twin = runner.twin()
    assert not hasattr(runner, "__dict__")
    assert not hasattr(twin, "__dict__")
    assert twin._loop.__code__ is not runner._loop.__code__


@pytest.mark.parametrize(
    ("make", "serial"),
    [
        (lambda work: lambda: work().block_until_ready(), "waits"),
        (lambda work: lambda: jax.block_until_ready([work(), work()]), "waits"),
        (lambda work: lambda: float(work()[0, 0]), "waits"),
        (lambda work: lambda: sum([1, 2]), "nothing left"),
        (lambda work: work, None),
    ],
    ids=["block_until_ready", "a tree", "float", "no JAX", "asynchronous"],
)
def test_calls_that_wait_for_themselves_are_not_pipelined(work: Any, make: Any, serial: str | None) -> None:
    runner = Runner(make(work))
    runner.first_call()
    assert runner.detect_serial() == (serial is not None)
    assert runner.serial == serial
    if serial is not None:
        assert take_pipelined(runner, call_ns=1000, budget_ns=10**8) is None


def test_a_fenced_call_without_a_value_can_be_pipelined(work: Any) -> None:
    runner = Runner(lambda: (work(), None)[1])
    runner.first_call()
    runner.fenced = True
    assert not runner.detect_serial()


def test_the_report_says_that_calls_wait_for_themselves(work: Any) -> None:
    found = jaxmagic.benchmark(lambda: work().block_until_ready(), budget_s=30, rtol=0.9)
    assert found.pipelined is None
    assert "because the statement waits for its own result" in about_pipelined(found, 3)
