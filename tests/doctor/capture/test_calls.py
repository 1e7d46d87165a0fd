"""Calls of jitted functions in a recording, counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.capture.calls import Calls, calls_in
from jaxmagic.profiling.capture.run import ProfileWatch


def recorded(run: Callable[[], Any]) -> Calls:
    seen: list[Any] = []
    watch = ProfileWatch(recorded=lambda trace: (seen.append(trace), ())[1])
    watch.start()
    for _ in watch.runs():
        watch.result = run()
        watch.returned(watch.result)
    watch.stop()
    return calls_in(seen[0])


@pytest.fixture
def double() -> Any:
    @jax.jit
    def double(x: Any) -> Any:
        return 2 * x

    return double


def test_calls_are_counted_by_name(double: Any) -> None:
    x = jnp.ones(10)

    def run() -> Any:
        y = x
        for _ in range(7):
            y = double(y)
        return jnp.sin(y) + jnp.sin(x)

    calls = recorded(run)
    assert calls.counts == {"double": 7, "sin": 2, "add": 1}
    assert calls.device_puts == 0


def test_arrays_handed_to_the_device_are_counted(double: Any) -> None:
    x = np.ones(1000, np.float32)
    calls = recorded(lambda: [double(x) for _ in range(4)])
    assert calls.counts == {"double": 4}
    assert calls.device_puts == 4


def test_calls_of_the_profiled_run_are_in_the_evidence(double: Any) -> None:
    diagnosis = jaxmagic.diagnose(lambda x: [double(x) for _ in range(5)], jnp.ones(3))
    assert diagnosis.profile is not None
    assert diagnosis.warm
