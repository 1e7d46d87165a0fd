"""When a thread compiled something."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.compilation.capture import compiling_times
from jaxmagic.compilation.capture.compiling_times import CompilingTimes
from jaxmagic.compilation.record.events import Span
from jaxmagic.runtime.clock import now_ns

MS = 1_000_000


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., CompilingTimes]:
    """Stages between two times in ms, the last of which is when they have been noted."""

    def make(*stages: tuple[Any, int, int, int]) -> CompilingTimes:
        times = CompilingTimes()
        times.start()
        for stage, start, end, noted in stages:
            monkeypatch.setattr(compiling_times, "now_ns", lambda noted=noted: noted * MS)
            own = Span(
                stage=stage,
                function="f",
                start_ns=start * MS,
                end_ns=end * MS,
                thread=threading.get_ident(),
                thread_name="main",
            )
            times._log.add_span(own)
        times.stop()
        return times

    return make


def test_the_stages_of_one_compilation_follow_each_other(planted: Any) -> None:
    times = planted(("tracing", 10, 11, 11), ("lowering", 12, 15, 16), ("compilation", 17, 50, 55))
    assert times.within(0, 100 * MS) == 45 * MS
    assert times.within(54 * MS, 100 * MS) == 1 * MS
    assert [each * MS in times for each in (9, 10, 16, 54, 55)] == [False, True, True, True, False]


def test_between_two_compilations_the_code_runs(planted: Any) -> None:
    times = planted(
        ("tracing", 10, 11, 11), ("lowering", 21, 22, 22), ("tracing", 23, 24, 24), ("tracing", 20, 30, 30)
    )
    assert times.within(0, 100 * MS) == 11 * MS
    assert times.within(15 * MS, 25 * MS) == 5 * MS


@pytest.mark.clock
def test_only_the_own_thread_counts() -> None:
    times, began_ns = CompilingTimes(), now_ns()
    times.start()
    try:
        thread = threading.Thread(target=lambda: jax.jit(lambda x: x + 1)(jnp.zeros(3)))
        thread.start()
        thread.join()
        others_ns = now_ns()
        jax.jit(lambda x: x + 2)(jnp.zeros(3))
    finally:
        times.stop()
    assert times.within(began_ns, others_ns) == 0
    assert times.within(others_ns, now_ns()) > 0
    times.stop()
