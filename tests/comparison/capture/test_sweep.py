"""Points one after the other, on a clock that a test makes up; and once on the real JAX."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from reports import Reports

import jaxmagic
from jaxmagic.benchmarking.capture.plan import Plan
from jaxmagic.benchmarking.capture.runner import Runner
from jaxmagic.comparison.analysis.sweep_variables import variable
from jaxmagic.comparison.capture.contestants import Entry
from jaxmagic.comparison.capture.sweep import in_words, take_sweep
from jaxmagic.comparison.record.sweep import Sweep

SIZES = (1, 2, 4)
PLAN = Plan(samples=3, evaluations=1, budget_ns=5 * 10**9)


def entry(call: Any) -> Entry:
    return Entry(Runner(call), code="call()")


def swept(prepare: Any, plan: Plan = PLAN, **how: Any) -> Sweep:
    how = {"labels": ["one", "two"], "baseline": "one", "check": "none"} | how
    return take_sweep([variable("n", SIZES)], how.pop("labels"), prepare, plan, **how)


def both(at: Sequence[int]) -> Mapping[str, Entry]:
    size = SIZES[at[0]]
    return {"one": entry(lambda: size), "two": entry(lambda: size)}


def test_every_point_is_measured_once_and_the_last_variable_goes_first() -> None:
    seen = []

    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        seen.append(at)
        return both((0,))

    found = take_sweep(
        [variable("a", [1, 2]), variable("b", "xyz")], ["one", "two"], prepare, PLAN, baseline="one", check="none"
    )
    assert seen == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] == [each.at for each in found.points]
    assert (found.stopped_by, found.planned) == ("end", 6)
    assert all(each.comparison is not None and each.failures == () for each in found.points)


def test_a_failing_candidate_is_recorded_and_the_others_are_measured() -> None:
    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        def fail() -> Any:
            raise ValueError("too\nlarge")

        return {**both(at), "one": entry(fail)} if at == (1,) else both(at)

    found = swept(prepare)
    middle = found.points[1]
    assert [(each.label, each.error) for each in middle.failures] == [("one", "ValueError: too large")]
    assert middle.comparison is not None
    assert list(middle.comparison) == ["two"]
    assert middle.comparison.baseline == "two"
    assert [each.comparison is not None for each in found.points] == [True, True, True]
    assert found.stopped_by == "end"


def test_a_candidate_whose_error_has_no_text_is_blamed_by_its_name() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        def fail() -> Any:
            raise Silent

        return {**both(at), "one": entry(fail)} if at == (1,) else both(at)

    middle = swept(prepare).points[1]
    assert [(each.label, each.error) for each in middle.failures] == [("one", "Silent")]
    assert middle.comparison is not None


def test_a_candidate_that_fails_late_does_not_take_the_others_with_it() -> None:
    calls = 0

    def late() -> Any:
        nonlocal calls
        calls += 1
        if calls == 40:
            raise ValueError("late")

    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        return {"one": entry(late), "two": entry(lambda: 1)} if at == (1,) else both(at)

    found = swept(prepare, PLAN._replace(samples=60))
    assert [(each.label, each.error) for each in found.points[1].failures] == [("one", "ValueError: late")]
    assert found.points[1].comparison is not None
    assert list(found.points[1].comparison) == ["two"]
    assert len(found.points[1].comparison.again.samples_ns) == 60


def test_an_exit_keeps_what_was_measured() -> None:
    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        if at == (2,):
            raise SystemExit(3)
        return both(at)

    assert len(swept(prepare)) == 2


def test_a_first_error_is_let_go_when_something_was_measured() -> None:
    class Big:
        pass

    held: list[weakref.ref[Big]] = []

    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        if at == (2,):
            gc.collect()
            assert held[0]() is None
        if at != (0,):
            return both(at)
        big = Big()
        held.append(weakref.ref(big))

        def fail() -> Any:
            raise ValueError(big)

        return {"one": entry(fail), "two": entry(fail)}

    assert [each.comparison is None for each in swept(prepare).points] == [True, False, False]


def test_a_failing_setup_is_recorded_and_the_sweep_goes_on() -> None:
    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        if at == (0,):
            raise MemoryError("no room")
        return both(at)

    found = swept(prepare)
    assert found.points[0].comparison is None
    assert [(each.label, each.error) for each in found.points[0].failures] == [(None, "MemoryError: no room")]
    assert found.points[1].comparison is not None


def test_where_every_point_fails_the_first_error_is_raised() -> None:
    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        raise NameError(f"at {at}")

    with pytest.raises(NameError, match=r"at \(0,\)") as caught:
        swept(prepare)
    assert caught.value.__notes__ == ["Every point of the sweep failed; this is the error of the first."]


def test_what_ran_out_of_memory_is_let_go_before_the_next_point() -> None:
    class Big:
        pass

    held: list[weakref.ref[Big]] = []

    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        assert all(each() is None for each in held)
        big = Big()
        held.append(weakref.ref(big))

        def fail() -> Any:
            found = big
            raise RuntimeError(f"RESOURCE_EXHAUSTED: {type(found).__name__}")

        return both(at) if at == (2,) else {"one": entry(fail), "two": entry(fail)}

    found = swept(prepare)
    assert [each.comparison is None for each in found.points] == [True, True, False]
    assert len(held) == 3


def test_an_interrupt_ends_it_and_keeps_what_was_measured() -> None:
    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        if at == (2,):
            raise KeyboardInterrupt
        return both(at)

    found = swept(prepare)
    assert (len(found), found.stopped_by) == (2, "interrupt")


def test_an_interrupt_before_anything_was_measured_comes_through() -> None:
    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        swept(prepare)


def test_all_points_are_measured_however_small_the_budget_and_however_long_compiling_takes() -> None:
    now_ns = 0

    def clock() -> int:
        return now_ns

    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        nonlocal now_ns
        now_ns += 10**12
        return both(at)

    found = swept(prepare, PLAN._replace(budget_ns=1200), clock=clock)
    assert (len(found), found.stopped_by) == (3, "end")
    assert [each.comparison.budget_ns for each in found.points if each.comparison] == [400, 400, 400]


def test_an_interrupt_among_the_rounds_of_a_point_keeps_those_that_are_whole() -> None:
    calls = 0

    def interrupted() -> float:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise KeyboardInterrupt
        return 1.0

    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        return both(at) if at != (1,) else {**both(at), "two": entry(interrupted)}

    found = swept(prepare, PLAN._replace(samples=9))
    assert (len(found), found.stopped_by) == (2, "interrupt")
    last = found.points[-1].comparison
    assert last is not None
    assert last.stopped_by == "interrupt"
    assert 0 < len(last.again.samples_ns) < 9


def test_a_candidate_that_failed_holds_no_value() -> None:
    calls = 0

    class Value: ...

    kept: list[weakref.ref[Value]] = []

    def late() -> Any:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise ValueError("late")
        value = Value()
        kept.append(weakref.ref(value))
        return value

    runner = Runner(late)
    swept(lambda at: {**both(at), "one": Entry(runner)} if at == (0,) else both(at))
    assert runner.value is None
    gc.collect()
    assert kept
    assert all(each() is None for each in kept)


def test_a_mismatch_ends_a_strict_sweep() -> None:
    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        return {"one": entry(lambda: 1.0), "two": entry(lambda: 2.0)}

    with pytest.raises(jaxmagic.OutputsDiffer):
        swept(prepare, check="allclose", strict=True)


def test_errors_are_a_line() -> None:
    assert in_words(KeyError()) == "KeyError"
    assert len(in_words(ValueError("x" * 1000))) == 300


@pytest.mark.clock
def test_functions_of_jax_over_sizes_and_types() -> None:
    made = []

    def make(n: int, dtype: Any) -> tuple[Any]:
        made.append((n, dtype))
        return (jnp.ones(n, dtype),)

    found = jaxmagic.sweep(
        {"sin": jnp.sin, "jit": jax.jit(lambda x: jnp.sin(x))},
        make,
        n=[10, 1000],
        dtype=["float32", "int99"],
        rtol=0.5,
        budget_s=8,
    )
    assert made == [(10, "float32"), (10, "int99"), (1000, "float32"), (1000, "int99")]
    good, bad = found.points[0], found.points[1]
    assert good.comparison is not None
    assert good.comparison.values == {}
    assert good.comparison.candidate("jit").first_call.compile_ns > 0
    assert bad.comparison is None
    assert "int99" in bad.failures[0].error
    assert jaxmagic.last() == found


@pytest.mark.clock
def test_variables_are_the_functions_own_arguments_without_make_args() -> None:
    found = jaxmagic.sweep(lambda n: jnp.ones(n), n=range(1, 4), rtol=0.5, budget_s=8)
    assert found.labels == ("test_variables_are_the_functions_own_arguments_without_make_args.<locals>.<lambda>",)
    assert len(found) == 3


@pytest.mark.clock
def test_fresh_arguments_are_made_before_every_sample() -> None:
    donating = jax.jit(lambda x: x + 1, donate_argnums=0)
    found = jaxmagic.sweep({"f": donating}, lambda n: (jnp.ones(n),), fresh=True, n=[2, 3], rtol=0.5, budget_s=8)
    assert all(each.comparison and each.comparison.candidates[0].conditions.fresh for each in found.points)
    with pytest.raises(jaxmagic.DonatedTwice):
        jaxmagic.sweep({"f": donating}, lambda n: (jnp.ones(n),), n=[2, 3], budget_s=0.2)


@pytest.mark.clock
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, "expected a variable with its values, got none"),
        ({"n": []}, ValueError, "n: expected at least one value, got none"),
        ({"n": [1], "baseline": "g"}, ValueError, "baseline: expected one of the labels f, got 'g'"),
        ({"n": [1], "budget_s": 0}, ValueError, "budget_s: expected a positive number, got 0"),
        ({"n": [1], "modes": ["back"]}, ValueError, "modes: expected some of forward"),
        ({"n": [1], "check": "close"}, ValueError, "check: expected .*, or a tolerance .*, got 'close'"),
        ({"n": 5}, TypeError, r"n: expected several values, got 5\. Write for example n=\[5\]"),
        ({"n": "ab"}, TypeError, "n: expected several values"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        jaxmagic.sweep({"f": jnp.sin}, lambda n: (jnp.ones(n),), **arguments)


def test_one_array_is_no_tuple_of_arguments() -> None:
    with pytest.raises(TypeError, match=r"as a tuple, got jax\.Array\. .* with the comma"):
        jaxmagic.sweep({"f": jnp.sin}, lambda n: jnp.ones(n), n=[1, 2])


@pytest.mark.clock
def test_nothing_is_left_behind(session_state: Any) -> None:
    jaxmagic.sweep({"f": jnp.sin}, lambda n: (jnp.ones(n),), n=[1, 2], budget_s=0.1)
    jaxmagic.history().clear()
    gc.collect()
    before = session_state()
    jaxmagic.sweep({"f": jnp.sin}, lambda n: (jnp.ones(n),), n=[1, 2], budget_s=0.1)
    with pytest.raises(ZeroDivisionError):
        jaxmagic.sweep({"f": lambda x: 1 / 0}, lambda n: (jnp.ones(n),), n=[1, 2], budget_s=0.1)
    jaxmagic.history().clear()
    assert session_state() == before


def test_the_points_and_what_runs_within_them_are_told() -> None:
    shown: list[Reports] = []

    def show() -> Reports:
        shown.append(Reports())
        return shown[-1]

    swept(both, shown=show)
    points, *within = shown
    assert points.stages == [("points", 3, True, False)]
    assert [done for _, done, _ in points.steps] == [0, 1, 2]
    assert [each.texts[0] for each in within] == ["first call of one"] * 3
    assert not any(each.open for each in shown)
