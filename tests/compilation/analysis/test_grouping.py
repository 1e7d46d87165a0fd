"""Which spans make one compilation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.compilation.analysis.call_memory import Memory
from jaxmagic.compilation.analysis.grouping import by_cause, costliest, group
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.compilation.record.events import Call, Miss, Span

MAIN, OTHER = 1, 2


def span(stage: Any, function: str, start: int, end: int, thread: int = MAIN, **more: Any) -> Span:
    return Span(
        stage=stage, function=function, start_ns=start, end_ns=end, thread=thread, thread_name=f"t{thread}", **more
    )


def miss(name: str, at_ns: int) -> Miss:
    return Miss(
        text=f"TRACING CACHE MISS at a.py:1:\n  never seen function:\n    {name} id=1", thread=MAIN, at_ns=at_ns
    )


def compilations(*spans: Span, misses: tuple[Miss, ...] = ()) -> Any:
    # JAX reports a span when it ends.
    ordered = sorted(spans, key=lambda each: each.end_ns)
    return group(ordered, misses, Memory(), start_ns=0, end_ns=10**6, main_thread=MAIN, threads={MAIN})


def test_the_three_stages_of_one_function_are_one_compilation() -> None:
    (one,) = compilations(
        span("tracing", "f", 0, 10_000),
        span("lowering", "f", 10_000, 30_000),
        span("compilation", "f", 30_000, 90_000, cache="miss"),
    )
    assert (one.tracing_ns, one.lowering_ns, one.compilation_ns) == (10_000, 20_000, 60_000)
    assert one.cache == "miss"


def test_a_cause_that_cannot_be_found_costs_no_times(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise KeyError("x")

    monkeypatch.setattr("jaxmagic.compilation.analysis.grouping.find_cause", fail)
    (one,) = compilations(span("tracing", "f", 0, 10_000), span("compilation", "f", 10_000, 30_000))
    assert (one.compilation_ns, one.cause.kind) == (20_000, "unknown")
    assert one.cause.reason == "the cause could not be found out (KeyError)"


def test_an_inner_function_is_traced_for_the_outer_one() -> None:
    (one,) = compilations(
        span("tracing", "inner", 3_000, 8_000),
        span("tracing", "inner", 9_000, 12_000),
        span("tracing", "outer", 0, 20_000),
        span("lowering", "outer", 20_000, 30_000),
        span("compilation", "outer", 30_000, 50_000),
    )
    assert one.function == "outer"
    assert one.tracing_ns == 20_000


def test_an_operation_compiled_while_tracing_is_its_own_and_its_time_too() -> None:
    eager, outer = compilations(
        span("tracing", "cos", 4_000, 7_000),
        span("lowering", "cos", 8_000, 11_000),
        span("compilation", "cos", 12_000, 18_000),
        span("tracing", "outer", 0, 30_000),
        span("lowering", "outer", 30_000, 40_000),
        span("compilation", "outer", 40_000, 50_000),
    )
    assert (eager.function, eager.total_ns) == ("cos", 12_000)
    assert (outer.function, outer.tracing_ns) == ("outer", 18_000)


def test_a_trace_that_leads_nowhere_stands_alone() -> None:
    first, second = compilations(
        span("tracing", "f", 0, 10_000),
        span("tracing", "g", 20_000, 30_000),
        span("lowering", "g", 30_000, 40_000),
        span("compilation", "g", 40_000, 50_000),
    )
    assert (first.function, first.compilation_ns) == ("f", 0)
    assert second.function == "g"


def test_compiling_twice_without_tracing_is_two_compilations() -> None:
    both = compilations(span("compilation", "f", 0, 10_000), span("compilation", "f", 20_000, 50_000))
    assert [each.compilation_ns for each in both] == [10_000, 30_000]


def test_a_hit_of_the_persistent_cache_is_no_compilation_time() -> None:
    (one,) = compilations(
        span("tracing", "f", 0, 10_000),
        span("lowering", "f", 10_000, 20_000),
        span("cache retrieval", "f", 20_000, 25_000, cache="hit", saved_ns=70),
    )
    assert (one.compilation_ns, one.cache_retrieval_ns, one.cache, one.saved_ns) == (0, 5_000, "hit", 70)


def test_other_threads_are_listed_with_their_name() -> None:
    (one,) = compilations(span("compilation", "f", 0, 10_000, OTHER))
    assert (one.thread, one.compilation_ns) == ("t2", 10_000)


def test_explanations_go_to_the_function_they_are_about() -> None:
    f, g = compilations(
        span("tracing", "f", 0, 10_000),
        span("compilation", "f", 10_000, 20_000),
        span("tracing", "g", 20_000, 30_000),
        span("compilation", "g", 30_000, 40_000),
        misses=(miss("g", 0), miss("f", 1_000), miss("h", 2_000), miss("g", 21_000)),
    )
    assert f.cause.kind == g.cause.kind == "first call"


def test_an_explanation_of_what_is_inside_is_not_left_for_the_next_program_of_this_name() -> None:
    first, second = compilations(
        *(span("tracing", "f", start, start + 9_000) for start in (0, 30_000)),
        *(span("compilation", "f", start, start + 9_000) for start in (10_000, 40_000)),
        misses=(miss("f", 1_000), miss("f", 2_000)),
    )
    assert (first.cause.kind, second.cause.kind) == ("first call", "unknown")


def test_what_jax_saw_inside_is_no_earlier_version_of_the_function_around_it() -> None:
    """JAX takes ``loss`` inside ``jax.jit(jax.grad(loss))`` for it, which has its name and its line."""
    hinted = replace(around := miss("f", 2_000), text=f"{around.text}\n  but seen another on the same line")
    stages = span("tracing", "f", 0, 9_000), span("compilation", "f", 10_000, 19_000)
    (alone,) = compilations(*stages, misses=(hinted,))
    (outer,) = compilations(*stages, misses=(miss("f", 1_000), hinted))
    inner = span("tracing", "f", 500, 1_500)
    (observed,) = compilations(inner, *stages, misses=(miss("f", 1_000), hinted))
    assert [each.cause.kind for each in (alone, outer, observed)] == ["new function", "first call", "first call"]


def test_an_operation_of_jax_itself_is_eager() -> None:
    call = Call(name="cos", location="jax/cos.py:1", internal=True, leaves={}, static_args={})
    (one,) = compilations(span("compilation", "cos", 0, 10_000, call=call))
    assert one.eager
    assert one.location is None


def test_ten_thousand_inner_traces_are_grouped_in_linear_time() -> None:
    inner = [span("tracing", f"g{n}", 10 * n + 5, 10 * n + 9) for n in range(10_000)]
    (one,) = compilations(*inner, span("tracing", "f", 0, 200_000), span("compilation", "f", 200_000, 300_000))
    assert one.tracing_ns == 200_000


def test_the_costliest_functions_stay_in_the_order_of_time(compilation: Any) -> None:
    times = [3, 9, 1, 7, 9]
    functions = [compilation(function=f"f{time}", tracing_ns=time, lowering_ns=0, compilation_ns=0) for time in times]
    shown, rest = costliest(functions, 3)
    assert [each.function for each in shown] == ["f9", "f7", "f9"]
    assert [each.function for each in rest] == ["f3", "f1"]
    assert costliest(functions, 5) == (tuple(functions), ())
    assert costliest([], 5) == ((), ())


def test_compilations_with_the_same_cause_are_one_group(compilation: Any) -> None:
    def made(function: str, kind: Any, reason: str, argument: str | None, ms: int) -> Any:
        cause = Cause(kind=kind, reason=reason, argument=argument, remedy=None)
        return compilation(function=function, cause=cause, compilation_ns=ms * 10**6)

    first = [made(name, "first call", "first call", None, ms) for name, ms in (("f", 30), ("g", 90), ("h", 20))]
    shapes = [made("f", "shape", f"x has a different shape: {n}", "x", 5) for n in range(4)]
    dtype = made("f", "dtype", "x has a different dtype: bf16", "x", 1)
    other = made("f", "shape", "y has a different shape: 8", "y", 2)
    assert by_cause([*first, shapes[0], dtype, other, *shapes[1:]]) == (
        (first[1],),
        tuple(shapes),
        (other,),
        (dtype,),
        (first[0],),
        (first[2],),
    )
    assert by_cause([]) == ()
