"""A stopwatch that was started, and that nobody holds any more, has left nothing behind."""

from __future__ import annotations

import gc
import signal
import threading
from typing import Any

import jax
import pytest

import jaxmagic
from jaxmagic import interrupts
from jaxmagic.compilation.capture import listeners
from jaxmagic.runtime import private_api
from jaxmagic.timing.capture import waits
from jaxmagic.timing.capture.wait_points import wait_points


def state() -> list[Any]:
    """What a stopwatch changes while it runs: JAX's functions, its listeners and flag, the handler of Ctrl-C."""
    functions = [getattr(point.original, "fget", point.original) for point in wait_points()]
    listening = private_api.is_registered(listeners.shared._on_span)
    return [*functions, listening, jax.config.jax_explain_cache_misses, signal.getsignal(signal.SIGINT)]


@pytest.fixture
def before() -> list[Any]:
    gc.collect()
    waits.restore()
    return state()


def started() -> jaxmagic.Stopwatch:
    watch = jaxmagic.Stopwatch()
    watch.start()
    return watch


def test_a_dropped_stopwatch_leaves_jax_as_it_was(before: list[Any]) -> None:
    watch = started()
    assert state() != before
    del watch
    gc.collect()
    assert state() == before


def test_so_does_one_within_a_cycle(before: list[Any]) -> None:
    watch: Any = started()
    watch.result = watch
    del watch
    gc.collect()
    assert state() == before


def test_another_one_beside_it_goes_on(before: list[Any], x: Any) -> None:
    dropped = started()
    with jaxmagic.stopwatch() as watch:
        del dropped
        gc.collect()
        jax.jit(lambda x: x + 2)(x).block_until_ready()
    assert watch.timing.compilations
    assert watch.timing.code_wait_ns is not None
    assert state() == before


@pytest.mark.parametrize("owner", [waits._hooks, listeners.shared], ids=["waits", "compilations"])
def test_one_that_is_collected_amid_our_own_lines_is_let_go_by_the_next(before: list[Any], owner: Any) -> None:
    watch = started()
    with owner._lock:  # as when the collector runs while another one begins: to wait here would last for ever
        del watch
        gc.collect()
    assert state() != before
    with jaxmagic.stopwatch():
        pass
    assert state() == before


@pytest.mark.clock
def test_one_of_another_thread_is_let_go(before: list[Any]) -> None:
    watches: list[Any] = []
    thread = threading.Thread(target=lambda: watches.append(started()))
    thread.start()
    thread.join()
    watches.clear()
    gc.collect()
    assert state() == before


def within_a_generator() -> Any:
    with jaxmagic.stopwatch() as watch:
        yield watch


def in_another_thread(function: Any) -> list[BaseException]:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised


@pytest.mark.clock
def test_a_generator_that_another_thread_closes_leaves_nothing(before: list[Any]) -> None:
    generator = within_a_generator()
    next(generator)
    assert not in_another_thread(generator.close)
    interrupts.put_back()
    listeners.reset_here()
    assert state() == before


@pytest.mark.clock
def test_what_another_thread_cannot_switch_off_goes_with_the_next_explanation(
    before: list[Any], x: Any, caplog: pytest.LogCaptureFixture
) -> None:
    generator = within_a_generator()
    next(generator)
    in_another_thread(generator.close)
    interrupts.put_back()
    assert jax.config.jax_explain_cache_misses
    for size in (3, 4, 5):
        jax.jit(lambda x: x * 5)(x[:size])
    assert "TRACING CACHE MISS" not in caplog.text
    assert state() == before


@pytest.mark.clock
def test_one_that_another_thread_stops_says_so_and_goes_on(before: list[Any], x: Any) -> None:
    watch = started()
    (error,) = in_another_thread(watch.stop)
    assert "was started by another thread" in str(error)
    jax.jit(lambda x: x + 3)(x)
    assert watch.stop().compilations
    assert state() == before


@pytest.mark.clock
def test_a_generator_that_another_thread_ends_says_so_and_leaves_nothing(before: list[Any]) -> None:
    generator = within_a_generator()
    next(generator)
    (error,) = in_another_thread(lambda: next(generator, None))
    assert "was started by another thread" in str(error)
    with jaxmagic.stopwatch():
        pass
    assert state() == before


def test_a_handler_of_ours_that_the_users_code_puts_back_goes_behind_the_cell(before: list[Any]) -> None:
    with jaxmagic.stopwatch():
        ours = signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGINT, ours)
    interrupts.put_back()
    assert state() == before


def test_a_stopwatch_that_was_stopped_is_let_go_once(before: list[Any]) -> None:
    watch = started()
    watch.stop()
    with jaxmagic.stopwatch():
        inside = state()
        del watch
        gc.collect()
        assert state() == inside
    assert state() == before
