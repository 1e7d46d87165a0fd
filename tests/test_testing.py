"""Assertions for test suites: what they fail on, what they let pass, and what they say."""

from __future__ import annotations

import contextlib
import re
import warnings
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from processes import over_processes, scaled

import jaxmagic
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.testing import (
    assert_faster,
    assert_healthy,
    assert_max_compiles,
    assert_no_compile,
    assert_no_regression,
)

pytestmark = pytest.mark.clock


def compile_nothing(call: Any) -> None:
    with assert_no_compile():
        call()


def test_nothing_compiles_the_second_time(x: Any) -> None:
    f = jax.jit(lambda x: x * 2 + 1)
    with pytest.raises(AssertionError, match=r"expected no program to compile, got 1\.") as error:
        compile_nothing(lambda: f(x))
    assert "<lambda>" in str(error.value)
    with assert_no_compile():
        f(x)


@pytest.mark.parametrize("call", ["assert_no_compile()", "assert_max_compiles(1)", "jaxmagic.stopwatch(fetch=True)"])
def test_a_call_without_a_block_is_refused_because_it_watches_nothing(call: str) -> None:
    alone = {"exec": call, "single": call, "": f"def test():\n    {call}\n    return 1\ntest()"}
    for mode, code in alone.items():
        with pytest.raises(TypeError, match=r"\(\): expected a block, got none, .* Write with \w+\(") as caught:
            exec(compile(code, "<test>", mode or "exec"), dict(globals()))
        assert str(caught.traceback[-1].path) == "<test>"
    used = (
        f"with {call}: pass",
        f"@{call.replace('jaxmagic.stopwatch(fetch=True)', 'assert_no_compile()')}\ndef test(): pass\ntest()",
        f"with contextlib.ExitStack() as stack: stack.enter_context({call})",
        f"block = {call}\nwith block: pass",
    )
    for code in used:
        exec(code, {**globals(), "contextlib": contextlib})


def test_pytest_shows_a_failure_at_the_users_line(x: Any) -> None:
    f = jax.jit(lambda x: x * 9)
    with pytest.raises(AssertionError) as caught, assert_no_compile():
        f(x)
    shown = [each.name for each in caught.traceback.filter(caught)]
    assert shown == ["test_pytest_shows_a_failure_at_the_users_line"]


def test_a_decorated_function_is_watched_in_each_call(x: Any) -> None:
    f = jax.jit(lambda x: x * 11)

    @assert_no_compile()
    def call(x: Any) -> Any:
        return f(x)

    with pytest.raises(AssertionError, match="expected no program to compile, got 1"):
        call(x)
    assert call(x).shape == x.shape

    async def later() -> None: ...

    with pytest.raises(TypeError, match="later: expected a function whose call runs all of it, got a coroutine"):
        assert_no_compile()(later)


def test_a_failure_says_with_what_a_cause_compares(x: Any) -> None:
    f = jax.jit(lambda x: x * 7)
    with jaxmagic.stopwatch():
        f(x)
    causes = "perhaps from another test. If the new call is meant to compile, make one like it before the block."
    with pytest.raises(AssertionError, match=causes) as caught, assert_no_compile():
        f(x[:2])
    assert "new function" not in str(caught.value)
    with pytest.raises(AssertionError) as caught, assert_max_compiles(1):
        f(x + 1), f(x[:1])
    assert "another test" not in str(caught.value)


def test_a_failure_says_that_a_first_call_may_be_of_a_new_function(x: Any) -> None:
    def run() -> None:
        jax.jit(lambda x: x * 17)(x)

    run()
    with pytest.raises(AssertionError) as caught, assert_no_compile():
        run()
    text = str(caught.value)
    assert "If <lambda> had not been called before, call it once before the block. If it had, each run" in text
    assert "with jaxmagic.stopwatch(): f(x).\n" in text
    assert "another test" not in text
    with jaxmagic.stopwatch():
        run()
    with pytest.raises(AssertionError, match="the same source was compiled before") as caught, assert_no_compile():
        run()
    assert "If <lambda> had" not in str(caught.value)


def test_a_failure_says_what_to_do_where_the_caches_were_cleared(x: Any) -> None:
    f = jax.jit(lambda x: x * 19)
    with jaxmagic.stopwatch():
        f(x)
    jax.clear_caches()
    with pytest.raises(AssertionError) as caught, assert_no_compile():
        f(x)
    text = str(caught.value)
    assert "<lambda> had compiled before, but has left JAX's caches since. If something clears them" in text
    assert "new function" not in text
    assert "another test" not in text


def test_so_many_programs_may_compile() -> None:
    f = jax.jit(lambda x: x * 3 + 1)
    one, two, three = (jnp.ones(n) for n in (101, 102, 103))
    with assert_max_compiles(2):
        f(one)
        f(two)
    with pytest.raises(AssertionError, match="argument x has a different shape"), assert_max_compiles(0):
        f(three)


def test_what_cannot_be_heard_is_no_proof(x: Any) -> None:
    with pytest.raises(AssertionError, match="but not all compilations were observed"), assert_no_compile():
        jax.monitoring.clear_event_listeners()


def test_the_blocks_own_exception_comes_through() -> None:
    with pytest.raises(ZeroDivisionError), assert_no_compile():
        _ = 1 / 0


@pytest.fixture
def compared(monkeypatch: Any, comparison: Comparison) -> Any:
    """What the measurement comes to, made up."""

    def comes_to(ratio: float, noise: float = 0.0) -> None:
        numpy, jit = comparison.candidates
        first = numpy.latency.samples_ns
        other = Trial(
            samples_ns=tuple(round(each * ratio * (1 + noise * (-1) ** index)) for index, each in enumerate(first)),
            evaluations=1,
        )
        found = replace(
            comparison,
            baseline="the other",
            twice="the other",
            again=numpy.latency,
            candidates=(replace(numpy, label="the other"), replace(jit, label="fn", latency=other)),
        )
        monkeypatch.setattr("jaxmagic.testing.compare", lambda *args, **kwargs: found)

    return comes_to


def test_what_is_faster_passes_and_what_is_not_fails_with_the_report(compared: Any) -> None:
    compared(0.5)
    assert_faster(abs, abs)
    assert_faster(abs, abs, at_least=1.9)
    with pytest.raises(AssertionError, match=r"(?s)3.00x as fast as the other; it is 2.00x faster .*\n.*rounds"):
        assert_faster(abs, abs, at_least=3)
    compared(1.0)
    with pytest.raises(AssertionError, match="fn to be faster than the other; it is no difference of more than"):
        assert_faster(abs, abs)
    compared(1.5)
    with pytest.raises(AssertionError, match="1.50x slower"):
        assert_faster(abs, abs)


def test_a_machine_that_is_too_noisy_makes_no_test_fail(compared: Any) -> None:
    compared(1.0, noise=0.5)
    with pytest.warns(
        UserWarning, match="Inconclusive: expected fn to be faster than the other; it is too noisy to tell"
    ):
        assert_faster(abs, abs)


def test_it_measures_and_compares_outputs() -> None:
    x = jnp.ones((200, 200))
    f = jax.jit(lambda x: x @ x)

    def twenty(x: Any) -> Any:
        for _ in range(20):
            y = f(x)
        return y

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on a busy machine it may be too noisy to tell
        assert_faster(f, twenty, x, budget_s=0.3)
    with pytest.raises(jaxmagic.OutputsDiffer):
        assert_faster(f, lambda x: f(x) + 1, x, budget_s=0.3)


def test_a_regression_beyond_the_tolerance_fails_with_both_numbers(benchmark: Benchmark, tmp_path: Any) -> None:
    assert_no_regression(benchmark, benchmark)
    assert_no_regression(scaled(benchmark, 0.5), benchmark)
    path = jaxmagic.save(benchmark, tmp_path / "old.json")
    with pytest.raises(AssertionError, match=r"(?s)at most 10 % more.*1.30x slower.*before: 9.98 ms.*now: 13.0 ms"):
        assert_no_regression(scaled(benchmark, 1.3), path)
    assert_no_regression(scaled(benchmark, 1.3), path, tolerance=0.5)


def test_a_baseline_with_too_few_samples_is_refused_before_anything_runs(benchmark: Benchmark) -> None:
    called: list[int] = []
    few = replace(benchmark, latency=replace(benchmark.latency, samples_ns=benchmark.samples_ns[:3]))
    with pytest.raises(jaxmagic.NotMeasured, match="The baseline has fewer than four samples"):
        assert_no_regression(lambda: called.append(1), few)
    assert not called


def test_what_the_records_can_neither_show_nor_exclude_is_a_warning(benchmark: Benchmark) -> None:
    with pytest.warns(UserWarning, match=r"(?s)Inconclusive: .*Each record is from 1 process\. .* --processes 5"):
        assert_no_regression(scaled(benchmark, 1.15), benchmark)
    old, new = (over_processes(benchmark, [factor * each for each in (1, 1.01, 0.99)]) for factor in (1, 1.15))
    with pytest.raises(AssertionError, match=r"at most 10 % more .* it is 1\.15x slower"):
        assert_no_regression(new, old)


def test_a_function_is_measured_in_as_many_processes_as_asked_for(benchmark: Benchmark, monkeypatch: Any) -> None:
    asked = []

    def measured(fn: Any, *, processes: int | None) -> Benchmark:
        asked.append((fn(), processes))
        return benchmark

    monkeypatch.setattr("jaxmagic.testing.benchmark", measured)
    assert_no_regression(lambda: 7, benchmark)
    assert_no_regression(lambda: 8, benchmark, processes=5)
    assert asked == [(7, None), (8, 5)]
    with pytest.raises(TypeError, match="processes: expected a function to measure, got a Benchmark"):
        assert_no_regression(benchmark, benchmark, processes=5)


def test_another_environment_is_refused_or_told_to_be_ignored(benchmark: Benchmark) -> None:
    other = replace(scaled(benchmark, 1.3), environment=replace(benchmark.environment, backend="gpu"))
    with pytest.raises(jaxmagic.NotComparable, match="backend was 'cpu' and is 'gpu'"):
        assert_no_regression(other, benchmark)
    with pytest.raises(AssertionError, match=r"1\.30x slower"):
        assert_no_regression(other, benchmark, anyway=True)


def test_only_a_benchmark_is_a_baseline(benchmark: Benchmark, timing: Any, tmp_path: Any) -> None:
    path = jaxmagic.save(timing(), tmp_path / "timing.json")
    with pytest.raises(TypeError, match="baseline: expected the file of a Benchmark, got that of a Timing"):
        assert_no_regression(benchmark, path)
    few = replace(benchmark, latency=Trial(samples_ns=(1, 2), evaluations=1))
    with pytest.raises(jaxmagic.NotMeasured, match=r"four samples or rounds per process, .* Measure it again"):
        assert_no_regression(few, benchmark)


def test_only_a_benchmark_is_put_beside_one(benchmark: Benchmark, timing: Any) -> None:
    with pytest.raises(TypeError, match="record: expected a Benchmark or a function, got Timing"):
        assert_no_regression(timing(), benchmark)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: assert_max_compiles(-1).__enter__(), "most: expected an integer of at least 0, got -1"),
        (lambda b: assert_max_compiles(True).__enter__(), "most: expected an integer of at least 0, got True"),
        (lambda b: assert_faster(b.ran, b.ran, at_least=0), "at_least: expected a positive number, got 0"),
        (lambda b: assert_faster(b.ran, b.ran, budget_s=True), "budget_s: expected a positive number, got True"),
        (
            lambda b: assert_no_regression(b.ran, b, tolerance=-1),
            "tolerance: expected a number of at least 0, got -1",
        ),
    ],
)
def test_what_can_be_asked_of_nothing_is_refused_before_anything_runs(call: Any, message: str) -> None:
    class Counting:
        calls = 0

        def ran(self) -> None:
            self.calls += 1

    counting = Counting()
    with pytest.raises(ValueError, match=re.escape(message)):
        call(counting)
    assert counting.calls == 0


def compiles_each_time(x: Any) -> Any:
    return jax.jit(lambda x: jnp.sin(x) @ x)(x)


def test_healthy_code_passes_and_other_code_fails_with_the_report(x: Any) -> None:
    healthy = jax.jit(lambda x: jnp.sin(x) @ x)
    assert_healthy(healthy, x)
    with pytest.raises(AssertionError, match=r"expected nothing to be found, got recompile\.\nrecompile at "):
        assert_healthy(compiles_each_time, x)
    assert_healthy(compiles_each_time, x, ignore=["recompile"])
    for names in (["recompiles"], "recompile"):
        with pytest.raises(ValueError, match="ignore: expected (several )?names of rules"):
            assert_healthy(compiles_each_time, x, ignore=names)


def test_a_regression_tells_the_noise_between_processes_once(benchmark: Benchmark) -> None:
    old, new = (over_processes(benchmark, factors) for factors in ((1.0, 1.1, 0.9), (2.0, 2.1, 1.9)))
    with pytest.raises(AssertionError) as caught:
        assert_no_regression(new, old)
    told = " ".join(str(caught.value).split())
    assert (told.count("from process to process"), told.count("in 8 of 10 cases")) == (1, 1)
