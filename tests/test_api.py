"""The verbs for people without magics."""

from __future__ import annotations

import gc
import re
import threading
import weakref
from collections import ChainMap
from types import MappingProxyType
from typing import Any

import jax
import pytest
from reports import Reports

import jaxmagic
from jaxmagic.memory_use.capture.pprof import read_heap
from jaxmagic.session.history import History


def test_stopwatch_adds_to_the_history(x: Any) -> None:
    before = len(jaxmagic.history())
    with jaxmagic.stopwatch() as watch:
        watch.result = x + 1
    assert len(jaxmagic.history()) == before + 1
    assert jaxmagic.last() is watch.timing
    assert jaxmagic.history()[-1] is watch.timing


def test_the_history_holds_no_array(x: Any) -> None:
    with jaxmagic.stopwatch() as watch:
        watch.result = y = x + 1
    before = len(jax.live_arrays())
    del y
    assert len(jax.live_arrays()) == before - 1


def test_last_of_nothing_says_what_to_run(monkeypatch: Any) -> None:
    monkeypatch.setattr("jaxmagic.session.verbs._history", History())
    with pytest.raises(jaxmagic.NotMeasured, match="Run %jaxtime"):
        jaxmagic.last()


def test_the_history_is_one_frame(timing: Any, compilation: Any) -> None:
    history = History()
    history.append(timing())
    history.append(timing(compilation()))
    frame = history.to_frame()
    assert list(frame["wall_ns"]) == [11_000_000, 182_000_000]
    assert list(history.to_frame("compilations")["record"]) == [1]


def test_what_is_no_function_is_told_how_to_write_it(x: Any) -> None:
    with pytest.raises(TypeError, match=r"benchmark\(\): expected a function .* Write benchmark\(f, x\)"):
        jaxmagic.benchmark(x + 1)
    with pytest.raises(TypeError, match="compare\\(\\): expected functions by their labels"):
        jaxmagic.compare(len, max)
    with pytest.raises(ValueError, match="budget_s: expected seconds as a number, got '1s'; write budget_s=1"):
        jaxmagic.benchmark(len, [], budget_s="1s")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"budget_s": True}, "budget_s: expected a positive number, got True"),
        ({"budget_s": [1, 2]}, "budget_s: expected a positive number, got [1, 2]"),
        ({"rtol": 5}, "rtol: expected a fraction between 0 and 1, got 5; for example rtol=0.01"),
        ({"rtol": 1.0}, "rtol: expected a fraction between 0 and 1, got 1.0"),
        ({"rtol": float("nan")}, "rtol: expected a fraction between 0 and 1, got nan"),
    ],
)
@pytest.mark.parametrize("verb", ["benchmark", "compare", "sweep"])
def test_a_number_that_means_nothing_is_refused_before_anything_runs(verb: str, given: Any, message: str) -> None:
    ran: list[int] = []
    call = {
        "benchmark": lambda: jaxmagic.benchmark(ran.append, 1, **given),
        "compare": lambda: jaxmagic.compare({"a": ran.append, "b": ran.append}, 1, **given),
        "sweep": lambda: jaxmagic.sweep(ran.append, lambda n: (n,), n=[1], **given),
    }[verb]
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
    assert ran == []


@pytest.mark.clock
def test_a_budget_too_small_is_told_in_the_words_of_the_api() -> None:
    assert "(budget_s)" in str(jaxmagic.benchmark(len, [], budget_s=1e-12))


@pytest.mark.clock
@pytest.mark.parametrize(
    ("candidates", "more", "error", "message"),
    [
        ({1: abs, 2: abs}, {}, ValueError, "labels: expected text, got 1"),
        ({" ": abs, "b": abs}, {}, ValueError, "labels: expected text, got ' '"),
        ({"a": abs, "b": 3}, {}, TypeError, "b: expected a function, got int"),
        ({"a": abs, "b": abs}, {"check": "close"}, ValueError, "check: expected one of allclose, .*, got 'close'"),
        ({"a": abs, "b": abs}, {"check": -1.0}, ValueError, "or a tolerance such as .1%., 1e-3 or .*, got -1.0"),
        ({"a": abs, "b": abs}, {"check": (1e-3,)}, ValueError, r"check: expected .*, got \(0.001,\)"),
        ({"a": abs, "b": abs}, {"check": (1e-3, "1")}, ValueError, r"check: expected .*, got \(0.001, '1'\)"),
        (
            {"a": lambda x: x, "b": abs},
            {"atol": 1e-3},
            TypeError,
            r"it takes, got atol. Write check=.* check=\(rtol, atol\)",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(candidates: Any, more: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        jaxmagic.compare(candidates, 1, **more)


def test_a_tolerance_of_outputs_is_one_number_or_two() -> None:
    functions = {"one": lambda x: x, "two": lambda x: x * 1.002}
    found = [jaxmagic.compare(functions, 1.0, check=each, budget_s=0.05) for each in (1e-2, (1e-2, 0.0), (0, 1e-2))]
    assert [each.candidate("two").check.passed for each in found] == [True] * 3
    assert [(each.candidate("two").check.rtol, each.candidate("two").check.atol) for each in found] == [
        (0.01, 0.0),
        (0.01, 0.0),
        (0.0, 0.01),
    ]
    message = r"the largest error is 0.002, rtol=0.001 and atol=0 are allowed. Nothing was timed"
    with pytest.raises(jaxmagic.OutputsDiffer, match=message):
        jaxmagic.compare(functions, 1.0, check=1e-3, strict=True)
    swept = jaxmagic.sweep(functions, lambda n: (float(n),), n=[1, 2], check=1e-2, budget_s=0.05)
    assert all(each.comparison.candidate("two").check.given for each in swept.points if each.comparison)


def test_a_record_is_compared_with_one_other(benchmark: Any) -> None:
    with pytest.raises(TypeError, match=r"compare\(\): expected two records, got 1\. Write compare\(old, new\)"):
        jaxmagic.compare(benchmark)


# --- memory ------------------------------------------------------------------------------------------------------


@pytest.mark.clock
def test_memory_tells_what_a_function_needs_and_keeps_its_record(x: Any) -> None:
    before = len(jaxmagic.history())
    found = jaxmagic.memory(jax.jit(lambda x, scale: x @ x * scale), x, scale=2.0)
    assert jaxmagic.last() is found
    assert len(jaxmagic.history()) == before + 1
    (program,) = found.executables
    assert (program.ran, program.compiled) == (True, True)
    assert program.argument_bytes == x.nbytes + 4
    assert program.output_bytes == x.nbytes
    assert program.allocations
    assert found.delta_bytes["cpu:0"] == x.nbytes
    assert [each.names for each in found.arrays.made] == [("(the value, not kept)",)]
    assert found.timeline is not None
    assert found.code is not None


@pytest.mark.clock
def test_memory_by_call_stack_is_taken_and_its_raw_profile_kept_where_that_is_asked_for(
    x: Any, tmp_path: Any
) -> None:
    kept: list[Any] = []
    assert jaxmagic.memory(lambda: kept.append(x + 1)).heap is None
    gc.collect()  # what other tests have left would go away meanwhile
    first = jaxmagic.memory(lambda: kept.append(x + 2), pprof=True).heap
    path = tmp_path / "heap.pb.gz"
    second = jaxmagic.memory(lambda: kept.append(x + 3), pprof=str(path)).heap
    assert first is not None
    assert second is not None
    assert (second.after - first.after).change_bytes == second.change_bytes == x.nbytes
    assert read_heap(path.read_bytes()).total_bytes == second.after.total_bytes
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.clock
def test_memory_runs_nothing_where_its_file_cannot_be_written(tmp_path: Any) -> None:
    ran: list[int] = []
    with pytest.raises(FileNotFoundError, match="There is no such folder"):
        jaxmagic.memory(lambda: ran.append(1), pprof=tmp_path / "none" / "heap.pb.gz")
    assert ran == []


@pytest.mark.clock
def test_memory_holds_nothing_of_the_call(x: Any) -> None:
    before = {id(each) for each in jax.live_arrays()}
    jaxmagic.memory(lambda x: {"y": x + 1}, x)
    assert {id(each) for each in jax.live_arrays()} == before


@pytest.mark.clock
def test_memory_of_a_function_that_fails_is_its_error_and_holds_nothing(x: Any) -> None:
    """Not even until the garbage collector comes: a traceback that holds itself would hold the arguments."""
    y = x + 1
    there = weakref.ref(y)

    def fail(y: Any) -> None:
        raise ZeroDivisionError("of the user's")

    gc.disable()
    try:
        with pytest.raises(ZeroDivisionError, match="of the user's") as caught:
            jaxmagic.memory(fail, y)
        del y, caught
        assert there() is None
    finally:
        gc.enable()
    last = jaxmagic.last()
    assert isinstance(last, jaxmagic.MemoryProfile)
    assert last.timing.error == "ZeroDivisionError"


@pytest.mark.clock
def test_memory_finds_the_callers_own_names(x: Any) -> None:
    namespace = {"jaxmagic": jaxmagic, "held": x + 7, "f": lambda: None, "__name__": "a_users_module"}
    exec("found = jaxmagic.memory(f)\nlooked = jaxmagic.live()", namespace)
    for arrays in (namespace["found"].arrays, namespace["looked"]):
        assert ("held",) in [each.names for each in arrays.arrays]


def test_live_looks_through_any_mapping(x: Any) -> None:
    for namespace in ({"a": [x]}, MappingProxyType({"a": [x]}), ChainMap({}, {"a": [x]})):
        assert "a[0]" in [name for each in jaxmagic.live(namespace).arrays for name in each.names]


def test_what_a_program_would_need_is_known_without_running_it(x: Any) -> None:
    ran = []

    def f(x: Any) -> Any:
        jax.debug.callback(lambda: ran.append(1))
        return x @ x

    shape = jax.ShapeDtypeStruct((2**20, 2**20), "float32")  # 4 TiB each
    for made in (f, jax.jit(f)):
        found = jaxmagic.memory_requirement(made, shape)
        assert found.peak_bytes is not None
        assert found.peak_bytes >= 2 * 2**42
        assert (found.ran, found.compiled) == (None, None)
    assert ran == []


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: jaxmagic.memory(x),
            TypeError,
            "memory(): expected a function and its arguments, got jax.Array, which cannot be called. "
            "Write memory(f, x), not memory(f(x)).",
        ),
        (
            lambda x: jaxmagic.memory(abs, x, interval_s=0),
            ValueError,
            "interval_s: expected a positive number, got 0; for example interval_s=0.5",
        ),
        (
            lambda x: jaxmagic.memory_requirement(x),
            TypeError,
            "memory_requirement(): expected a function and its arguments, got jax.Array, which cannot be called. "
            "Write memory_requirement(f, x), not memory_requirement(f(x)).",
        ),
        (
            lambda x: jaxmagic.live([x]),
            TypeError,
            "live(): expected a mapping from names to values, got list. "
            'Write live({"params": params}), or live() for the names of the caller.',
        ),
    ],
)
def test_what_has_no_memory_to_tell_is_told_what_to_write(x: Any, call: Any, error: Any, message: str) -> None:
    before = len(jaxmagic.history())
    with pytest.raises(error) as caught:
        call(x)
    assert str(caught.value) == message
    assert len(jaxmagic.history()) == before


@pytest.mark.clock
def test_memory_in_two_threads_at_a_time_leaves_nothing_behind(x: Any, session_state: Any) -> None:
    """The one that began first ends first: what it put into JAX lies under what the other one put there."""
    before, call = session_state(), programs_are_run_by()
    began, over = threading.Event(), threading.Event()
    found: list[Any] = []

    def first() -> None:
        found.append(jaxmagic.memory(lambda: (began.set(), over.wait())))

    def second() -> None:
        over.set()
        thread.join()

    thread = threading.Thread(target=first)
    thread.start()
    began.wait()
    jaxmagic.memory(second)
    assert len(found) == 1
    assert programs_are_run_by() is call
    thread.join()
    assert session_state() == before


def programs_are_run_by() -> Any:
    from jax._src.interpreters import pxla

    return pxla.ExecuteReplicated.__call__


@pytest.mark.parametrize(
    ("run", "texts"),
    [
        (lambda x, _: jaxmagic.memory(lambda: x + 1), ["running", "reading memory maps"]),
        (lambda x, _: jaxmagic.profile(lambda: x + 1), ["first run and compiling", "recording"]),
        (
            lambda x, _: jaxmagic.memory_requirement(lambda x: x + 1, x),
            ["compiling", "reading the memory map"],
        ),
        (lambda x, folder: jaxmagic.read_profile(folder), ["reading the recording"]),
        (
            lambda x, _: jaxmagic.diagnose(lambda: x + 1),
            [
                "run 1 of up to 5, which compiles",
                "run 2 of up to 5, with waits and lines",
                "the last runs, timed and recorded",
                "applying the rules",
            ],
        ),
    ],
)
def test_what_may_take_long_reports_its_progress_and_ends_it(
    monkeypatch: Any, tmp_path: Any, x: Any, run: Any, texts: list[str]
) -> None:
    progress = Reports()
    monkeypatch.setattr("jaxmagic.memory_use.verbs.shown_progress", lambda: progress)
    monkeypatch.setattr("jaxmagic.profiling.verbs.shown_progress", lambda: progress)
    monkeypatch.setattr("jaxmagic.doctor.verbs.diagnose.shown_progress", lambda: progress)
    with jax.profiler.trace(tmp_path):
        jax.block_until_ready(x + 1)
    run(x, tmp_path)
    assert [each for each in progress.texts if each in texts] == texts
    assert not progress.open
