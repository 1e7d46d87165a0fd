"""One measurement on the real JAX: what is waited for, what it is split into, and what is left behind."""

from __future__ import annotations

import dataclasses
import logging
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.compilation.capture.compile_log import CompileLog
from jaxmagic.errors import NotMeasured
from jaxmagic.runtime.clock import CpuTime, cpu_time
from jaxmagic.timing.capture.fence import Fence
from jaxmagic.timing.capture.fence_queues import Waited
from jaxmagic.timing.capture.stopwatch import Stopwatch


def notes(timing: jaxmagic.Timing) -> list[str]:
    """Without the one on several devices, whose threads may be slow at any time on a busy machine."""
    return [note for note in map(str, timing.notes) if "may be" not in note and "may not be" not in note]


def measure(call: Any, *, keep: bool = True) -> jaxmagic.Timing:
    with jaxmagic.stopwatch() as watch:
        value = call()
        if keep:
            watch.result = value
        del value
    return watch.timing


# --- waiting -----------------------------------------------------------------------------------------------------


class Plain:
    pass


@pytest.mark.parametrize(
    "put",
    [
        lambda y: y,
        lambda y: {"a": [y, (y, None)]},
        lambda y: vars_of(y),
        lambda y: None,
    ],
    ids=["the result", "containers", "an attribute", "nowhere"],
)
def test_work_is_waited_for_wherever_its_result_goes(work: Any, put: Any) -> None:
    truth_ns = work.truth_ns()
    timings = [measure(lambda: put(work())) for _ in range(5)]
    assert all(timing.wall_ns > truth_ns / 4 for timing in timings)
    assert any(timing.dispatch_ns < timing.wait_ns for timing in timings)  # not all: the thread may be set aside


def vars_of(y: Any) -> Plain:
    holder = Plain()
    holder.array = y  # type: ignore[attr-defined]
    return holder


def test_sharded_work_that_is_thrown_away_is_waited_for(work: Any) -> None:
    mesh = jax.sharding.Mesh(np.array(jax.local_devices()), ("i",))
    sharded = work.on(jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i")))
    truth_ns = sharded.truth_ns()
    assert measure(sharded, keep=False).wall_ns > truth_ns / 4


def test_work_thrown_away_is_named_and_work_held_is_not(work: Any) -> None:
    truth_ns = work.truth_ns()
    thrown_away = measure(work, keep=False)
    assert thrown_away.unreached_ns is not None
    assert thrown_away.unreached_ns > truth_ns / 4
    held = []

    def hold() -> jaxmagic.Timing:
        return measure(lambda: held.append(work()), keep=False)

    timings = [hold() for _ in range(5)]
    assert all(timing.wall_ns > truth_ns / 4 for timing in timings)
    assert any((timing.unreached_ns or 0) < truth_ns / 4 < timing.wait_ns for timing in timings)


def test_work_in_flight_before_the_block_is_not_the_blocks(work: Any) -> None:
    truth_ns = work.truth_ns()

    def empty_block_behind_work() -> jaxmagic.Timing:
        for _ in range(3):
            work()
        return measure(lambda: None)

    assert any(empty_block_behind_work().wall_ns < truth_ns for _ in range(5))


def test_effects_have_happened_when_the_block_ends() -> None:
    seen: list[int] = []
    f = jax.jit(lambda x: (jax.debug.callback(lambda: seen.append(1)), x)[1])
    with jaxmagic.stopwatch():
        f(1.0)
    assert seen == [1]


# --- parts -------------------------------------------------------------------------------------------------------


def add_up(timing: jaxmagic.Timing) -> None:
    stages = timing.tracing_ns + timing.lowering_ns + timing.compilation_ns + timing.cache_retrieval_ns
    assert timing.dispatch_ns == stages + timing.host_ns
    assert timing.wall_ns == timing.dispatch_ns + timing.wait_ns
    assert timing.host_ns >= 0
    ours = [each for each in timing.compilations if each.thread is None]
    assert sum(each.total_ns for each in ours) == timing.compile_ns


@pytest.mark.clock
def test_parts_add_up_to_a_wall_time_measured_from_outside(x: Any) -> None:
    import time

    f = jax.jit(lambda x: jnp.sin(x) @ x)
    watch = Stopwatch()
    watch.start()
    before_ns = time.perf_counter_ns()
    watch.result = f(x)
    jax.block_until_ready(watch.result)
    wall_ns = time.perf_counter_ns() - before_ns
    timing = watch.stop()
    add_up(timing)
    assert timing.compile_ns > 0
    # The outer clock lies inside the window: nothing of it can be missing.
    assert timing.wall_ns >= wall_ns
    assert timing.compile_ns <= wall_ns * 1.01 + 20_000


@pytest.mark.parametrize("nested", ["inner functions", "eager operations while tracing", "grad", "scan", "threads"])
def test_nested_and_overlapping_compilations_add_up(x: Any, nested: str) -> None:
    def inner(x: Any) -> Any:
        return jax.jit(lambda x: jnp.cos(x) * 3)(x)

    def call() -> Any:
        if nested == "inner functions":
            return jax.jit(lambda x: inner(inner(x)) + inner(x[:2]).sum())(x)
        if nested == "eager operations while tracing":
            return jax.jit(lambda x: x + jnp.linalg.norm(np.ones((3, 5))))(x)
        if nested == "grad":
            return jax.grad(lambda x: inner(x).sum())(x)
        if nested == "scan":
            return jax.lax.scan(lambda c, y: (c + y.sum(), inner(y)), 0.0, x)
        with ThreadPoolExecutor(3) as pool:
            functions = [jax.jit(lambda x, n=n: jnp.tanh(x) * n) for n in range(6)]
            return list(pool.map(lambda f: f(x), functions))

    timing = measure(call)
    add_up(timing) if nested != "threads" else None
    assert timing.compile_ns > 0
    assert timing.compile_ns <= timing.dispatch_ns
    assert timing.compilations
    assert all(each.thread is None for each in timing.compilations)


def test_the_load_of_other_processes_is_that_of_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    class Watched:
        def __init__(self) -> None:
            events.append("begins")

        def of_others(self) -> float:
            events.append("ends")
            return 1.5

    monkeypatch.setattr("jaxmagic.timing.capture.stopwatch.Load", Watched)
    timing = measure(lambda: events.append("the block"))
    assert timing.other_load == 1.5
    assert events == ["begins", "the block", "ends"]


def test_a_warm_call_compiles_nothing(x: Any) -> None:
    f = jax.jit(lambda x: x * 2)
    jax.block_until_ready(f(x))
    timing = measure(lambda: f(x))
    assert timing.compilations == ()
    assert timing.compile_ns == 0
    assert timing.host_ns == timing.dispatch_ns


@pytest.mark.skipif(jax.local_device_count() < 4, reason="needs four local devices")
def test_short_work_over_several_devices_is_seen_when_it_is_thrown_away() -> None:
    """The programs of the fence do not all return at once there: the time goes by while they are queued."""
    mesh = jax.sharding.Mesh(np.array(jax.local_devices()), ("i",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
    x = jax.device_put(jax.random.normal(jax.random.key(0), (400, 400)), sharding)
    f = jax.jit(lambda x: x @ x @ x)
    jax.block_until_ready(f(x))
    truths = [measure(lambda: f(x)).wall_ns for _ in range(20)]
    thrown_away = [measure(lambda: f(x), keep=False).wall_ns for _ in range(20)]
    assert median(thrown_away) > min(truths) / 3


def test_the_fence_is_never_among_the_compilations(x: Any) -> None:
    watch = Stopwatch(fence=Fence())
    with watch, Stopwatch(fence=Fence()):
        pass
    assert watch.timing.compilations == ()


def test_stages_of_a_first_call(x: Any) -> None:
    f = jax.jit(lambda x: jnp.sin(x))
    (first,) = measure(lambda: f(x)).compilations
    assert min(first.tracing_ns, first.lowering_ns, first.compilation_ns) > 0
    assert first.cache_retrieval_ns == 0
    assert first.cache is None  # JAX reports that it asked even where there is no persistent cache
    assert first.function == "<lambda>"
    assert first.location is not None
    assert first.location.startswith(__file__)


def test_tracing_alone_is_listed_without_a_compilation(x: Any) -> None:
    timing = measure(lambda: jax.eval_shape(jax.jit(lambda x: x + 1), x))
    assert all(each.compilation_ns == 0 for each in timing.compilations)
    assert timing.tracing_ns > 0


def test_the_persistent_cache_is_told_from_a_compilation(x: Any, tmp_path: Any, caplog: Any) -> None:
    settings = {
        "jax_compilation_cache_dir": str(tmp_path),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: getattr(jax.config, name) for name in settings}
    for name, value in settings.items():
        jax.config.update(name, value)
    try:
        from jax.experimental.compilation_cache import compilation_cache

        compilation_cache.reset_cache()
        (missed,) = measure(lambda: jax.jit(lambda x: jnp.sin(x) * 1.25)(x)).compilations
        (hit,) = measure(lambda: jax.jit(lambda x: jnp.sin(x) * 1.25)(x)).compilations
        Fence().prepare()
        names = " ".join(path.name for path in tmp_path.iterdir())
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
    assert missed.cache == "miss"
    assert missed.compilation_ns > 0
    assert hit.cache == "hit"
    assert hit.compilation_ns == 0
    assert hit.cache_retrieval_ns > 0
    assert hit.saved_ns is not None
    assert "lambda" in names
    assert "jaxmagic" not in names  # the fence is not kept among the user's programs
    assert caplog.text == ""  # the explanations make the cache talkative


# --- causes ------------------------------------------------------------------------------------------------------


def last_cause(call: Any) -> jaxmagic.Cause:
    timing = measure(call)
    ours = [each for each in timing.compilations if not each.eager]
    assert len(ours) == 1, timing.compilations
    return ours[0].cause


def test_first_call(x: Any) -> None:
    assert last_cause(lambda: jax.jit(lambda x: x + 1.0625)(x)).kind == "first call"


def test_another_shape_names_the_argument_and_both_types(x: Any) -> None:
    f = jax.jit(lambda batch: batch + 1)
    measure(lambda: f(x))
    y = jax.block_until_ready(jnp.ones((4, 4)))
    cause = last_cause(lambda: f(y))
    assert (cause.kind, cause.argument, cause.now, cause.before) == ("shape", "batch", "f32[4,4]", "f32[8,8]")
    assert cause.remedy is not None
    assert "pad" in cause.remedy


def test_another_dtype(x: Any) -> None:
    f = jax.jit(lambda x: x + 1)
    y = jax.block_until_ready(x.astype(jnp.bfloat16))
    measure(lambda: f(x))
    cause = last_cause(lambda: f(y))
    assert (cause.kind, cause.argument, cause.now, cause.before) == ("dtype", "x", "bf16[8,8]", "f32[8,8]")


def test_another_weak_type() -> None:
    f = jax.jit(lambda scale: scale + 1)
    array = jax.block_until_ready(jnp.float32(2))
    measure(lambda: f(2.0))
    cause = last_cause(lambda: f(array))
    assert (cause.kind, cause.argument) == ("weak type", "scale")
    assert "a Python float" in cause.reason


def test_a_leaf_of_a_pytree_is_named(x: Any) -> None:
    f = jax.jit(lambda params: params["w"] + 1)
    y = jax.block_until_ready(jnp.ones((2, 2)))
    measure(lambda: f({"w": x}))
    cause = last_cause(lambda: f({"w": y}))
    assert cause.kind == "shape"
    assert cause.argument == "params['w']"


@pytest.mark.parametrize("how", ["by name", "by position"])
def test_another_static_value_names_it_now_and_before(x: Any, how: str) -> None:
    if how == "by name":
        f = partial(jax.jit, static_argnames="power")(lambda x, power: x**power)
        measure(lambda: f(x, power=2))
        cause = last_cause(lambda: f(x, power=3))
    else:
        f = partial(jax.jit, static_argnums=1)(lambda x, power: x**power)
        measure(lambda: f(x, 2))
        cause = last_cause(lambda: f(x, 3))
    assert (cause.kind, cause.argument, cause.now, cause.before) == ("static value", "power", "3", "2")


def test_another_pytree(x: Any) -> None:
    f = jax.jit(lambda tree: jax.tree.map(lambda leaf: leaf + 1, tree))
    measure(lambda: f({"a": x}))
    cause = last_cause(lambda: f({"a": x, "b": x}))
    assert cause.kind == "pytree"
    assert cause.argument == "tree"


def test_a_lambda_made_anew_on_the_same_line(x: Any) -> None:
    causes = [last_cause(lambda: jax.jit(lambda x: x + 7)(x)) for _ in range(2)]
    assert [cause.kind for cause in causes] == ["first call", "new function"]
    assert causes[1].remedy is not None
    assert "once" in causes[1].remedy


def test_two_functions_called_from_one_line_are_both_first_calls(x: Any) -> None:
    functions = [jax.jit(lambda x: x + 11), jax.jit(lambda x: x * 13)]
    causes = [last_cause(lambda f=f: f(x)) for f in functions]
    assert [cause.kind for cause in causes] == ["first call", "first call"]


@pytest.mark.skipif(jax.local_device_count() < 2, reason="needs two local devices")
def test_another_device_and_another_sharding(x: Any) -> None:
    f = jax.jit(lambda x: x + 1)
    measure(lambda: f(x))
    there = jax.block_until_ready(jax.device_put(x, jax.devices()[1]))
    cause = last_cause(lambda: f(there))
    assert cause.kind == "placement"
    assert cause.argument == "x"
    assert "(committed) now" in cause.reason
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("data",))
    spread = jax.device_put(x, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data")))
    cause = last_cause(lambda: f(jax.block_until_ready(spread)))
    assert cause.kind in ("placement", "context")


def test_another_configuration(x: Any) -> None:
    f = jax.jit(lambda x: x @ x)
    measure(lambda: f(x))
    with jax.default_matmul_precision("highest"):
        cause = last_cause(lambda: f(x))
    assert cause.kind == "context"
    assert "highest" in cause.reason


def test_eager_operations_are_told_from_functions(x: Any) -> None:
    timing = measure(lambda: jnp.linalg.norm(jnp.arctan(x[:5]) + 3))
    assert timing.compilations
    assert all(each.eager for each in timing.compilations)
    assert "arctan" in "".join(each.function for each in timing.compilations) or "atan" in "".join(
        each.function for each in timing.compilations
    )


def test_an_operation_of_jaxs_that_the_user_jits_is_no_eager_one(x: Any) -> None:
    for function in (jnp.sin, jax.nn.gelu, jnp.linalg.norm):
        f = jax.jit(function)
        functions = [each.function for each in measure(lambda f=f: f(x)).compilations if not each.eager]
        assert functions == [function.__name__]


def test_jaxs_own_wrappers_around_functions_are_no_eager_operations(x: Any) -> None:
    @jax.custom_jvp
    def custom(x: Any) -> Any:
        return x * 137

    custom.defjvp(lambda primals, tangents: (custom(*primals), tangents[0] * 137))
    for function in (jax.vmap(jnp.dot), jax.grad(jnp.sum), custom, jnp.vectorize(jnp.dot, signature="(n),(n)->()")):
        f = jax.jit(function)
        arguments = (x, x) if "dot" in str(function.__name__) else (x,)
        functions = [each.function for each in measure(lambda f=f, a=arguments: f(*a)).compilations if not each.eager]
        assert functions == [function.__name__]


@pytest.mark.skipif(jax.local_device_count() < 4, reason="needs four local devices")
def test_an_eager_shard_map_is_made_of_eager_operations(x: Any) -> None:
    mesh = jax.sharding.Mesh(np.array(jax.local_devices()), ("i",))
    spec = jax.sharding.PartitionSpec("i")
    f = jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=spec, out_specs=spec)
    compilations = measure(lambda: f(x)).compilations
    assert compilations
    assert all(each.eager for each in compilations)


@pytest.mark.parametrize("transform", [jax.vmap, jax.checkpoint])
def test_two_functions_in_the_same_transformation_are_both_first_calls(x: Any, transform: Any) -> None:
    for function in (lambda x: x + 1, lambda x: x * 3):
        f = jax.jit(transform(function))
        assert last_cause(lambda f=f: f(x)).kind == "first call"


def test_a_function_that_jax_has_forgotten_is_no_new_one(x: Any) -> None:
    f = jax.jit(lambda x: x * 113)
    measure(lambda: f(x))
    jax.clear_caches()
    assert "no longer in JAX's caches" in last_cause(lambda: f(x)).reason


def test_a_call_that_jax_has_forgotten_differs_from_none_that_it_remembers(x: Any) -> None:
    f, y = jax.jit(lambda x: x * 109), jax.block_until_ready(x[:4])
    measure(lambda: f(x))
    jax.clear_caches()
    f(y)
    cause = last_cause(lambda: f(x))
    assert (cause.kind, cause.remedy) == ("cleared caches", None)
    assert "no longer in JAX's caches" in cause.reason


def test_by_keyword_in_place_of_by_position(x: Any) -> None:
    f = jax.jit(lambda a: a * 127)
    measure(lambda: f(x))
    reason = last_cause(lambda: f(a=x)).reason
    assert reason == "the arguments are passed differently: a=… now, 1 by position before"


def test_the_call_most_alike_is_compared_with_and_not_the_last_one(x: Any) -> None:
    f = jax.jit(lambda a, b, n: (a, b, n), static_argnames="n")
    measure(lambda: f(x, x, n=1))
    measure(lambda: f(x[0], x[0], n=2))
    cause = last_cause(lambda: f(x, x[0], n=2))
    assert (cause.argument, cause.now, cause.before) == ("a", "f32[8,8]", "f32[8]")


def test_equal_static_objects_are_not_blamed(x: Any) -> None:
    @dataclasses.dataclass(frozen=True)
    class Settings:
        n: int = 1

    f = jax.jit(lambda x, s: x * s.n, static_argnames="s")
    measure(lambda: f(x, Settings()))
    y = jax.block_until_ready(x[:4])
    assert (
        last_cause(lambda: f(y, Settings())).reason
        == "argument x has a different shape: f32[4,8] now, f32[8,8] before"
    )


def test_an_argument_without_leaves_is_not_like_any_other(x: Any) -> None:
    f = jax.jit(lambda x, mask: x)
    half = jax.block_until_ready(x.astype(jnp.float16))
    measure(lambda: f(x, None))
    assert "a single leaf now, None before" in last_cause(lambda: f(x, x)).reason
    assert last_cause(lambda: f(x, half)).kind == "dtype"


def test_a_new_shape_is_not_blamed_on_a_setting_used_before(x: Any) -> None:
    f = jax.jit(lambda x: x * 139)
    y = jax.block_until_ready(x[:3])
    measure(lambda: f(x))
    with jax.default_matmul_precision("highest"):
        assert last_cause(lambda: f(x)).kind == "context"
    assert last_cause(lambda: f(y)).kind == "shape"


def test_functions_that_close_over_other_values_are_told_by_these(x: Any) -> None:
    def scaled(factor: Any) -> Any:
        return jax.jit(lambda x: factor * x)

    assert last_cause(lambda: scaled(2)(x)).kind == "first call"
    assert last_cause(lambda: scaled(3)(x)).reason.endswith("with a different factor: 3 now, 2 before")
    assert last_cause(lambda: scaled(3)(x)).reason.endswith("as a different function object")


def test_compiling_ahead_of_time(x: Any) -> None:
    lowered = jax.jit(lambda x: x + 17).lower(x)
    assert last_cause(lowered.compile).kind == "ahead of time"


def test_a_transformation_from_outside_is_named(x: Any) -> None:
    f = jax.jit(lambda x: jnp.sin(x).sum())
    measure(lambda: f(x))
    timing = measure(lambda: jax.grad(f)(x))
    kinds = {each.cause.kind for each in timing.compilations if not each.eager}
    assert "transformation" in kinds
    assert kinds <= {"transformation", "unknown", "first call", "dtype", "shape"}


def test_user_who_reads_explanations_goes_on_reading_them(x: Any, caplog: Any) -> None:
    f = jax.jit(lambda x: x + 19)
    with jax.explain_cache_misses(True):
        timing = measure(lambda: f(x))
    assert timing.compilations[0].cause.kind == "first call"
    assert "TRACING CACHE MISS" in caplog.text


def test_explanations_nobody_asked_for_are_not_printed(x: Any, caplog: Any) -> None:
    f = jax.jit(lambda x: x + 23)
    measure(lambda: f(x))
    assert "TRACING CACHE MISS" not in caplog.text


def test_a_silenced_jax_logger_still_explains(x: Any) -> None:
    logger = logging.getLogger("jax")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        f = jax.jit(lambda x: x + 29)
        assert last_cause(lambda: f(x)).kind == "first call"
    finally:
        logger.setLevel(level)


# --- other threads, nesting --------------------------------------------------------------------------------------


@pytest.mark.clock
def test_another_threads_compilation_is_listed_and_in_no_part(x: Any) -> None:
    go, done = threading.Event(), threading.Event()

    def compile_beside() -> None:
        go.wait(30)
        jax.block_until_ready(jax.jit(lambda x: jnp.cosh(x))(x))
        done.set()

    thread = threading.Thread(target=compile_beside, name="neighbour")
    thread.start()
    with jaxmagic.stopwatch() as watch:
        go.set()
        done.wait(30)
    thread.join()
    timing = watch.timing
    neighbours = [each for each in timing.compilations if each.thread == "neighbour"]
    assert neighbours
    assert neighbours[0].compilation_ns > 0
    assert timing.compile_ns == 0
    add_up(timing)


@pytest.mark.clock
def test_a_thread_of_the_block_itself_counts(x: Any) -> None:
    def call() -> None:
        thread = threading.Thread(target=lambda: jax.block_until_ready(jax.jit(lambda x: jnp.sinh(x))(x)))
        thread.start()
        thread.join()

    timing = measure(call)
    assert timing.compile_ns > 0
    add_up(timing)


def test_nested_stopwatches_both_see_the_compilation(x: Any) -> None:
    with jaxmagic.stopwatch() as outer:
        with jaxmagic.stopwatch() as inner:
            inner.result = jax.jit(lambda x: x + 31)(x)
        jax.block_until_ready(jax.jit(lambda x: x + 37)(x))
    assert len(inner.timing.compilations) == 1
    assert len(outer.timing.compilations) == 2
    assert outer.timing.wall_ns > inner.timing.wall_ns


def test_stopwatches_that_overlap_without_nesting_leave_nothing(x: Any, session_state: Any) -> None:
    before = session_state()
    first, second = Stopwatch(), Stopwatch()
    first.start()
    second.start()
    first.stop()
    second.stop()
    assert session_state() == before


# --- errors ------------------------------------------------------------------------------------------------------


class Hostile:
    """An object that answers every question with an exception."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("do not ask")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("do not compare")

    __hash__ = None  # type: ignore[assignment]


def self_reference() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


async def coroutine() -> None: ...


@pytest.mark.parametrize(
    ("make", "note"),
    [
        (Hostile, None),
        (self_reference, None),
        (lambda: list(range(10**6)), None),
        (lambda: {str(n): jnp.ones(()) for n in range(50)}, None),
        (lambda: jax.random.key(0), None),
        (lambda: jax.jit(jnp.sin).lower(1.0).compile(), None),
        (lambda: jax.ShapeDtypeStruct((3,), jnp.float32), None),
        (lambda: (n for n in range(3)), "generator"),
        (coroutine, "coroutine"),
    ],
    ids=["hostile", "self-reference", "huge", "many arrays", "key", "Compiled", "struct", "generator", "coroutine"],
)
def test_any_result_is_measured_and_let_go(make: Any, note: str | None, session_state: Any) -> None:
    make() if note != "coroutine" else None  # whatever it caches by itself
    before = session_state()
    kept = []
    with jaxmagic.stopwatch() as watch:
        value = make()
        watch.result = value
        kept.append(value)
    if note:
        assert note in notes(watch.timing)[0]
    else:
        assert notes(watch.timing) == []
    if note == "generator":
        assert list(kept[0]) == [0, 1, 2]
    if note == "coroutine":
        kept[0].close()
    del value, kept  # not the watch: it must not hold the result either
    assert session_state() == before


def test_a_deleted_array_in_the_result_is_timed_and_said(x: Any) -> None:
    y = x + 1
    with jaxmagic.stopwatch() as watch:
        y.delete()
        watch.result = [x, y]
    assert any(each.kind == "timing.deleted" for each in watch.timing.notes)


def test_a_donated_argument_is_no_error(x: Any) -> None:
    f = jax.jit(lambda y: y + 1, donate_argnums=0)
    y = x * 2
    with jaxmagic.stopwatch() as watch:
        watch.result = (y, f(y))
    assert watch.timing.error is None


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_comes_through_with_the_times_so_far(
    x: Any, error: type[BaseException], session_state: Any
) -> None:
    before = session_state()
    f = jax.jit(lambda x: x + 41)
    watch = jaxmagic.stopwatch()
    with pytest.raises(error), watch:
        f(x)
        raise error
    assert watch.timing.error == error.__name__
    assert len(watch.timing.compilations) == 1
    del f
    assert session_state() == before


@pytest.mark.parametrize("several", [False, True])
def test_an_interrupt_while_waiting_still_gives_the_times_so_far(
    monkeypatch: Any, x: Any, session_state: Any, several: bool
) -> None:
    before = session_state()
    watch = Stopwatch()
    watch.start()

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("jaxmagic.timing.capture.completion.wait_for_all", interrupted)
        patch.setattr(type(x), "block_until_ready", interrupted)
        watch.result = [x, x + 1] if several else x
        watch.stop()
    assert watch.timing.error == "KeyboardInterrupt"
    assert watch.timing.unreached_ns is None
    with jaxmagic.stopwatch():  # the patch began after the measurement and has put back what was there meanwhile
        pass
    assert session_state() == before


def test_an_error_of_the_computation_surfaces_after_the_record(x: Any) -> None:
    def fail(_: Any) -> Any:
        raise ValueError("on the device")

    @jax.jit
    def f(x: Any) -> Any:
        return jax.pure_callback(fail, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    watch = jaxmagic.stopwatch()

    def measured() -> None:
        with pytest.raises(Exception, match="on the device"), watch:
            watch.result = f(x)

    # A thread of its own: on JAX 0.8 one whose computation failed runs all later ones on the CPU before it returns.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(measured).result()
    assert watch.timing.error is not None


def test_the_session_is_as_before(x: Any, session_state: Any) -> None:
    f = jax.jit(lambda x: x + 43)
    measure(lambda: f(x))
    before = session_state()
    for y in (x, x):
        measure(lambda y=y: f(y))
    assert session_state() == before


def test_users_own_listener_and_handler_survive_a_clear_inside(x: Any, session_state: Any) -> None:
    before = session_state()
    with jaxmagic.stopwatch():
        jax.monitoring.clear_event_listeners()
    assert session_state()["loggers"] == before["loggers"]
    assert session_state()["explain"] == before["explain"]


def test_listeners_taken_away_inside_are_said_and_nothing_is_claimed(x: Any) -> None:
    f = jax.jit(lambda x: x + 131)

    def call() -> Any:
        jax.monitoring.clear_event_listeners()
        return f(x)

    timing = measure(call)
    assert timing.compilations == ()
    assert not timing.heard_all
    assert "Compilations are unknown" in str(timing)
    assert "Nothing compiled" not in str(timing)
    assert measure(lambda: f(x)).heard_all


def test_reading_the_timing_too_early_says_so() -> None:
    watch = jaxmagic.stopwatch()
    with pytest.raises(NotMeasured, match="made when the with block ends"):
        _ = watch.timing


def test_a_stopwatch_cannot_run_twice_at_once() -> None:
    watch = Stopwatch()
    with watch, pytest.raises(RuntimeError, match="running already"):
        watch.start()


def test_a_stopwatch_that_does_not_run_cannot_be_stopped() -> None:
    with pytest.raises(RuntimeError, match="not running"):
        Stopwatch().stop()


def test_an_interrupt_while_starting_leaves_no_listener(session_state: Any) -> None:
    before = session_state()

    def interrupted() -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Stopwatch(clock=interrupted).start()
    assert session_state() == before

    class Interrupted(Fence):
        def wait(self) -> Waited:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Stopwatch(fence=Interrupted()).start()
    assert session_state() == before


def test_a_stopwatch_can_be_used_again(x: Any) -> None:
    watch = Stopwatch()
    with watch:
        watch.result = (n for n in ())
    with watch:
        watch.result = x
    assert notes(watch.timing) == []


def test_fetch_times_the_copy_beside_the_wall_time(x: Any) -> None:
    with jaxmagic.stopwatch(fetch=True) as watch:
        watch.result = {"y": x + 1}
    assert watch.timing.fetch_bytes == 8 * 8 * 4
    assert watch.timing.fetch_ns is not None
    assert watch.timing.fetch_ns > 0


def test_works_where_jit_is_disabled_and_transfers_are_forbidden(x: Any) -> None:
    with jax.disable_jit():
        assert measure(lambda: jnp.sin(x)).wall_ns > 0
    with jax.transfer_guard("disallow"):
        assert measure(lambda: x).wall_ns > 0


def test_works_while_jax_is_tracing(x: Any) -> None:
    inside = []

    @jax.jit
    def f(x: Any) -> Any:
        with jaxmagic.stopwatch() as watch:
            y = jnp.sin(x)
            watch.result = y
        inside.append(watch.timing)
        return y

    f(x)
    assert inside[0].error is None


@pytest.mark.gpu
def test_thrown_away_work_on_a_gpu(work: Any) -> None:
    truth_ns = work.truth_ns()
    assert measure(work, keep=False).wall_ns > truth_ns / 4


class Scripted:
    """A fence that finds what a test wants it to find."""

    def __init__(self, found_work: bool | None, until_ns: int) -> None:
        self._found = Waited(found_work, until_ns)
        self.ready = True
        self.failure: str | None = None
        self.failed: str | None = None
        self.newest: tuple[Any, ...] = ()

    def prepare(self) -> None: ...

    def wait(self) -> Waited:
        return self._found

    def wait_for_programs(self, asked_ns: int) -> Waited:
        return self._found

    def settle(self, waited: Waited) -> Waited:
        return waited

    def wait_for_others(self, waited: Waited, since: Any = None) -> Waited:
        return waited


@pytest.mark.parametrize(
    ("found_work", "result", "tick_ns", "wait_ns"),
    [
        (False, "ready", 1_000, 0),  # nothing was waited for
        (False, "unready", 1_000, 2_000),  # the reading after the result stands
        (True, "unready", 1_000, 500_000),  # there was more work
        (None, "unready", 1_000, 2_000),  # set aside after the result was ready: what was in it is done
        (False, "ready", 110_000, 110_000),  # set aside before the look at the result
        (None, "none", 1_000, 500_000),  # set aside with nothing to wait for: work may have ended unseen
        (False, "none", 1_000, 0),
        (False, "none", 110_000, 110_000),
        (True, "none", 1_000, 500_000),
    ],
)
def test_which_clock_reading_counts(
    x: Any, monkeypatch: Any, found_work: bool | None, result: str, tick_ns: int, wait_ns: int
) -> None:
    if result == "unready":
        monkeypatch.setattr(type(x), "is_ready", lambda _: False)
    # Readings: start, dispatched, after the look at the result, after waiting for it.
    ticks = iter(range(0, 10**9, tick_ns))
    fence: Any = Scripted(found_work, until_ns=tick_ns + 500_000)
    watch = Stopwatch(clock=lambda: next(ticks), fence=fence)
    watch.start()
    watch.result = None if result == "none" else x
    assert watch.stop().wait_ns == wait_ns


def test_to_look_through_a_large_result_is_no_wait(monkeypatch: Any) -> None:
    now_ns = 0
    arrays = [jnp.ones(1) for _ in range(600)]

    def looked_at(array: Any) -> bool:
        nonlocal now_ns
        now_ns += 10_000
        return False

    monkeypatch.setattr(type(arrays[0]), "is_deleted", looked_at)
    fence: Any = Scripted(False, until_ns=0)
    watch = Stopwatch(clock=lambda: now_ns, fence=fence)
    watch.start()
    watch.result = {n: {"w": array} for n, array in enumerate(arrays)}
    assert watch.stop().wait_ns == 0
    assert now_ns > 1_000_000


def test_an_array_that_a_large_result_holds_last_is_waited_for(monkeypatch: Any) -> None:
    ticks = iter(range(0, 10**9, 1000))
    arrays = [jnp.ones(1) for _ in range(600)]
    monkeypatch.setattr(type(arrays[0]), "is_ready", lambda array: array is not arrays[0])
    fence: Any = Scripted(False, until_ns=0)
    watch = Stopwatch(clock=lambda: next(ticks), fence=fence)
    watch.start()
    watch.result = list(arrays)
    timing = watch.stop()
    assert timing.wait_ns > 0
    assert timing.unreached_ns == 0


@pytest.mark.parametrize(("tick_ns", "noted"), [(1_000, False), (110_000, True)])
def test_a_late_look_that_finds_nothing_may_be_no_wait(x: Any, tick_ns: int, noted: bool) -> None:
    ticks = iter(range(0, 10**9, tick_ns))
    fence: Any = Scripted(False, until_ns=0)
    watch = Stopwatch(clock=lambda: next(ticks), fence=fence)
    watch.start()
    watch.result = x
    assert any("110 µs of the wait may not be JAX work" in str(note) for note in watch.stop().notes) == noted


def test_nothing_but_the_processor_time_is_read_between_draining_and_the_clock(monkeypatch: Any) -> None:
    called = []

    class Drained(Scripted):
        def wait(self) -> Waited:
            called.append("drain")
            return self._found

    def tick() -> int:
        called.append("clock")
        return 0

    listen = CompileLog.start
    monkeypatch.setattr(CompileLog, "start", lambda log: (called.append("listen"), listen(log)))
    fence: Any = Drained(False, 0)
    watch = Stopwatch(clock=tick, fence=fence)
    watch.start()
    watch.cancel()
    assert called == ["listen", "drain", "clock"]


@pytest.mark.parametrize("ends_in", ["result", "dropped"])
def test_an_array_is_waited_for_as_soon_as_the_code_has_returned(x: Any, monkeypatch: Any, ends_in: str) -> None:
    now_ns = 0
    fence: Any = Scripted(False, 0)
    watch = Stopwatch(clock=lambda: now_ns, fence=fence)
    watch.start()
    now_ns = 700

    def done_later(array: Any) -> Any:
        nonlocal now_ns
        now_ns = 3_000
        return array

    with monkeypatch.context() as patch:
        patch.setattr(type(x), "is_ready", lambda _: False)
        patch.setattr(type(x), "block_until_ready", done_later)
        watch.returned(x)
    now_ns = 60_000  # what the caller does until then is neither dispatch nor waiting
    setattr(watch, ends_in, x)
    timing = watch.stop()
    assert (timing.dispatch_ns, timing.wait_ns) == (700, 2_300)
    assert timing.unreached_ns == (2_300 if ends_in == "dropped" else 0)


@pytest.mark.parametrize("result", [None, 1, [1, 2], "deleted"])
def test_what_cannot_be_waited_for_at_once_is_looked_at_later(x: Any, result: Any) -> None:
    if result == "deleted":
        result = x + 1
        result.delete()
    fence: Any = Scripted(False, 0)
    ticks = iter(range(0, 10**9, 1000))
    watch = Stopwatch(clock=lambda: next(ticks), fence=fence)
    watch.start()
    watch.returned(result)
    watch.result = result
    timing = watch.stop()
    assert (timing.dispatch_ns, timing.wait_ns) == (1000, 0)


def test_to_settle_a_doubt_costs_the_user_no_processor_time(x: Any, monkeypatch: Any) -> None:
    called = []

    class Doubtful(Scripted):
        def settle(self, waited: Waited) -> Waited:
            called.append("settle")
            return waited

    def recorded_cpu_time() -> CpuTime:
        called.append("cpu_time")
        return cpu_time()

    for module in ("stopwatch", "completion"):
        monkeypatch.setattr(f"jaxmagic.timing.capture.{module}.cpu_time", recorded_cpu_time)
    fence: Any = Doubtful(True, 500)
    with Stopwatch(fence=fence) as watch:
        watch.result = x
    assert called == ["cpu_time"] * 3 + ["settle"]


@pytest.mark.parametrize(("left_out_ns", "note"), [(420_000, "Up to 420 µs of discarded multi-device"), (400, None)])
def test_what_may_be_missing_is_said(x: Any, left_out_ns: int, note: str | None) -> None:
    class Idle(Scripted):
        def settle(self, waited: Waited) -> Waited:
            return Waited(False, waited.until_ns - left_out_ns)

    ticks = iter(range(0, 10**9, 1000))
    fence: Any = Idle(True, 500_000)
    with Stopwatch(clock=lambda: next(ticks), fence=fence) as watch:
        watch.result = x
    assert watch.timing.wait_ns == 0
    assert [str(each)[: len(note or "")] for each in watch.timing.notes] == ([note] if note else [])


@pytest.mark.parametrize(("found_work", "spent_ns"), [(False, 0), (True, 7_000_000)])
def test_processor_time_counts_the_fence_only_where_it_waits_for_work(
    x: Any, monkeypatch: Any, found_work: bool, spent_ns: int
) -> None:
    readings = iter([0, 0, 7_000_000])  # at the start, before the fence, behind it
    for module in ("stopwatch", "completion"):
        monkeypatch.setattr(f"jaxmagic.timing.capture.{module}.cpu_time", lambda: CpuTime(next(readings), 0))
    fence: Any = Scripted(found_work, 500)
    with Stopwatch(fence=fence) as watch:
        watch.result = x
    assert watch.timing.cpu_user_ns == spent_ns


def test_work_whose_last_value_is_known_is_waited_for_and_named(work: Any) -> None:
    truth_ns = work.truth_ns()
    nothing: Any = Scripted(False, 0)  # what a real fence finds beside it on a busy machine is another test's matter
    for _ in range(20):
        with Stopwatch(fence=nothing) as watch:
            watch.dropped = work()
        assert watch.dropped is None
        assert watch.timing.wall_ns > truth_ns / 4
        if (watch.timing.unreached_ns or 0) > truth_ns / 4:
            return
    pytest.fail("the work was never named")  # once it may not be: this thread may be set aside until it is done


@pytest.mark.parametrize(
    ("found_work", "until_ns", "held_until_ns", "wait_ns", "unreached_ns"),
    [
        (False, 0, None, 5_000, 5_000),
        (True, 400_000, 400_000, 399_000, 399_000),  # so near, what the fence found changes nothing
        (True, 9_000_000, 8_000_000, 8_999_000, 1_000_000),  # an array that is alive took longer
        (True, 9_000_000, None, 8_999_000, 8_999_000),
    ],
)
def test_what_a_dropped_value_and_the_fence_come_to(
    x: Any,
    monkeypatch: Any,
    found_work: bool,
    until_ns: int,
    held_until_ns: int | None,
    wait_ns: int,
    unreached_ns: int,
) -> None:
    monkeypatch.setattr(type(x), "is_ready", lambda _: False)
    ticks = iter(range(0, 10**9, 1000))

    class Found(Scripted):
        def wait_for_programs(self, asked_ns: int) -> Waited:
            return Waited(found_work, until_ns if found_work else asked_ns, held_until_ns)

    fence: Any = Found(found_work, until_ns)
    with Stopwatch(clock=lambda: next(ticks), fence=fence) as watch:
        watch.dropped = x
    assert abs(watch.timing.wait_ns - wait_ns) <= 3_000
    assert watch.timing.unreached_ns is not None
    assert abs(watch.timing.unreached_ns - unreached_ns) <= 3_000


def test_a_dropped_value_that_failed_or_was_deleted_is_nobodys(x: Any) -> None:
    gone = x + 1
    gone.delete()
    with jaxmagic.stopwatch() as watch:
        watch.dropped = gone
    assert watch.timing.error is None


@pytest.mark.parametrize("failed", [None, "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory."])
def test_a_failure_that_nobody_has_asked_for_is_told(failed: str | None) -> None:
    fence: Any = Scripted(False, 0)
    fence.failed = failed
    with Stopwatch(fence=fence) as watch:
        pass
    assert [str(each) for each in watch.timing.notes if each.kind == "timing.work_failed"] == (
        [f"A computation failed, and these times end there: {failed} JAX raises this where its result is used."]
        if failed
        else []
    )


@pytest.mark.parametrize(
    ("until_ns", "note"), [(4_001_000, ["4.0 ms of the wait may not be JAX work"]), (50_000, [])]
)
def test_a_wait_that_may_be_none_is_said_to_be_one(until_ns: int, note: list[str]) -> None:
    ticks = iter(range(0, 10**9, 1000))
    fence: Any = Scripted(None, until_ns)
    with Stopwatch(clock=lambda: next(ticks), fence=fence) as watch:
        pass
    assert [str(each)[: len("4.0 ms of the wait may not be JAX work")] for each in watch.timing.notes] == note


def test_a_stopwatch_is_stopped_by_the_thread_that_started_it(session_state: Any) -> None:
    before = session_state()
    watch = Stopwatch()
    watch.start()
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="started by another thread"):
        pool.submit(watch.stop).result()
    watch.stop()
    assert session_state() == before


def test_an_interrupt_while_the_record_is_made_leaves_nothing_behind(monkeypatch: Any, session_state: Any) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    before = session_state()
    watch = Stopwatch()
    watch.start()
    monkeypatch.setattr(Stopwatch, "_make_record", interrupt)
    with pytest.raises(KeyboardInterrupt):
        watch.stop()
    assert not watch.done
    assert session_state() == before


def test_pure_python_before_jax_has_started_has_nothing_unmeasured() -> None:
    program = (
        "import jaxmagic\n"
        "with jaxmagic.stopwatch() as watch:\n    sum(range(10))\n"
        "assert watch.timing.unreached_ns == 0"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_first_measurement_of_a_session_makes_no_function_compile_again() -> None:
    """Importing some of JAX's modules changes the state under which every traced function is filed."""
    program = (
        "import jax, jax.numpy as jnp, jaxmagic\n"
        "f, x = jax.jit(lambda x: x * 2), jnp.ones(3)\n"
        "f(x)\n"
        "for fetch in (False, True):\n"
        "    with jaxmagic.stopwatch(fetch=fetch) as watch:\n        watch.result = f(x)\n"
        "    assert watch.timing.compilations == (), watch.timing\n"
        "jaxmagic.fence(), f(x)\n"
        "assert f._cache_size() == 1"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_fence_that_cannot_compile_is_a_note(x: Any) -> None:
    with jax.no_tracing(True):
        watch = Stopwatch(fence=Fence())
        with watch:
            pass
    assert any("could not be waited for" in str(each) for each in watch.timing.notes)
    assert watch.timing.unreached_ns is None


def test_a_stopwatch_is_printed_as_its_report_once_there_is_one() -> None:
    with Stopwatch() as watch:
        assert str(watch) == repr(watch) == "<Stopwatch: no record yet, its block has not ended>"
    assert str(watch) == repr(watch) == str(watch.timing)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("wall_ns", "Did you mean: 'timing.wall_ns'?"),
        ("wall", "Did you mean: 'timing.wall_ns'?"),
        ("elapsed", "Its record is 'timing'."),
    ],
)
def test_an_attribute_of_the_record_is_pointed_to(name: str, meant: str) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(jaxmagic.stopwatch(), name)
    assert str(raised.value) == f"'Stopwatch' object has no attribute '{name}'. {meant}"
    with pytest.raises(AttributeError, match="Did you mean: 'profile.device_ns'"):
        print(jaxmagic.profiler().device_ns)  # type: ignore[attr-defined]
