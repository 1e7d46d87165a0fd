"""Ctrl-C around the profiler and in the queues: the profiler is released, and the interrupt stays an interrupt."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import jax
import pytest
from injected import profiler_session
from shells import Session

import jaxmagic
from jaxmagic.profiling.capture import profiler_session as profiler
from jaxmagic.timing.capture.fence_queues import Queue

_CELLS = {
    "jaxprof": "%jaxprof f(x)",
    "cold": "%jaxprof --cold f(x)",
    "device": "%jaxtimeit -n1 -r3 --device f(x)",
    "compare": "%%jaxcompare -r 2 --profile\na: f(x)\nb: f(x)",
}


def interrupted(original: Callable[..., Any], *, before: bool) -> Callable[..., Any]:
    """Wrap a function so that each call is interrupted right before or after it."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if before:
            signal.raise_signal(signal.SIGINT)
        found = original(*args, **kwargs)
        if not before:
            signal.raise_signal(signal.SIGINT)
        return found

    return function


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("name", ["start_trace", "stop_trace"])
@pytest.mark.parametrize("cell", _CELLS)
def test_the_profiler_is_let_go(
    session: Session, monkeypatch: pytest.MonkeyPatch, cell: str, name: str, before: bool
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(jax.profiler, name, interrupted(getattr(jax.profiler, name), before=before))
        session.shell.run_cell(_CELLS[cell])
    assert profiler_session() is None
    assert not profiler._recording
    session.run("%jaxprof -v kept f(x)")
    assert not any("already" in str(note) for note in session.shell.user_ns["kept"].notes)


@pytest.mark.parametrize("magic", ["%jaxtime", "%jaxmem", "%jaxprof"])
def test_an_interrupt_in_the_queues_is_no_error_to_be_swallowed(
    session: Session, monkeypatch: pytest.MonkeyPatch, magic: str
) -> None:
    session.run("f(x)")
    monkeypatch.setattr(Queue, "ask", interrupted(Queue.ask, before=True))
    session.run(f"{magic} --no-raise-error f(x)", fails=KeyboardInterrupt)
    monkeypatch.undo()
    session.run(f"{magic} --no-raise-error f(x)")
    assert jaxmagic.last() is not None
