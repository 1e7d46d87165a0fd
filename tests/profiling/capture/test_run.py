"""The line with most time is found, however the program is written, and the parts add up."""

from __future__ import annotations

import contextlib
import gc
import inspect
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from reports import Reports

import jaxmagic
from jaxmagic.errors import NotMeasured
from jaxmagic.profiling.analysis.devices.bound import bound_of
from jaxmagic.profiling.analysis.source_lines import line_times
from jaxmagic.profiling.capture import recorded_runs, run_plan
from jaxmagic.profiling.capture.run import ProfileWatch
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.records.note import note
from jaxmagic.runtime import private_api
from jaxmagic.runtime.jax_version import keeps_lines

pytestmark = pytest.mark.clock

needs_lines = pytest.mark.skipif(not keeps_lines(), reason="this JAX does not tell all lines")

N = 400


@pytest.fixture
def time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many runs are timed as recorded, however busy the machine is."""
    monkeypatch.setattr(run_plan, "_TIMED_NS", 10**15)


Program = tuple[Callable[..., Any], Callable[..., Any]]


def matmul_among_cheap_lines() -> Program:
    def f(x: Any) -> Any:
        y = x + 1
        y = x @ (x @ (x @ y))  # hot
        y = y * 2
        return y - x

    return f, f


def sort_in_a_helper() -> Program:
    def helper(x: Any) -> Any:
        return jnp.sort(x, axis=1)  # hot

    def f(x: Any) -> Any:
        left = helper(x)
        right = helper(x.T)
        return left + right

    return f, helper


def inside_scan() -> Program:
    def step(carry: Any, _: None) -> Any:
        carry = carry + 1
        return jnp.sort(carry, axis=1)[::-1], None  # hot

    def f(x: Any) -> Any:
        return jax.lax.scan(step, x, None, length=3)[0]

    return f, step


def inside_while() -> Program:
    def body(state: Any) -> Any:
        number, x = state
        x = jnp.sort(x, axis=1)[::-1] * 0.5  # hot
        return number + 1, x

    def f(x: Any) -> Any:
        return jax.lax.while_loop(lambda state: state[0] < 3, body, (0, x))

    return f, body


def inside_vmap() -> Program:
    def row(x: Any) -> Any:
        y = x * 2
        return jnp.sort(y)  # hot

    def f(x: Any) -> Any:
        return jax.vmap(row)(x)

    return f, row


def inside_grad() -> Program:
    def loss(x: Any) -> Any:
        y = jnp.tanh(x)
        z = jnp.cumsum(jnp.sort(y, axis=1), axis=1)  # hot
        return (z * z).sum()

    return jax.grad(loss), loss


def inside_checkpoint() -> Program:
    @jax.checkpoint
    def layer(x: Any) -> Any:
        y = jnp.sin(x)
        return jnp.sort(y, axis=1)  # hot

    def loss(x: Any) -> Any:
        return layer(x).sum()

    return jax.value_and_grad(loss), layer


def over_devices() -> Program:
    mesh = Mesh(np.array(jax.devices()), "d")

    def local(x: Any) -> Any:
        y = jnp.sort(x, axis=1)  # hot
        return jax.lax.psum(y.sum(), "d")

    shard_map = getattr(jax, "shard_map", None) or partial(__import__("jax.experimental.shard_map").shard_map)
    return shard_map(local, mesh=mesh, in_specs=P("d"), out_specs=P()), local


def in_a_lambda() -> Program:
    g = lambda x: jnp.sort(x, axis=1)  # noqa: E731 # hot

    def f(x: Any) -> Any:
        return g(x) + 1

    return f, g


class Model:
    def __init__(self) -> None:
        self.scale = 2.0

    def layer(self, x: Any) -> Any:
        y = x * self.scale
        return jnp.sort(y, axis=1)  # hot

    def __call__(self, x: Any) -> Any:
        return self.layer(x) + 1


def method_of_a_class() -> Program:
    return Model().__call__, Model.layer


PROGRAMS = [
    matmul_among_cheap_lines,
    sort_in_a_helper,
    inside_scan,
    inside_while,
    inside_vmap,
    inside_grad,
    inside_checkpoint,
    over_devices,
    in_a_lambda,
    method_of_a_class,
]


def hot_line(function: Callable[..., Any]) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if "# hot" in line)


def undisturbed(function: Callable[..., Any], as_wanted: Callable[[Profile], bool]) -> Profile:
    """Return a profile that satisfies a condition, or the fifth one that does not.

    Other processes may delay any operation.
    """
    x = jax.random.normal(jax.random.key(0), (N, N))
    for _ in range(5):
        profile = jaxmagic.profile(function, x, n=2)
        if as_wanted(profile):
            break
    return profile


@needs_lines
@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_the_line_that_takes_the_time_is_first(make: Callable[[], Program]) -> None:
    function, where = make()
    hot = (__file__, hot_line(getattr(where, "__wrapped__", where)))

    def is_first(profile: Profile) -> bool:
        frame = line_times(profile)[0].frame
        return frame is not None and (frame.file, frame.line) == hot

    profile = undisturbed(jax.jit(function), is_first)
    lines = line_times(profile)
    assert is_first(profile)
    assert sum(each.time_ns for each in lines) == profile.device_ns
    nowhere = sum(each.time_ns for each in lines if each.frame is None)
    assert nowhere <= 0.1 * profile.device_ns
    assert all(each.busy_ns <= profile.recorded_ns for each in profile.device_uses)


@needs_lines
def test_a_helpers_time_is_seen_at_its_callers_as_well() -> None:
    function, helper = sort_in_a_helper()
    begin = function.__code__.co_firstlineno

    def totals(profile: Profile) -> list[int]:
        lines = {each.frame.line: each for each in line_times(profile) if each.frame and each.frame.file == __file__}
        return [lines[number].total_ns for number in (begin + 1, begin + 2, hot_line(helper))]

    def as_wanted(profile: Profile) -> bool:
        left, right, inside = totals(profile)
        return min(left, right) > 0.2 * inside and left + right == pytest.approx(inside, rel=0.1)

    assert as_wanted(undisturbed(jax.jit(function), as_wanted))


def runs_of(watch: ProfileWatch, function: Callable[[], Any]) -> Profile:
    watch.start()
    error: BaseException | None = None
    try:
        for _ in watch.runs():
            watch.result = function()
            watch.returned(watch.result)
    except BaseException as raised:
        error = raised
    watch.stop(error=error)
    return watch.record


@pytest.mark.usefixtures("time_enough")
def test_a_run_that_compiles_is_not_the_one_that_is_timed(x: Any) -> None:
    calls: list[int] = []
    f = jax.jit(lambda x: x * 53)

    def call() -> Any:
        calls.append(1)
        return f(x)

    record = runs_of(ProfileWatch(runs=3), call)
    assert len(calls) == 1 + 3 + 3
    assert record.warm_up is not None
    assert record.unprofiled is not None
    assert record.warm_up.compilations
    assert not record.unprofiled.compilations
    assert record.wall_ns == record.unprofiled.wall_ns
    warm = runs_of(ProfileWatch(), call)
    assert warm.warm_up is warm.unprofiled
    assert len(calls) == 7 + 2


@pytest.mark.parametrize(
    ("took_ns", "timed", "wall_ns"),
    [([10**6], 20, 10**6), ([30 * 10**6], 4, 30 * 10**6), ([10**9], 1, 10**9), ([5, 10**8, 20], 2, 5)],
)
def test_what_takes_long_is_timed_once_and_of_what_is_short_the_median_counts(
    monkeypatch: Any, took_ns: list[int], timed: int, wall_ns: int
) -> None:
    here = SimpleNamespace(backend="cpu")
    compiled = (SimpleNamespace(compiled=True),)
    compiling = SimpleNamespace(wall_ns=9, compile_ns=8, compilations=compiled, environment=here)
    rest = (
        SimpleNamespace(wall_ns=took_ns[at % len(took_ns)], compile_ns=0, compilations=(), environment=here)
        for at in itertools.count()
    )
    ended = itertools.chain([compiling], rest)
    watch = ProfileWatch(runs=50)
    monkeypatch.setattr(watch, "_run", lambda: iter([None]))
    monkeypatch.setattr(watch, "_ended", lambda: next(ended))
    monkeypatch.setattr(watch._profiler, "start", lambda **_: pytest.fail("enough"))
    with pytest.raises(pytest.fail.Exception, match="enough"):
        for _ in watch._all_runs():
            pass
    assert watch._plan.unprofiled is not None
    assert (len(watch._plan.timed), watch._plan.unprofiled.wall_ns) == (timed, wall_ns)


def test_a_run_that_compiles_because_a_type_has_changed_is_not_timed_either() -> None:
    """A Python number is weakly typed, the result of the first run is not."""
    f, held, calls = jax.jit(lambda x, y: x * y * 131), [1.0], []
    y = jnp.ones(7)

    def call() -> Any:
        calls.append(1)
        held[0] = f(held[0], y)
        return held[0]

    record = runs_of(ProfileWatch(), call)
    assert len(calls) == 4
    assert record.unprofiled is not None
    assert not record.unprofiled.compilations


@pytest.mark.usefixtures("time_enough")
@pytest.mark.parametrize(("backend", "timed"), [("cpu", 1), ("gpu", 3)])
def test_on_an_accelerator_three_runs_are_timed(x: Any, monkeypatch: Any, backend: str, timed: int) -> None:
    """The second run of a program records CUDA graphs."""
    f = jax.jit(lambda x: x * 59)
    ended = ProfileWatch._ended

    def elsewhere(watch: ProfileWatch) -> Any:
        timing = ended(watch)
        return replace(timing, environment=replace(timing.environment, backend=backend))

    monkeypatch.setattr(ProfileWatch, "_ended", elsewhere)
    assert runs_of(ProfileWatch(), lambda: f(x)).timed_runs == timed


@pytest.mark.usefixtures("time_enough")
@pytest.mark.parametrize("runs", [1, 5])
def test_what_compiles_in_each_run_is_timed_once_with_that(x: Any, runs: int) -> None:
    calls: list[int] = []

    def call() -> Any:
        calls.append(1)
        assert len(calls) < 20, "it never ends"
        return jax.jit(lambda x: x * 137)(x)

    record = runs_of(ProfileWatch(runs=runs), call)
    assert len(calls) == 3 + runs
    assert record.timed_runs == 1
    assert record.unprofiled is not None
    assert record.unprofiled.compilations
    assert record.compilations


def test_a_cold_run_is_recorded_with_what_it_compiles_and_nothing_is_timed(x: Any) -> None:
    calls: list[int] = []
    f = jax.jit(lambda x: x * 59)
    record = runs_of(ProfileWatch(cold=True), lambda: (calls.append(1), f(x)))
    assert len(calls) == 1
    assert (record.warm_up, record.wall_ns) == (None, None)
    assert [each.function for each in record.compilations] == ["<lambda>"]


@pytest.mark.usefixtures("time_enough")
def test_what_was_recorded_before_an_error_is_kept_and_the_profiler_is_free(x: Any) -> None:
    calls: list[int] = []
    f = jax.jit(lambda x: jnp.sort(x * 61))
    f(jnp.ones((N, N)))

    def call() -> Any:
        calls.append(1)
        value = jax.block_until_ready(f(jnp.ones((N, N))))
        if len(calls) == 7:  # five were timed, and one recorded
            raise KeyboardInterrupt
        return value

    record = runs_of(ProfileWatch(runs=5), call)
    assert (record.error, record.runs) == ("KeyboardInterrupt", 1)
    assert record.device_ns > 0
    assert runs_of(ProfileWatch(), lambda: f(x)).error is None


def test_an_error_before_anything_is_recorded_is_said() -> None:
    record = runs_of(ProfileWatch(), lambda: 1 / 0)
    assert (record.error, record.device_uses) == ("ZeroDivisionError", ())
    assert record.notes == (note("profiling.ended_before_recording"),)


def test_somebodys_own_profile_is_left_alone(tmp_path: Any, x: Any) -> None:
    jax.profiler.start_trace(str(tmp_path))
    try:
        with pytest.raises(NotMeasured, match="running already"):
            jaxmagic.profile(jax.jit(jnp.sin), x)
    finally:
        jax.profiler.stop_trace()
    assert list(tmp_path.rglob("*.xplane.pb"))


#: Run in a fresh process, where nothing has started a backend.
_FRESH = """
import jax, jaxmagic
from jax._src import xla_bridge

def code():
    assert not xla_bridge.backends_are_initialized()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "measured",
    [
        "found = jaxmagic.profile(code)\nassert 'has not started' in str(found.notes[0])\nassert found.runs is None",
        "from jaxmagic.benchmarking.capture.sampler import *\n"
        "found = take_benchmark(Runner(code), Plan(samples=2), device=True)\n"
        "assert 'has not started' in found.device.problem",
        "jaxmagic.compare({'a': code, 'b': code}, profile=True, budget_s=0.01)",
        "from jaxmagic.profiling.verbs import profile_watch\n"
        "watch = profile_watch()\nwatch.start()\ncode()\nwatch.cancel()",
        "with jaxmagic.stopwatch():\n    code()",
        "jaxmagic.memory(code)",
    ],
    ids=["profile", "--device", "--profile", "%jaxprof", "stopwatch", "memory"],
)
def test_nothing_of_ours_starts_a_backend_before_the_code_runs(measured: str) -> None:
    subprocess.run([sys.executable, "-c", f"{_FRESH}\n{measured}\ncode()\n"], check=True, timeout=120)


@pytest.mark.slow
def test_a_cold_profile_that_starts_the_backends_says_so_and_a_warm_one_does_not() -> None:
    code = """
import jaxmagic
for cold in (True, False):
    profile = jaxmagic.profile(lambda: None, cold=cold)
    print(cold, [each.kind for each in profile.notes].count("profiling.backends_started"))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=120, capture_output=True, text=True)
    assert done.stdout == "True 1\nFalse 0\n"


@pytest.mark.slow
def test_somebodys_own_profile_is_found_although_no_backend_may_be_started(tmp_path: Any) -> None:
    code = f"""
from unittest.mock import patch
import jax, jaxmagic
jax.profiler.start_trace({str(tmp_path)!r})
ran = []
with patch("jaxmagic.profiling.capture.run.backends_started", lambda: False):
    try:
        jaxmagic.profile(ran.append, 1)
    except jaxmagic.NotMeasured as error:
        print(ran, "running already" in str(error))
jax.profiler.stop_trace()
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=120, capture_output=True, text=True)
    assert done.stdout == "[] True\n"


def test_nothing_stays_on_disk_and_no_array_is_kept(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, x: Any) -> None:
    import gc
    import tempfile
    import weakref

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made: list[weakref.ref[Any]] = []

    def call() -> Any:
        value = jnp.sin(x)
        made.append(weakref.ref(value))
        return value

    record = jaxmagic.profile(call)
    gc.collect()
    assert not list(tmp_path.iterdir())
    assert [each() for each in made] == [None] * len(made)
    assert jaxmagic.last() is record


def test_a_block_is_recorded(x: Any) -> None:
    f = jax.jit(lambda x: jnp.sort(x * 67))
    jax.block_until_ready(f(jnp.ones((N, N))))
    with jaxmagic.profiler() as p:
        assert str(p) == repr(p)
        f(jnp.ones((N, N)))
    assert p.profile is not None
    assert str(p) == str(p.profile)
    assert p.profile.device_ns > 0
    assert p.profile.runs == 1


def test_a_block_that_fails_is_recorded_up_to_there(x: Any) -> None:
    with pytest.raises(ZeroDivisionError), jaxmagic.profiler() as p:
        jax.block_until_ready(jnp.sort(jnp.ones((N, N)) * 71))
        1 / 0  # noqa: B018
    assert p.profile is not None
    assert p.profile.error == "ZeroDivisionError"
    assert p.profile.device_ns > 0


def test_a_profiler_that_cannot_be_stopped_is_said_to_be_that(x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = jax.profiler.stop_trace

    def fails() -> None:
        stop()
        raise OSError(28, "No space left on device")

    watch = ProfileWatch(cold=True)
    watch.start()
    monkeypatch.setattr(jax.profiler, "stop_trace", fails)
    next(iter(watch.runs()))
    watch.stop()
    assert any("could not be stopped: [Errno 28] No space left" in str(each) for each in watch.record.notes)


def test_a_recording_that_is_cancelled_leaves_the_profiler_free(x: Any) -> None:
    watch = ProfileWatch(cold=True)
    watch.start()
    next(iter(watch.runs()))
    watch.cancel()
    assert not watch.done
    assert jaxmagic.profile(jnp.sin, x).error is None


def test_one_that_is_dropped_within_its_block_keeps_nobody_from_recording(
    x: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    block = contextlib.ExitStack()
    block.enter_context(jaxmagic.profiler())
    del block
    gc.collect()
    assert private_api.profiler_running()
    assert jaxmagic.profile(lambda: x + 1).error is None
    assert not private_api.profiler_running()
    assert list(tmp_path.iterdir()) == []


def test_a_product_takes_as_long_as_it_is_waited_for_and_not_as_long_as_its_event() -> None:
    """The event of a product ends when it is handed to other threads: 0.2 of 20 ms."""
    words, vectors = jnp.arange(1024), jnp.ones((1024, 64))

    @jax.jit
    def table(words: Any, vectors: Any) -> Any:
        return jnp.tanh(jax.nn.one_hot(words, 20_000).T @ vectors)

    for _ in range(5):  # other processes may delay any of them
        found = jaxmagic.profile(table, words, vectors, n=3)
        (product,) = (each for each in found.operation_times if each.category == "matmul")
        of_all = found.device_ns / found.recorded_ns
        if of_all > 0.5:  # the events alone are 0.01
            break
    assert of_all > 0.5
    assert product.mean_ns > 0.1 * found.device_ns / 3


@pytest.mark.skipif(jax.local_device_count() < 4, reason="needs four devices")
def test_a_product_on_each_of_several_devices_takes_as_long_as_that_one_waits_for_it() -> None:
    """JAX 0.8 hands it to other threads there, too: 5 of 75 ms."""
    rows = NamedSharding(jax.make_mesh((4,), ("rows",)), P("rows"))
    words = jax.device_put(jnp.arange(4 * 512).reshape(4, 512), rows)
    vectors = jax.device_put(jnp.ones((4, 512, 64)), rows)

    @jax.jit
    def tables(words: Any, vectors: Any) -> Any:
        return jax.vmap(lambda words, vectors: jnp.tanh(jax.nn.one_hot(words, 8_000).T @ vectors))(words, vectors)

    for _ in range(5):  # other processes may delay any of them
        found = jaxmagic.profile(tables, words, vectors, n=3)
        busy = [each.busy_ns / found.recorded_ns for each in found.device_uses]
        if len(busy) == 4 and sum(busy) / 4 > 0.3:  # the events alone are 0.07
            break
    assert len(busy) == 4
    assert sum(busy) / 4 > 0.3


def test_an_interrupt_while_the_profiler_stops_goes_through_and_leaves_nothing_behind(
    monkeypatch: Any, tmp_path: Any
) -> None:
    stop = jax.profiler.stop_trace

    def interrupted() -> None:
        stop()
        raise KeyboardInterrupt

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(jax.profiler, "stop_trace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        jaxmagic.profile(jax.jit(lambda x: x * 83), jnp.ones(10), cold=True)
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
    assert jaxmagic.profile(jax.jit(lambda x: x * 89), jnp.ones(10)).runs == 1


@pytest.mark.usefixtures("time_enough")
def test_a_run_that_fails_is_not_in_the_time_of_those_that_have_ended() -> None:
    watch = ProfileWatch(runs=3)
    watch.start()
    f, x = jax.jit(lambda x: jnp.sort(x * 103)), jnp.ones(1000)
    error = ValueError("in the second one")
    with contextlib.suppress(ValueError):
        for number, _ in enumerate(watch.runs()):
            watch.result = f(x)
            watch.returned(watch.result)
            if number == 5:  # one to warm up, three that are timed, and one that is recorded have ended
                raise error
    watch.stop(error=error)
    assert watch.record.runs == 1
    assert watch.record.timeline is not None
    assert not [each for each in watch.record.timeline.tracks if each.shows == "runs"]  # there is one alone


def test_an_interrupt_before_the_profiler_stops_leaves_none_running(monkeypatch: Any) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    f = jax.jit(lambda x: x * 139)
    monkeypatch.setattr("jaxmagic.profiling.capture.profiler_session.time.sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        jaxmagic.profile(f, jnp.ones(10))
    monkeypatch.undo()
    assert jaxmagic.profile(f, jnp.ones(10)).operation_times


def test_where_the_profiler_has_lost_a_run_nothing_is_said_of_one(monkeypatch: Any) -> None:
    monkeypatch.setattr(recorded_runs, "windows_of", lambda *_: [])
    found = jaxmagic.profile(jax.jit(lambda x: x * 107), jnp.ones(10), n=2)
    assert found.device_uses == ()
    assert note("profiling.lost_run_markers") in found.notes


def test_what_cannot_be_made_of_a_recording_costs_no_record() -> None:
    def told(_: Any) -> None:
        raise ValueError("too large")

    watch = ProfileWatch(recorded=told)
    watch.start()
    f, x = jax.jit(lambda x: jnp.sort(x * 109)), jnp.ones(100)
    for _ in watch.runs():
        watch.result = f(x)
        watch.returned(watch.result)
    watch.stop()
    assert watch.record.device_uses
    assert note("profiling.not_written", error="ValueError: too large") in watch.record.notes


# --- progress ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("time_enough")
def test_which_run_it_is_is_reported_and_no_thread_ticks_while_a_run_is_timed(x: Any) -> None:
    progress = Reports()
    f = jax.jit(lambda x: x * 59)
    runs_of(ProfileWatch(runs=3, progress=progress), lambda: f(x))
    assert progress.stages == [
        ("first run and compiling", None, True, False),
        ("timing without the profiler", None, False, True),
        ("recording", 3, True, True),
        ("reading the recording", None, True, False),
        ("completing the record", None, False, False),
    ]
    assert progress.steps == [("recording", number, None) for number in range(3)]
    assert not progress.open


def test_a_cold_profile_has_no_verdict_because_the_profiler_may_be_the_load(x: Any) -> None:
    step = jax.jit(lambda x: x * 0.5 + 1)

    def loop() -> Any:
        y = x
        for _ in range(300):
            y = step(y)
        return y

    found = bound_of(runs_of(ProfileWatch(cold=True), loop))
    assert found is not None
    assert found.limit == "not timed"


def test_a_run_of_mostly_python_is_host_bound(x: Any) -> None:
    step = jax.jit(lambda x: x * 0.5 + 1)
    found = bound_of(runs_of(ProfileWatch(), lambda: (sum(range(10**6)), step(x))[1]))
    assert found is not None
    assert found.limit == "host"


def test_of_a_cold_profile_only_recording_is_reported(x: Any) -> None:
    progress = Reports()
    runs_of(ProfileWatch(cold=True, progress=progress), lambda: x + 1)
    assert progress.texts == ["recording, with compilations", "reading the recording", "completing the record"]


def test_progress_ends_with_what_fails_and_with_a_profiler_that_is_not_to_be_had(x: Any) -> None:
    progress = Reports()
    runs_of(ProfileWatch(progress=progress), lambda: 1 / 0)
    assert progress.texts == ["first run and compiling", "completing the record"]
    assert not progress.open
    with tempfile.TemporaryDirectory() as folder, jax.profiler.trace(folder), pytest.raises(NotMeasured):
        ProfileWatch(progress=progress).start()
    assert not progress.open
