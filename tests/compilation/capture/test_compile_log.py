"""Listening to JAX raises nothing into the user's call, and ignores jaxmagic's own compilations."""

from __future__ import annotations

import threading
from typing import Any

import jax
import pytest
from jax._src import compiler

from jaxmagic.compilation.capture import listeners
from jaxmagic.compilation.capture.compile_log import CompileLog
from jaxmagic.compilation.capture.listeners import unheard


@pytest.fixture
def log(x: Any) -> Any:
    log = CompileLog()
    log.start()
    yield log
    log.stop()


def test_the_stages_of_a_call_are_heard_in_their_order(log: Any, x: Any) -> None:
    jax.jit(lambda x: x + 73)(x)
    stages = [span.stage for span in log.spans]  # JAX 0.8 reports inner functions, too
    assert list(dict.fromkeys(stages)) == ["tracing", "lowering", "compilation"]
    assert all(span.start_ns <= span.end_ns for span in log.spans)
    assert {span.function for span in log.spans if span.stage != "tracing"} == {"<lambda>"}
    assert len(log.misses) == 1


def test_what_is_ours_is_not_heard(log: Any, x: Any) -> None:
    with unheard():
        jax.jit(lambda x: x + 79)(x)
    assert log.spans == []
    assert log.misses == []


def test_a_listener_that_fails_does_not_break_the_users_call(log: Any, x: Any, monkeypatch: Any) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(listeners, "Span", broken)
    monkeypatch.setattr(listeners, "Miss", broken)
    assert jax.jit(lambda x: x + 83)(x).shape == x.shape


def test_stopping_twice_is_no_error() -> None:
    log = CompileLog()
    log.start()
    log.stop()
    log.stop()


class Shown:
    """A progress that records the reports it gets."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.goes_on: Any = None

    def began(self, function: str, goes_on: Any) -> None:
        self.told.append(function)
        self.goes_on = goes_on

    def ended(self) -> None:
        self.told.append("ended")

    def close(self) -> None:
        self.told.append("closed")


@pytest.mark.clock
def test_a_compilation_is_reported_from_its_lowering_to_its_end(x: Any, monkeypatch: Any) -> None:
    shown, during = Shown(), []
    compiled = compiler.backend_compile_and_load
    monkeypatch.setattr(
        compiler, "backend_compile_and_load", lambda *a, **k: (during.append(shown.goes_on()), compiled(*a, **k))[1]
    )
    log = CompileLog(shown)
    log.start()

    def named(x: Any) -> Any:
        return x + 89

    lowered = jax.jit(named).lower(x)
    assert (shown.told, shown.goes_on()) == (["named"], False)
    lowered.compile()
    assert during == [True]
    thread = threading.Thread(target=jax.jit(lambda x: x + 97), args=(x,))
    thread.start()
    thread.join()
    log.stop()
    log.stop()
    assert shown.told == ["named", "ended", "closed"]


def test_a_progress_that_fails_does_not_break_the_users_call(x: Any, monkeypatch: Any) -> None:
    shown = Shown()
    monkeypatch.setattr(shown, "began", None)
    log = CompileLog(shown)
    log.start()
    assert jax.jit(lambda x: x + 101)(x).shape == x.shape
    log.stop()


@pytest.mark.parametrize(
    ("name", "plain"), [("jit(f)", "f"), ("f", "f"), ("jit(<lambda>)", "<lambda>"), ("f(x)", "f(x)"), (None, "?")]
)
def test_names_are_plain(name: Any, plain: str) -> None:
    assert listeners._plain_name(name) == plain
