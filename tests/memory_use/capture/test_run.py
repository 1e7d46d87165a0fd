"""Runs whose memory is measured: their records, and that nothing is left behind however they end."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax._src.interpreters import pxla
from reports import Reports

from jaxmagic.errors import JaxNotAvailable
from jaxmagic.memory_use.capture import run as module
from jaxmagic.memory_use.capture.heap_snapshots import HeapWatch
from jaxmagic.memory_use.capture.run import MemoryWatch
from jaxmagic.runtime.jax_version import keeps_lines
from jaxmagic.timing.capture.fence import shared


class Interrupted(BaseException):
    """Stands for Ctrl-C, because a real one would end pytest."""


@pytest.fixture
def state(session_state: Any) -> Any:
    """The session, and the function with which JAX runs programs."""
    shared.prepare()

    def of() -> dict[str, Any]:
        return session_state() | {"run": pxla.ExecuteReplicated.__call__}

    return of


def watched(run: Any, namespace: dict[str, Any] | None = None, **options: Any) -> Any:
    """The record of a call."""
    watch = MemoryWatch(lambda: {} if namespace is None else namespace, **options)
    watch.start()
    watch.result = run()
    watch.returned(watch.result)
    watch.stop(code="run()")
    return watch.record


# --- what is found -----------------------------------------------------------------------------------------------


def test_what_ran_what_was_made_and_what_was_used_is_found(x: Any) -> None:
    f = jax.jit(lambda x: x @ x)
    f(x)
    gc.collect()  # or arrays of other tests would be freed during the run
    made: list[Any] = []
    found = watched(lambda: made.append(f(x)), {"made": made, "x": x})
    (program,) = found.executables
    assert (program.ran, program.compiled) == (True, False)
    assert program.peak_bytes == 2 * x.nbytes
    assert [each.names for each in found.arrays.made] == [("made[0]",)]
    assert found.delta_bytes["cpu:0"] == x.nbytes
    assert found.timeline.times_ns[0] == 0
    assert found.timing.code == found.code == "run()"
    assert found.suspects == ()


def test_the_timeline_knows_when_what_was_compiled(x: Any) -> None:
    f = jax.jit(lambda x: jnp.sin(x @ x) @ x)
    found = watched(lambda: f(x))
    (compiled,) = found.timing.compilations
    assert 0 <= compiled.began_ns < compiled.ended_ns <= found.timing.dispatch_ns
    assert compiled.ended_ns - compiled.began_ns >= compiled.total_ns
    assert found.timeline.clock_ns >= 0
    assert found.timeline.clock_ns + compiled.ended_ns <= found.timeline.times_ns[-1]


def test_the_value_has_a_name_of_its_own_unless_a_variable_holds_it(x: Any) -> None:
    found = watched(lambda: [x + 1], {"x": x}, value_name=lambda: "Out[7]")
    assert [each.names for each in found.arrays.made] == [("Out[7][0]",)]
    namespace = {"x": x}

    def bind() -> Any:
        namespace["y"] = x + 1
        return namespace["y"]

    found = watched(bind, namespace, value_name=lambda: "Out[7]")
    assert [each.names for each in found.arrays.made] == [("y",)]


def test_the_names_of_the_module_that_is_looked_through_are_found_once(x: Any, monkeypatch: Any) -> None:
    import sys
    from types import ModuleType

    users = ModuleType("a_users_notebook")
    monkeypatch.setitem(sys.modules, users.__name__, users)
    users.held = x + 1  # type: ignore[attr-defined]
    users.__jaxmagic_3__ = held = [x + 2]  # type: ignore[attr-defined]
    found = watched(lambda: None, vars(users))
    names = [each.names for each in found.arrays.arrays]
    assert ("held",) in names
    assert not [each for several in names for each in several if "a_users_notebook." in each]
    del held


@pytest.mark.parametrize("name", [3, None, type("Hostile", (), {"__str__": lambda self: 1 / 0})()])
def test_a_module_whose_name_is_no_name_is_looked_through(x: Any, name: Any) -> None:
    found = watched(lambda: None, {"held": x, "__name__": name})
    assert "held" in [each for held in found.arrays.arrays for each in held.names]


def test_a_program_is_not_mapped_where_that_is_not_wanted(x: Any) -> None:
    (program,) = watched(lambda: jax.jit(lambda x: x - 1)(x), mapped=False).executables
    assert program.allocations is None
    assert program.peak_bytes == 2 * x.nbytes


def test_what_grew_since_earlier_looks_is_suspected(x: Any) -> None:
    losses: list[Any] = []
    namespace, earlier = {"losses": losses}, []
    for _ in range(3):
        found = watched(lambda: losses.append(x + 1), namespace, earlier=earlier)
        earlier.append(found.arrays)
    (suspect,) = found.suspects
    assert suspect.path == "losses[*]"
    assert suspect.bytes_seen == (x.nbytes, 2 * x.nbytes, 3 * x.nbytes)


def test_what_the_code_has_put_there_is_found_by_call_stack_where_that_is_wanted(x: Any) -> None:
    made: list[Any] = []
    gc.collect()  # or arrays of other tests would be freed during the run
    found = watched(lambda: made.append(x + 1), heap=HeapWatch())
    assert found.heap.change_bytes == x.nbytes
    assert [each.kind for each in found.notes] == ([] if keeps_lines() else ["memory_use.lines_of_earlier_calls"])
    assert watched(lambda: x + 1).heap is None


def test_heap_profiles_are_taken_outside_of_the_clock(x: Any, monkeypatch: Any) -> None:
    events = []

    class Recorded(HeapWatch):
        def start(self) -> None:
            events.append("heap before")
            super().start()

        def stop(self) -> Any:
            events.append("heap after")
            return super().stop()

    def note(name: str, act: Any) -> Any:
        return lambda *args, **kwargs: (events.append(name), act(*args, **kwargs))[1]

    for owner, name in ((module.Stopwatch, "start"), (module.Stopwatch, "stop"), (module.MemorySampler, "start")):
        monkeypatch.setattr(owner, name, note(f"{owner.__name__} {name}", getattr(owner, name)))
    watched(lambda: events.append("the code"), heap=Recorded())
    assert events == [
        "heap before",
        "MemorySampler start",
        "Stopwatch start",
        "the code",
        "Stopwatch stop",
        "heap after",
    ]


def test_without_a_heap_profile_the_rest_of_the_report_comes(x: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(jax.profiler, "device_memory_profile", lambda *_: b"hello")
    found = watched(lambda: x + 1, heap=HeapWatch())
    assert found.heap is None
    assert found.arrays.made
    note, *_ = map(str, found.notes)
    assert note.startswith("Could not read JAX's heap profile: expected ")
    assert note in " ".join(str(found).split())


def test_where_jax_does_not_tell_what_ran_that_is_said(x: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("jaxmagic.runtime.executed_programs.observe_executions", lambda note: None)
    f = jax.jit(lambda x: x * 3)
    found = watched(lambda: f(x))
    (program,) = found.executables
    assert (program.ran, program.compiled) == (None, True)
    assert found.notes[0].kind == "memory_use.programs_unknown"


def test_the_record_is_told_and_is_that_of_the_same_run(x: Any) -> None:
    told: list[Any] = []
    found = watched(lambda: x + 1, record=told.append)
    assert told == [found]


def test_the_fence_is_compiled_before_sampling_begins(monkeypatch: Any) -> None:
    """Otherwise the timeline would have its memory."""
    began: list[str] = []
    monkeypatch.setattr(module.shared, "prepare", lambda: began.append("fence"))
    start = module.MemorySampler.start
    monkeypatch.setattr(module.MemorySampler, "start", lambda self: (began.append("sampler"), start(self)))
    watched(lambda: None)
    assert began[:2] == ["fence", "sampler"]


def test_a_fence_that_does_not_compile_is_no_error_but_a_note(x: Any, monkeypatch: Any) -> None:
    def fail() -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(module.shared, "prepare", fail)
    assert "the fence does not compile here (RuntimeError)" in " ".join(map(str, watched(lambda: x + 1).timing.notes))


# --- what is left behind -----------------------------------------------------------------------------------------


def test_nothing_is_left_behind_and_nothing_kept_alive(x: Any, state: Any) -> None:
    before = state()
    watch = MemoryWatch(dict)
    watch.start()
    watch.result = y = x + 1
    there = weakref.ref(y)
    del y
    watch.returned(watch.result)
    watch.stop()
    gc.disable()
    try:
        assert there() is None
    finally:
        gc.enable()
    assert watch.value is None
    assert watch.result is None
    assert state() == before


@pytest.mark.parametrize(
    "where",
    [
        "require_jax",
        "snapshot",
        "watch",
        "MemorySampler.start",
        "Stopwatch.start",
        "shared.prepare",
    ],
)
@pytest.mark.parametrize("error", [Interrupted, RuntimeError])
def test_a_start_that_fails_half_way_leaves_nothing_behind(
    x: Any, state: Any, monkeypatch: Any, where: str, error: type[BaseException]
) -> None:
    before = state()

    def fail(*_: Any, **__: Any) -> Any:
        raise error("half-way")

    watch = MemoryWatch(dict)
    with monkeypatch.context() as patch:
        patch.setattr(f"jaxmagic.memory_use.capture.run.{where}", fail)
        if where == "shared.prepare" and error is RuntimeError:
            watch.start()  # the stopwatch adds a note
            watch.cancel()
        else:
            with pytest.raises(error, match="half-way"):
                watch.start()
    assert not watch.done
    assert state() == before
    assert watched(lambda: x + 1).executables


@pytest.mark.parametrize(
    "where",
    [
        "list_live_arrays",
        "describe",
        "suspects",
        "MemoryProfile",
        "MemorySampler._make_record",
        "Stopwatch.stop",
        "Stopwatch._make_record",
        "MemoryWatch._end",
        "MemoryWatch._make_record",
    ],
)
def test_an_interrupt_in_each_of_our_own_lines_leaves_nothing_behind(
    x: Any, state: Any, monkeypatch: Any, where: str
) -> None:
    before = state()

    def interrupt(*_: Any, **__: Any) -> Any:
        monkeypatch.undo()  # once
        raise Interrupted

    watch = MemoryWatch(dict)
    watch.start()
    watch.result = x + 1
    monkeypatch.setattr(f"jaxmagic.memory_use.capture.run.{where}", interrupt)
    watch.returned(watch.result)
    with pytest.raises(Interrupted):
        watch.stop()
    watch.cancel()
    del watch
    assert state() == before


def test_a_listener_that_fails_leaves_nothing_behind(x: Any, state: Any) -> None:
    def fail(record: Any) -> None:
        raise ValueError("of the listener")

    before = state()
    with pytest.raises(ValueError, match="of the listener"):
        watched(lambda: x + 1, record=fail)
    assert state() == before


def test_what_is_cancelled_has_no_record_and_leaves_nothing_behind(x: Any, state: Any) -> None:
    before = state()
    watch = MemoryWatch(dict)
    watch.cancel()  # before it began
    watch.start()
    assert state()["run"] is not before["run"]
    watch.result = x + 1
    watch.cancel()
    watch.cancel()
    assert not watch.done
    assert state() == before


@pytest.mark.parametrize("error", [Interrupted, ZeroDivisionError])
def test_an_error_of_the_code_is_in_the_record(x: Any, state: Any, error: type[BaseException]) -> None:
    before = state()
    watch = MemoryWatch(dict)
    watch.start()
    watch.returned()
    watch.stop(error=error("of the user's"))
    assert watch.record.timing.error == error.__name__
    assert watch.timing is watch.record.timing
    assert state() == before


@pytest.mark.parametrize("error", [Interrupted, RuntimeError])
def test_what_comes_up_while_the_work_is_waited_for_is_raised_when_there_is_a_record(
    x: Any, state: Any, monkeypatch: Any, error: type[BaseException]
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error("while waiting")

    before = state()
    watch = MemoryWatch(dict)
    watch.start()
    watch.result = x + 1
    with monkeypatch.context() as patch:
        patch.setattr("jaxmagic.timing.capture.completion.Completion.wait", fail)
        with pytest.raises(error, match="while waiting"):
            watch.stop()
    assert watch.done
    assert watch.record.timing.error == error.__name__
    assert watch.record.timeline is not None
    assert state() == before


def test_the_sampling_thread_runs_until_the_work_is_done(x: Any) -> None:
    def sampling() -> bool:
        return any(each.name == "jaxmagic memory" for each in threading.enumerate())

    watch = MemoryWatch(dict)
    watch.start()
    assert sampling()
    watch.returned()
    assert sampling()
    watch.stop()
    assert not sampling()


def test_without_jax_that_is_said(monkeypatch: Any) -> None:
    def missing() -> None:
        raise JaxNotAvailable("no JAX")

    monkeypatch.setattr(module, "require_jax", missing)
    with pytest.raises(JaxNotAvailable):
        MemoryWatch(dict).start()


def test_donated_and_deleted_arrays_are_no_more(x: Any) -> None:
    donated, deleted = jnp.ones((64, 64)), jnp.ones((64, 64))
    jax.block_until_ready((donated, deleted))
    f = jax.jit(lambda x: x + 1, donate_argnums=0)
    kept: list[Any] = []

    def run() -> Any:
        kept.append(f(donated))
        deleted.delete()
        return [donated, deleted]

    found = watched(run, {"kept": kept, "donated": donated, "deleted": deleted})
    assert found.delta_bytes["cpu:0"] == -(64 * 64 * 4)
    (program,) = [each for each in found.executables if each.alias_bytes]
    assert program.peak_bytes == program.argument_bytes == 64 * 64 * 4
    names = [name for each in found.arrays.arrays for name in each.names]
    assert "kept[0]" in names
    assert not {"donated", "deleted", "(the value)[0]"} & set(names)


def test_arrays_over_several_devices_count_on_each(x: Any) -> None:
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.local_devices()[:4]), ("i",))
    spread = jax.device_put(jnp.ones((64, 16)), NamedSharding(mesh, PartitionSpec("i")))
    f = jax.jit(lambda x: x * 5)
    found = watched(lambda: f(spread), {"spread": spread})
    assert {name: delta for name, delta in found.delta_bytes.items() if delta} == dict.fromkeys(
        ("cpu:0", "cpu:1", "cpu:2", "cpu:3"), 16 * 16 * 4
    )
    (program,) = found.executables
    assert program.argument_bytes == program.output_bytes == 16 * 16 * 4  # on each


def test_typed_keys_are_arrays(x: Any) -> None:
    keys: dict[str, Any] = {}

    def run() -> Any:
        keys["key"] = jax.random.key(3)

    found = watched(run, {"keys": keys})
    assert [each.names for each in found.arrays.made] == [("keys['key']",)]
    assert found.arrays.made[0].size_bytes == 8


def test_what_runs_while_jax_traces_is_told(state: Any) -> None:
    before, found = state(), []

    @jax.jit
    def traced(x: Any) -> Any:
        found.append(watched(lambda: x * 2, {"x": x}))
        return x

    jax.block_until_ready(traced(1.0))
    assert found[0].executables == ()
    assert found[0].arrays.made == ()
    assert state() == before


# --- progress ----------------------------------------------------------------------------------------------------


def test_what_is_done_after_the_run_is_reported_and_nothing_ticks_during_the_run(x: Any) -> None:
    progress = Reports()
    watched(lambda: x + 1, progress=progress, heap=HeapWatch())
    assert progress.stages == [
        ("running", None, False, False),
        ("reading memory maps", None, True, False),
        ("searching for the names of arrays", None, True, False),
        ("reading the heap profile", None, True, False),
    ]
    assert not progress.open


def test_progress_ends_where_the_watch_cannot_start(monkeypatch: Any) -> None:
    def interrupt() -> None:
        raise Interrupted

    progress = Reports()
    monkeypatch.setattr(module, "snapshot", interrupt)
    with pytest.raises(Interrupted):
        MemoryWatch(dict, progress=progress).start()
    assert progress.texts == ["running"]
    assert not progress.open
