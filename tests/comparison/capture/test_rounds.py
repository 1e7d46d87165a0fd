"""Candidates in turns, on a clock and with calls that a test makes up; and once on the real JAX."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import chain, count
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from reports import Reports

import jaxmagic
from jaxmagic.benchmarking.capture.plan import Plan
from jaxmagic.benchmarking.capture.runner import Runner
from jaxmagic.comparison.capture.contestants import Contestants, Entry
from jaxmagic.comparison.capture.derivatives import in_modes
from jaxmagic.comparison.capture.entries_from_functions import entries_of
from jaxmagic.comparison.capture.rounds import take_comparison
from jaxmagic.comparison.capture.turns import Turns
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.verdict import agrees
from jaxmagic.progress.record import SILENT
from jaxmagic.report.to_text import to_text

MS = 10**6


class Machine:
    """A clock that only calls move, and the order in which they came."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.order: list[str] = []

    def clock(self) -> int:
        self.now_ns += 50
        return self.now_ns

    def entry(self, label: str, times_ns: Iterator[float], value: Any = None) -> Entry:
        machine = self

        class Scripted(Runner):
            def single_call(self) -> tuple[int, int]:
                return self.sample() // self.evaluations, 0

            def detect_serial(self) -> bool:
                return False

            def pipelined_sample(self, calls: int) -> int:
                return round(sum(next(times_ns) for _ in range(calls)) / 2)

        def call() -> Any:
            machine.order.append(label)
            machine.now_ns += round(next(times_ns))
            return value

        return Entry(Scripted(call, clock=self.clock), code=f"{label}()")


def times(mean_ns: float, noise: float, seed: int) -> Iterator[float]:
    rng = random.Random(seed)
    while True:
        yield mean_ns * rng.gauss(1, noise)


def compared(plan: Plan, noise: float = 0.01, **how: Any) -> tuple[Comparison, Machine]:
    machine = Machine()
    entries = {
        "one": machine.entry("one", times(10 * MS, noise, 1)),
        "two": machine.entry("two", times(5 * MS, noise, 2)),
        "three": machine.entry("three", times(10 * MS, noise, 3)),
    }
    return take_comparison(entries, plan, clock=machine.clock, **({"baseline": "one"} | how)), machine


def test_each_candidate_is_in_each_round_once_and_the_baseline_twice() -> None:
    found, machine = compared(Plan(samples=30))
    assert found.stopped_by == "count"
    assert {len(each.latency.samples_ns) for each in found.candidates} == {30}
    assert len(found.again.samples_ns) == 30
    # Behind the first calls and the warm-ups, and before the overheads: four calls a round.
    rounds = next(
        machine.order[start : start + 120]
        for start in range(len(machine.order))
        if all(
            sorted(machine.order[start + at : start + at + 4]) == ["one", "one", "three", "two"]
            for at in range(0, 120, 4)
        )
    )
    orders = {tuple(rounds[at : at + 4]) for at in range(0, 120, 4)}
    assert len(orders) > 6  # of 12 that there are


def test_verdicts_follow_from_the_rounds() -> None:
    found, _ = compared(Plan(budget_ns=6000 * MS))
    assert found.stopped_by == "precision"
    assert found["two"].verdict == "faster"
    assert found["two"].ratio is not None
    assert found["two"].ratio.value == pytest.approx(0.5, rel=0.02)
    assert found["three"].verdict == "no difference"
    assert found.candidate("two").pipelined is not None


def test_the_budget_bounds_it_all() -> None:
    found, machine = compared(Plan(budget_ns=3000 * MS), noise=0.2)
    assert found.stopped_by == "budget"
    assert machine.now_ns < 3300 * MS  # with the first calls


def test_another_baseline() -> None:
    found, _ = compared(Plan(samples=20), baseline="two")
    assert (found.baseline, found.twice) == ("two", "two")
    assert found["one"].verdict == "slower"


def test_what_a_candidate_compiles_and_wants_of_memory_is_its_own() -> None:
    x = jnp.ones((64, 64))
    f, g = jax.jit(lambda x: x @ x), jax.jit(lambda x: x + 1)
    g(x)
    entries = {
        "new": Entry(Runner(lambda: f(x)), call=lambda: (f, (x,), {})),
        "known": Entry(Runner(lambda: g(x)), call=lambda: (g, (x,), {})),
    }
    found = take_comparison(entries, Plan(samples=2), baseline="new", check="none")
    assert [each.function for each in found.candidate("new").first_call.compilations] == ["<lambda>"]
    new, known = (found.candidate(label).memory for label in ("new", "known"))
    assert (new.argument_bytes, new.output_bytes, new.peak_bytes) == (x.nbytes, x.nbytes, 2 * x.nbytes)
    assert known.peak_bytes == 2 * x.nbytes  # that it had been compiled before makes no difference


def test_what_makes_the_arguments_is_no_program_of_the_candidates() -> None:
    x = jnp.ones((64, 64))
    f, made = jax.jit(lambda x: x @ x), []
    runner = Runner(lambda: f(made[-1]), each=lambda: made.append(x * 2 + 1))
    entry = Entry(runner, call=lambda: (f, (made[-1],), {}))
    found = take_comparison({"a": entry}, Plan(samples=2), baseline="a", check="none")
    assert found.candidate("a").memory_bytes == 2 * x.nbytes


@pytest.mark.parametrize("static", [False, True])
def test_to_tell_the_memory_compiles_nothing_and_leaves_jax_as_it_is(static: bool) -> None:
    from jax._src.interpreters import pxla

    x, run = np.ones((64, 64), np.float32), pxla.ExecuteReplicated.__call__
    f = jax.jit(lambda x, n: (x @ x) * n, static_argnums=(1,) if static else ())
    f(x, 2)
    ran_from_python: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            pxla.ExecuteReplicated,
            "__call__",
            lambda program, *a: ran_from_python.append(program.name) or run(program, *a),
        )
        with jaxmagic.stopwatch() as watch:
            found = jaxmagic.compare({"f": f, "g": f}, x, 2, budget_s=0.1)
    assert not any(each.compiled for each in watch.timing.compilations)
    ours = {"jit(jaxmagic_fence)"}  # only the first of a process runs from Python, which may be any test's
    assert {*ran_from_python} <= ours  # JAX's C++ cache has been left as it was
    assert [each.memory_bytes for each in found.candidates] == [found.candidate("f").memory_bytes] * 2
    assert found.candidate("f").memory_bytes >= 2 * x.nbytes


def test_a_program_that_the_candidate_did_not_run_is_not_its_need() -> None:
    x, f, g = jnp.ones((64, 64)), jax.jit(lambda x: x @ x), jax.jit(lambda x: x + 1)
    with jax.disable_jit():
        found = jaxmagic.compare({"f": f, "g": g}, x, budget_s=0.1, check="none")
    assert [each.memory for each in found.candidates] == [None, None]
    other = jax.jit(lambda x: x - 1)  # never run
    entries = {"f": Entry(Runner(lambda: f(x)), call=lambda: (other, (x,), {})), "g": Entry(Runner(lambda: g(x)))}
    found = take_comparison(entries, Plan(samples=2), baseline="f", check="none")
    assert found.candidate("f").memory is None


def test_no_arguments_are_made_for_the_memory_of_a_function_that_is_not_jitted() -> None:
    functions = {"jitted": jax.jit(lambda x: x), "plain": lambda x: x}
    entries = entries_of(functions, in_modes(list(functions), ["forward"], "plain"), (), {}, lambda: (1.0,))
    assert [label for label, entry in entries.items() if entry.call is not None] == ["jitted"]


def test_of_several_programs_there_is_no_requirement() -> None:
    x = jnp.ones((64, 64))
    f, g = jax.jit(lambda x: x @ x), jax.jit(lambda x: x + 1)
    entries = {
        "two": Entry(Runner(lambda: f(g(x))), call=lambda: (lambda: f(g(x)), (), {})),
        "none": Entry(Runner(lambda: None)),
    }
    found = take_comparison(entries, Plan(samples=2), baseline="two", check="none")
    assert [each.memory_bytes for each in found.candidates] == [None, None]


def test_a_failure_leaves_no_value_alive_and_no_listener(session_state: Callable[[], Any]) -> None:
    x = jnp.ones(8)
    entries = {"one": Entry(Runner(lambda: x + 1)), "two": Entry(Runner(lambda: 1 / 0))}
    x + 1
    before = session_state()
    with pytest.raises(ZeroDivisionError) as error:
        take_comparison(entries, Plan(samples=2), baseline="one")
    assert error.value.__notes__ == ["This was the candidate 'two'."]
    assert session_state() == before


def test_outputs_are_compared_with_the_baselines() -> None:
    machine = Machine()
    entries = {
        "one": machine.entry("one", times(MS, 0, 1), value=1.0),
        "two": machine.entry("two", times(MS, 0, 1), value=2.0),
    }
    found = take_comparison(entries, Plan(samples=2), baseline="one", clock=machine.clock)
    assert found.candidate("one").check is None
    check = found.candidate("two").check
    assert check is not None
    assert not check.passed
    sampled = len(machine.order)
    with pytest.raises(jaxmagic.OutputsDiffer, match="two does not compute what one does at the output"):
        take_comparison(entries, Plan(samples=2), baseline="one", strict=True, clock=machine.clock)
    assert len(machine.order) == sampled + 3  # first calls, and the baseline once more


@pytest.mark.parametrize("strict", [False, True])
def test_nothing_is_compared_with_an_output_that_varies(strict: bool) -> None:
    """As with a training step that changes its model, or random numbers."""
    drawn = count()
    entries = {
        "draws": Entry(Runner(lambda: jnp.array([0.0, next(drawn)]))),
        "first": Entry(Runner(lambda: jnp.array([0.0, 0.0]))),
        "other": Entry(Runner(lambda: jnp.array([7.0, 7.0]))),
    }
    if strict:
        with pytest.raises(jaxmagic.OutputsDiffer, match="The output of draws varies from call to call: that of ot"):
            take_comparison(entries, Plan(samples=8), baseline="draws", strict=True)
        return
    found = take_comparison(entries, Plan(samples=8), baseline="draws")
    assert [agrees(found, each) for each in found.candidates] == [True, True, None]
    same = found.to_frame("candidates").same_output
    assert [None if each is None or each is pd.NA else bool(each) for each in same] == [None, True, None]
    text = " ".join(to_text(found).split())
    assert "Whether other computes what draws does is unknown: the output of draws varies from call to call." in text
    assert "different output" not in text
    again = take_comparison(entries, Plan(samples=8), baseline="other")
    assert [agrees(again, each) for each in again.candidates] == [False, False, True]


def test_measuring_again_takes_new_samples_and_keeps_what_first_calls_told() -> None:
    told: list[float] = []
    before, _ = compared(Plan(budget_ns=10**9))
    assert before.measure_again is not None
    found = before.measure_again(4.0, told.append)
    assert found.budget_ns == 4 * 10**9
    assert [each.first_call for each in found.candidates] == [each.first_call for each in before.candidates]
    assert found.candidate("two").check == before.candidate("two").check
    assert found.candidate("two").latency != before.candidate("two").latency
    assert told
    assert told == sorted(told)
    assert all(0 < each <= 1 for each in told)
    assert found.measure_again is not None


def test_measuring_again_goes_through_other_orders() -> None:
    before, machine = compared(Plan(samples=30, evaluations=1))
    assert before.measure_again is not None
    orders = []
    for _ in range(2):
        machine.order.clear()
        before.measure_again(0.5)
        # Behind a first call and as many warm-ups of each, which are scripted and come one candidate after the other.
        start = max(
            index
            for index, label in enumerate(machine.order[:200])
            if machine.order[index : index + 3] == [label] * 3
        )
        orders.append(machine.order[start + 3 : start + 33])
    assert orders[0] != orders[1]


def test_a_lucky_first_look_does_not_end_it() -> None:
    found, machine = compared(Plan(budget_ns=60_000 * MS), noise=1e-6)
    assert found.stopped_by == "precision"
    rounds_ns = sum(sum(each.latency.samples_ns) for each in found.candidates) + sum(found.again.samples_ns)
    assert rounds_ns > 0.1 * 60_000 * MS
    assert machine.now_ns < 60_000 * MS


def test_a_record_without_values_cannot_measure_again() -> None:
    assert compared(Plan(samples=6))[0].without_values().measure_again is None


@pytest.mark.clock
def test_measuring_again_twice_keeps_the_first_calls_as_well() -> None:
    before = jaxmagic.compare(
        {"a": jax.jit(lambda x: x + 1), "b": jax.jit(lambda x: x + 2)}, jnp.ones(3), budget_s=0.1
    )
    assert before.measure_again is not None
    again = before.measure_again(0.1)
    assert again.measure_again is not None
    third = again.measure_again(0.1)
    for one, other in zip(before.candidates, third.candidates, strict=True):
        assert one.first_call == other.first_call
        assert one.first_call.compile_ns > 0
        assert one.memory_bytes == other.memory_bytes
    assert third.candidate("b").check is not None
    assert not third.candidate("b").check.passed


@pytest.mark.clock
def test_what_means_something_else_by_now_has_a_first_call_of_its_own() -> None:
    sizes = [10]
    f = jax.jit(lambda x: x * 3)
    g = jax.jit(lambda x: x * 3 + 0)
    before = jaxmagic.compare(
        {"a": lambda: f(jnp.ones(sizes[-1])), "b": lambda: g(jnp.ones(sizes[-1]))}, budget_s=0.1
    )
    sizes.append(100_000)
    assert before.measure_again is not None
    after = before.measure_again(0.1)
    assert after.candidate("a").first_call != before.candidate("a").first_call
    assert after.candidate("a").first_call.compile_ns > 0


@pytest.mark.parametrize("budget_s", [0, -1, float("inf"), float("nan")])
def test_measuring_again_takes_a_positive_budget(budget_s: float) -> None:
    record = compared(Plan(samples=6))[0]
    assert record.measure_again is not None
    with pytest.raises(ValueError, match="budget_s: expected a positive number of seconds"):
        record.measure_again(budget_s)


@pytest.mark.clock
def test_a_record_is_copied_and_pickled_without_what_it_could_call() -> None:
    record = jaxmagic.compare({"a": lambda: 1, "b": lambda: 2}, budget_s=0.05)
    assert copy.deepcopy(record) == record
    assert pickle.loads(pickle.dumps(record)) == record
    assert pickle.loads(pickle.dumps(record)).measure_again is None
    assert asdict(record)["baseline"] == "a"


@pytest.mark.clock
def test_a_tiny_budget_is_a_budget() -> None:
    assert jaxmagic.compare({"a": lambda: 1, "b": lambda: 2}, budget_s=1e-9).stopped_by == "budget"


def test_two_long_calls_have_a_verdict_within_the_budget_and_as_much_again() -> None:
    machine = Machine()
    entries = {
        "slow": machine.entry("slow", times(330 * MS, 0.01, 1)),
        "fast": machine.entry("fast", times(300 * MS, 0.01, 2)),
    }
    found = take_comparison(entries, Plan(budget_ns=2000 * MS), baseline="slow", clock=machine.clock)
    assert found["fast"].verdict == "faster"
    assert len(found.again.samples_ns) == 4
    assert all(each.warmup_ns == () for each in found.candidates)
    assert len(machine.order) == 2 + 4 * 3  # first calls, and rounds with the baseline twice
    assert machine.now_ns < 7000 * MS


def test_where_a_verdict_would_cost_too_much_one_round_is_taken_and_the_text_names_the_budget() -> None:
    machine = Machine()
    entries = {label: machine.entry(label, times(5000 * MS, 0.01, 1)) for label in ("a", "b")}
    found = take_comparison(entries, Plan(budget_ns=3000 * MS), baseline="a", clock=machine.clock)
    assert len(found.again.samples_ns) == 1
    assert found["b"].verdict == "too noisy to tell"
    assert machine.now_ns < 26_000 * MS
    text = " ".join(to_text(found).split())
    assert "A verdict needs 4 rounds of 15.1 s: use --budget 76s (budget_s) or more." in text  # 60.4 s, and a quarter
    again = take_comparison(
        {label: machine.entry(label, times(5000 * MS, 0.01, 1)) for label in ("a", "b")},
        Plan(budget_ns=61_000 * MS),
        baseline="a",
        clock=machine.clock,
    )
    assert again["b"].ratio is not None


def test_candidates_that_are_compared_have_samples_of_as_many_calls() -> None:
    """Found with one that takes 10 µs and calls the clock twice as often: 6 and 12 calls, and a false verdict."""
    machine = Machine()
    entries = {
        "one": machine.entry("one", times(2_000, 0.01, 1)),
        "two": machine.entry("two", times(9_000, 0.01, 2)),
        "huge": machine.entry("huge", times(600 * MS, 0.01, 3)),
    }
    found = take_comparison(entries, Plan(budget_ns=3000 * MS, rtol=0.5), baseline="one", clock=machine.clock)
    one, two, huge = (each.latency.evaluations for each in found.candidates)
    assert one == two == found.again.evaluations > 1
    assert huge == 1  # as many would take seconds


def test_the_baselines_second_samples_come_from_a_runner_of_their_own() -> None:
    x = jnp.ones(8)
    runner = Runner(lambda: x + 1)
    runner.sample()
    twin = runner.twin()
    assert twin._loop is not runner._loop
    assert twin.sample() > 0
    assert (twin.evaluations, twin.fenced, twin.lead) == (runner.evaluations, runner.fenced, runner.lead)


def test_an_interrupt_keeps_whole_rounds() -> None:
    def until(count: int) -> Iterator[float]:
        yield from [300.0 * MS] * count
        raise KeyboardInterrupt

    machine = Machine()
    entries = {"a": machine.entry("a", times(300 * MS, 0, 1)), "b": machine.entry("b", until(4))}
    found = take_comparison(entries, Plan(budget_ns=9000 * MS), baseline="a", clock=machine.clock)
    assert found.stopped_by == "interrupt"
    assert len(found.again.samples_ns) == 3
    entries = {"a": machine.entry("a", times(300 * MS, 0, 1)), "b": machine.entry("b", until(1))}
    with pytest.raises(KeyboardInterrupt):  # there is no round to report
        take_comparison(entries, Plan(budget_ns=9000 * MS), baseline="a", clock=machine.clock)


def test_how_many_rounds_a_verdict_takes_is_said_before() -> None:
    machine = Machine()
    entries = {label: machine.entry(label, times(300 * MS, 0, 1)) for label in ("a", "b")}
    with Reports() as progress:
        take_comparison(entries, Plan(budget_ns=2000 * MS), baseline="a", progress=progress, clock=machine.clock)
    assert progress.texts == ["first call of a", "first call of b", "warming up", "rounds", "rounds for a verdict"]
    assert progress.stages[-1] == ("rounds for a verdict", 4, False, True)
    assert progress.steps[-1] == ("rounds for a verdict", 3, 4)


def test_a_call_that_the_machine_kept_waiting_is_not_long() -> None:
    """It would leave its candidate without warm-up, and without the calls that others have before each sample."""
    for late in ("a", "b"):
        machine = Machine()
        entries = {
            label: machine.entry(label, chain([200.0 * MS] if label == late else [], times(1e5, 0, 1)))
            for label in ("a", "b")
        }
        plan = Plan(budget_ns=2000 * MS)
        contestants = Contestants(entries, "a", None)
        turns = Turns(contestants, plan, clock=machine.clock, progress=SILENT, seed=0)
        warm = turns.warm_up({"a": 1e5, "b": 1e5})
        assert [each.sample_ns for each in warm.values()] == [None, None]
        leads = {entry.runner.lead for entry in entries.values()}
        assert len(leads) == 1
        assert min(leads) > 0


def test_candidates_that_are_much_slower_have_no_calls_before_their_samples() -> None:
    machine = Machine()
    entries = {"a": machine.entry("a", times(1e5, 0, 1)), "b": machine.entry("b", times(300.0 * MS, 0, 1))}
    turns = Turns(
        Contestants(entries, "a", None),
        Plan(budget_ns=2000 * MS),
        clock=machine.clock,
        progress=SILENT,
        seed=0,
    )
    turns.warm_up({"a": 1e5, "b": 3e8})
    assert [entry.runner.lead for entry in entries.values()] == [1, 0]


def test_what_fails_when_all_rounds_are_done_costs_no_round() -> None:
    def until(count: int) -> Iterator[float]:
        yield from [2.0 * MS] * count
        raise ValueError("late")

    machine = Machine()
    entries = {"a": machine.entry("a", times(2 * MS, 0, 1)), "b": machine.entry("b", until(60))}
    found = take_comparison(entries, Plan(budget_ns=4000 * MS, samples=30), baseline="a", clock=machine.clock)
    assert list(found) == ["a", "b"]
    assert len(found.again.samples_ns) == 30
    assert found.candidate("a").pipelined is not None
    assert found.candidate("b").pipelined is None


@pytest.mark.parametrize("fails_at", [1, 3, 9])
def test_a_candidate_that_raises_is_named_whichever_call_it_is(fails_at: int) -> None:
    calls = iter(range(10_000))

    def fail() -> None:
        if next(calls) >= fails_at - 1:
            raise ArithmeticError("broken")

    entries = {"one": Entry(Runner(lambda: None)), "two": Entry(Runner(fail))}
    with pytest.raises(ArithmeticError) as error:
        take_comparison(entries, Plan(samples=40), baseline="one")
    assert error.value.__notes__ == ["This was the candidate 'two'."]


def test_whole_rounds_before_an_exception_are_kept() -> None:
    calls = iter(range(10_000))

    def fail() -> None:
        if next(calls) >= 8:
            raise ArithmeticError("broken")

    kept: list[Any] = []
    entries = {"one": Entry(Runner(lambda: None)), "two": Entry(Runner(fail))}
    with pytest.raises(ArithmeticError):
        take_comparison(entries, Plan(samples=40, evaluations=1), baseline="one", unfinished=kept.append)
    (found,) = kept
    assert (found.error, found.stopped_by, len(found.again.samples_ns)) == ("ArithmeticError", "error", 7)
    assert "7 rounds in shuffled order, until ArithmeticError was raised" in str(found)


def failing_at(call: int, error: BaseException) -> dict[str, Entry]:
    """Make two candidates, the second of which raises in one of its calls and after it."""
    calls = iter(range(10_000))

    def fail() -> None:
        if next(calls) >= call:
            raise error

    return {"one": Entry(Runner(lambda: None), code="one"), "two": Entry(Runner(fail), code="two")}


@pytest.mark.parametrize("call", [0, 1])
def test_an_exception_before_there_is_a_round_leaves_nothing(call: int) -> None:
    kept: list[Any] = []
    with pytest.raises(ArithmeticError):
        take_comparison(failing_at(call, ArithmeticError()), Plan(samples=40), baseline="one", unfinished=kept.append)
    assert kept == []


def test_an_interrupt_before_there_is_a_round_leaves_the_first_calls() -> None:
    kept: list[Any] = []
    with pytest.raises(KeyboardInterrupt):
        take_comparison(failing_at(1, KeyboardInterrupt()), Plan(samples=40), baseline="one", unfinished=kept.append)
    assert [(each.code, each.error) for each in kept] == [("one", None), ("two", None)]
    with pytest.raises(jaxmagic.OutputsDiffer):  # ours, before anything was timed
        two = {"one": Entry(Runner(lambda: 1.0)), "two": Entry(Runner(lambda: 2.0))}
        take_comparison(two, Plan(samples=2), baseline="one", strict=True, unfinished=kept.append)
    assert len(kept) == 2


def test_a_donated_array_is_told_with_its_candidate_and_with_what_a_comparison_takes() -> None:
    x, g = jnp.ones(8), jax.jit(lambda x: x + 1, donate_argnums=0)
    entries = {"one": Entry(Runner(lambda: None)), "two": Entry(Runner(lambda: g(x)))}
    with pytest.raises(jaxmagic.DonatedTwice, match=r"jaxmagic\.compare\(\)") as error:
        take_comparison(entries, Plan(samples=2), baseline="one", check="none")
    assert error.value.__notes__ == ["This was the candidate 'two'."]
    assert "benchmark()" not in str(error.value)


def test_outputs_that_differ_name_an_option_that_all_verbs_have() -> None:
    entries = {"one": Entry(Runner(lambda: 1.0)), "two": Entry(Runner(lambda: 2.0))}
    with pytest.raises(jaxmagic.OutputsDiffer, match=r'check="none" \(--check none\)') as error:
        take_comparison(entries, Plan(samples=2), baseline="one", strict=True)
    assert "strict" not in str(error.value)


def test_rounds_that_are_asked_for_are_told_as_their_number_and_not_as_about_that() -> None:
    told = Reports()
    entries = {"one": Entry(Runner(lambda: None)), "two": Entry(Runner(lambda: None))}
    with told:
        take_comparison(entries, Plan(samples=3), baseline="one", progress=told)
    assert [total for text, total, *_ in told.stages if text == "rounds"] == [3]
    assert all(total is None for text, _, total in told.steps if text == "rounds")
