"""The time that devices worked within some calls."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.benchmarking.capture.device_time import mark_call, take_device_time


def test_work_of_the_cpu_is_most_of_a_long_call(x: Any) -> None:
    f = jax.jit(lambda x: jnp.tanh(x @ x))
    big = jnp.ones((700, 700))
    f(big).block_until_ready()

    def call() -> None:
        with mark_call():
            f(big).block_until_ready()

    found = take_device_time(call, 4)
    assert found.problem is None
    assert found.devices == ("CPU:0",)
    assert found.call_ns is not None
    assert 0.3 * found.wall_ns < 4 * found.call_ns <= found.wall_ns


def test_work_outside_the_calls_does_not_count() -> None:
    f = jax.jit(lambda x: x @ x)
    big = jnp.ones((700, 700))
    f(big).block_until_ready()

    def call() -> None:
        f(big).block_until_ready()
        with mark_call():
            np.ones(3)

    assert take_device_time(call, 3).problem == "No device was busy."


def test_a_profiler_in_use_is_left_alone(tmp_path: Path) -> None:
    jax.profiler.start_trace(str(tmp_path))
    try:
        found = take_device_time(lambda: None, 3)
        assert found.call_ns is None
        assert "running already" in str(found.problem)
    finally:
        jax.profiler.stop_trace()  # which was the user's, and still runs
    assert list(tmp_path.rglob("*.xplane.pb"))


def test_what_a_call_raises_comes_through_and_the_profiler_is_stopped() -> None:
    with pytest.raises(ZeroDivisionError):
        take_device_time(lambda: 1 / 0, 3)
    with mark_call():
        pass
    assert take_device_time(lambda: None, 1).problem == "The profiler dropped some run markers."


@pytest.fixture(autouse=True)
def nothing_is_left_on_the_disk(tmp_path_factory: pytest.TempPathFactory, monkeypatch: Any) -> Iterator[None]:
    directory = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(directory))
    yield
    assert os.listdir(directory) == []
