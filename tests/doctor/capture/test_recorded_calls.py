"""Calls of jitted functions in a real recording, counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.host_use import host_use_of
from jaxmagic.doctor.record.evidence import HostUse
from jaxmagic.profiling.capture.run import ProfileWatch


def recorded(run: Callable[[], Any]) -> HostUse:
    seen: list[Any] = []
    watch = ProfileWatch(recorded=lambda trace: (seen.append(trace), ())[1])
    watch.start()
    for _ in watch.runs():
        watch.result = run()
        watch.returned(watch.result)
    watch.stop()
    found = host_use_of(seen[0])
    assert found is not None
    return found


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

    found = recorded(run)
    assert {each.name: each.count for each in found.dispatches} == {"double": 7, "sin": 2, "add": 1}
    assert not any(each.puts for each in found.dispatches)


def test_arrays_handed_to_the_device_are_counted(double: Any) -> None:
    x = np.ones(1000, np.float32)
    found = recorded(lambda: [double(x) for _ in range(4)])
    assert [(each.name, each.count, each.puts) for each in found.dispatches] == [("double", 4, 4)]
