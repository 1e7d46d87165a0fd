"""Candidates under the profiler: real calls, and what stands in the way."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.benchmarking.capture.runner import runner_of
from jaxmagic.comparison.capture.profile_calls import profile_of

pytestmark = pytest.mark.clock


@jax.jit
def sorts(x: Any) -> Any:
    return jnp.sort(x)


def test_a_call_is_profiled_without_what_makes_its_arguments() -> None:
    def setup() -> tuple[Any]:
        return (jnp.sin(jnp.ones(200_001)),)

    runner = runner_of(sorts, (), {}, setup)
    runner.first_call()
    found = profile_of(runner, "sorts(x)")
    assert found.runs == 3
    assert {each.category for each in found.operation_times} == {"sort"}
    assert {each.kind for each in found.notes} <= {"profiling.lines_of_earlier_calls", "profiling.compiled_earlier"}


def test_a_profiler_in_use_is_left_alone_and_that_is_said(tmp_path: Any) -> None:
    runner = runner_of(sorts, (jnp.ones(100),), {})
    runner.first_call()
    jax.profiler.start_trace(str(tmp_path))
    try:
        found = profile_of(runner, None)
    finally:
        jax.profiler.stop_trace()
    assert found.device_uses == ()
    assert "running already" in str(found.notes[0])


def test_code_that_fails_now_leaves_no_profiler_behind() -> None:
    calls = 0

    def fails_later() -> Any:
        nonlocal calls
        calls += 1
        if calls > 2:
            raise RuntimeError("no more")
        return sorts(jnp.ones(100))

    runner = runner_of(fails_later, (), {})
    runner.first_call()
    found = profile_of(runner, None)
    assert any("no more" in str(note) for note in found.notes)
    with jaxmagic.profiler():  # would be in use
        pass


def test_candidates_are_compared_line_by_line() -> None:
    def slow(x: Any) -> Any:
        y = jnp.sort(x)
        return y @ x

    def fast(x: Any) -> Any:
        return x @ x

    x = jnp.ones((300, 300))
    found = jaxmagic.compare({"slow": jax.jit(slow), "fast": jax.jit(fast)}, x, profile=True, budget_s=0.1)
    lines = found.to_frame("lines").set_index("line")
    assert lines["change"]["y = jnp.sort(x)"] == "vanished"
    assert "sort f32[300,300]" in set(found.to_frame("operations")["operation"])
    again = found.measure_again
    assert again is not None
    assert all(each.profile is not None for each in again(0.1).candidates)


def test_numbers_of_devices_make_a_table() -> None:
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    def make(devices: int) -> tuple[Any, Any]:
        mesh = Mesh(jax.devices()[:devices], ("i",))
        spec = PartitionSpec(None, "i")
        f = jax.shard_map(lambda x: jax.lax.psum(x @ x.T, "i"), mesh=mesh, in_specs=spec, out_specs=PartitionSpec())
        return jax.jit(f), jax.device_put(jnp.ones((256, 256)), NamedSharding(mesh, spec))

    found = jaxmagic.sweep({"f": lambda f, x: f(x)}, make, devices=[1, 2, 4], profile=True, budget_s=9, rtol=0.9)
    frame = found.to_frame("scaling")
    assert frame["devices"].tolist() == [1, 2, 4]
    assert (frame["exposed_share"] > 0).all()
    assert frame["speedup"][0] == 1


def test_lines_of_an_earlier_call_are_not_those_of_a_candidate() -> None:
    x = jnp.ones((123, 123))
    product = lambda: x @ x  # noqa: E731
    product()
    runner = runner_of(lambda: jnp.matmul(x, x), (), {})
    found = profile_of(runner, "matmul(x, x)", runner.first_call().compilations)
    assert found.place_times
    assert not any(frame.function.endswith("<lambda>") for each in found.place_times for frame in each.stack)
    assert any("earlier calls: matmul" in str(note) for note in found.notes)
    other = runner_of(lambda: jnp.cos(x), (), {})
    found = profile_of(other, "cos(x)", other.first_call().compilations)
    assert any(frame.function.endswith("<lambda>") for each in found.place_times for frame in each.stack)
