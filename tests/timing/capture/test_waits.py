"""Waits of the measured code itself: heard while it is measured, and JAX as it was afterwards."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.runtime.clock import kept_waiting_ns
from jaxmagic.timing.capture import waits
from jaxmagic.timing.capture.wait_points import WaitPoint, wait_points
from jaxmagic.timing.capture.waits import WaitLog


def jaxs_own() -> list[Any]:
    """The functions as they are now; a property by what it calls."""
    return [getattr(point.original, "fget", point.original) for point in wait_points()]


def shown(value: Any) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        print(value)


WAYS: dict[str, Any] = {
    "method": lambda y: y.block_until_ready(),
    "jax.block_until_ready": jax.block_until_ready,
    "of a tree": lambda y: jax.block_until_ready([y, (y, None)]),
    "float": lambda y: float(y[0, 0]),
    "item": lambda y: y.reshape(-1)[0].item(),
    "tolist": lambda y: y.tolist(),
    "print": lambda y: shown(y[0, 0]),  # a large array is shown without its numbers
    "device_get": jax.device_get,
    "dlpack": np.from_dlpack,
}
READ_BY_NUMPY = {"asarray": np.asarray, "array": np.array, "ufunc": lambda y: np.add(y, 1), "memoryview": memoryview}


def timings(call: Any, runs: int = 5) -> list[jaxmagic.Timing]:
    found = []
    for _ in range(runs):
        with jaxmagic.stopwatch() as watch:
            watch.result = call()
        found.append(watch.timing)
    return found


@pytest.mark.parametrize("way", WAYS)
def test_what_the_code_waits_for_is_wait(work: Any, way: str) -> None:
    WAYS[way](work())  # eager operations compile
    truth_ns = work.truth_ns()
    found = timings(lambda: WAYS[way](work()))
    assert all(each.wall_ns == each.dispatch_ns + each.wait_ns for each in found)
    assert any((each.code_wait_ns or 0) > truth_ns / 4 for each in found)  # not all: the thread may be set aside
    assert any(each.dispatch_ns < each.wait_ns for each in found)


@pytest.mark.parametrize("way", READ_BY_NUMPY)
def test_what_numpy_waits_for_is_wait_or_said_to_be_unheard(work: Any, way: str) -> None:
    truth_ns = work.truth_ns()
    found = timings(lambda: READ_BY_NUMPY[way](work()))
    if "__buffer__" in vars(type(jnp.zeros(1))):
        assert any((each.code_wait_ns or 0) > truth_ns / 4 for each in found)
    elif kept_waiting_ns() is not None:
        assert any(
            "cannot be observed here and counts as host time" in str(note) for each in found for note in each.notes
        )


def test_code_that_does_not_wait_has_no_wait_of_its_own(work: Any) -> None:
    assert [each.code_wait_ns for each in timings(work)] == [0] * 5


def test_to_read_a_value_that_is_ready_is_no_wait(x: Any) -> None:
    y = x.sum().block_until_ready()
    assert timings(lambda: [float(y) for _ in range(100)], runs=1)[0].code_wait_ns == 0


def test_waits_inside_of_other_measurements_count_in_both(work: Any) -> None:
    for _ in range(5):
        with jaxmagic.stopwatch() as outer, jaxmagic.stopwatch() as inner:
            work().block_until_ready()
        if inner.timing.code_wait_ns:
            break
    assert 0 < inner.timing.code_wait_ns <= outer.timing.code_wait_ns  # type: ignore[operator]
    assert timings(work, runs=1)[0].code_wait_ns == 0


def test_another_threads_wait_is_its_own(work: Any) -> None:
    with jaxmagic.stopwatch() as watch:
        thread = threading.Thread(target=lambda: work().block_until_ready())
        thread.start()
        thread.join()
    assert watch.timing.code_wait_ns == 0


@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt, SystemExit])
def test_jax_is_as_before_afterwards(x: Any, error: type[BaseException] | None) -> None:
    before = jaxs_own()
    with contextlib.suppress(BaseException), jaxmagic.stopwatch():
        assert jaxs_own() != before
        if error is not None:
            raise error
    assert jaxs_own() == before


def test_jax_is_as_before_where_the_start_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    before = jaxs_own()

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    watch = jaxmagic.Stopwatch()
    monkeypatch.setattr(watch._fence, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        watch.start()
    assert jaxs_own() == before


def test_errors_are_those_of_jax(x: Any) -> None:
    y = x.sum()
    y.delete()
    with jaxmagic.stopwatch():
        for way in (float, lambda y: y.block_until_ready(), np.asarray):
            with pytest.raises(RuntimeError, match="deleted"):
                way(y)


def test_where_jax_cannot_be_heard_the_wait_is_not_known(work: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "wait_points", list)
    found = timings(lambda: work().block_until_ready())
    assert [each.code_wait_ns for each in found] == [None] * 5
    if kept_waiting_ns() is not None:
        assert any("Waiting inside the code cannot be observed" in str(note) for each in found for note in each.notes)


# --- on a library of our own, with a clock of our own -------------------------------------------------------------


class Library:
    """Waits, and waits inside of a wait."""

    ready = False

    def block(self) -> str:
        return "done"

    def fetch(self) -> str:
        return self.block()

    def fail(self) -> None:
        raise ValueError("failed")

    @property
    def value(self) -> str:
        return self.fetch()


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Library]]:
    def is_ready(each: Library) -> bool:
        if each.ready is None:
            raise RuntimeError("deleted")
        return each.ready

    names = ("block", "fetch", "fail", "value")
    monkeypatch.setattr(
        waits,
        "wait_points",
        lambda: [WaitPoint(Library, name, vars(Library)[name], is_ready) for name in names],
    )
    monkeypatch.setattr(waits, "_hooks", waits._Hooks())
    before = {name: vars(Library)[name] for name in names}
    yield Library
    assert {name: vars(Library)[name] for name in names} == before


def test_a_wait_lasts_from_the_call_to_its_end_and_counts_once(library: Any) -> None:
    log = WaitLog(clock=iter(range(0, 10**6, 10_000)).__next__)
    log.start()
    assert library().value == library().block() == "done"
    with pytest.raises(ValueError, match="failed"):
        library().fail()
    log.stop()
    library().block()
    assert log.between(0, 10**6) == [(0, 10_000), (20_000, 30_000), (40_000, 50_000)]
    assert log.between(5_000, 25_000) == [(5_000, 10_000), (20_000, 25_000)]
    assert log.entered == 3


@pytest.mark.parametrize("ready", [True, None], ids=["ready", "it does not say"])
def test_what_needs_no_wait_is_entered_and_not_noted(library: Any, ready: bool | None) -> None:
    log, array = WaitLog(clock=iter(range(0, 10**6, 10_000)).__next__), library()
    array.ready = ready
    log.start()
    assert array.fetch() == "done"
    log.stop()
    assert log.between(0, 2**62) == []
    assert log.entered == 2  # and the one inside


def test_a_call_that_finds_nothing_to_wait_for_is_no_wait(library: Any) -> None:
    log = WaitLog(clock=iter(range(0, 10**6, 1_000)).__next__)
    log.start()
    library().block()
    log.stop()
    assert log.between(0, 10**6) == []


def test_nothing_is_noted_when_the_code_has_returned(library: Any) -> None:
    log = WaitLog()
    log.start()
    log.pause()
    library().block()
    log.stop()
    log.stop()
    assert log.entered == 0


def test_after_many_measurements_the_functions_stay_and_hear_nothing(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "_MOST_INSTALLED", 3)
    own = library.block
    for number in range(5):
        log = WaitLog()
        log.start()
        library().block()
        log.stop()
        assert log.entered == 1
        assert (library.block is own) == (number < 2)
    assert library().block() == "done"
    waits.restore()
    assert library.block is own


def test_what_somebody_else_has_put_there_stays(library: Any) -> None:
    own, log = library.block, WaitLog()
    log.start()
    ours = library.block
    theirs = library.block = lambda self: f"theirs, {ours(self)}"
    log.stop()
    assert library.block is theirs
    assert library().block() == "theirs, done"

    library.block = ours  # they end, and put back what they had found
    assert library().block() == "done"
    log = WaitLog()
    log.start()
    log.stop()
    assert library.block is own
