"""What only an accelerator can show; left out where JAX sees none. ``make gpu`` runs these."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.gpu

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True, scope="module")
def on_an_accelerator() -> None:
    if jax.default_backend() == "cpu":
        pytest.skip("JAX sees no accelerator")


@pytest.fixture
def x() -> Any:
    return jax.numpy.ones((2048, 2048), jax.numpy.bfloat16)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where recordings are left, for others to look at."""
    return Path(os.environ.get("JAXMAGIC_GPU_FOLDER", tmp_path)) / "recordings"


def test_all_that_was_started_is_over_behind_the_fence(x: Any) -> None:
    import jaxmagic

    held = [x @ x for _ in range(200)]
    jaxmagic.fence()
    assert all(each.is_ready() for each in held)


def test_most_time_of_a_profile_has_the_line_that_it_comes_from(x: Any, folder: Path) -> None:
    import jaxmagic

    @jax.jit
    def f(x: Any) -> Any:
        y = jax.numpy.sort(x.astype("float32"), axis=-1)
        return y @ y

    profile = jaxmagic.profile(f, x, logdir=folder, command_buffers=False)
    known = sum(each.time_ns for each in profile.operation_times if each.source)
    assert known >= 0.9 * sum(each.time_ns for each in profile.operation_times)
    assert profile.kernel_times
    assert profile.device_uses[0].peak_bytes


def test_the_map_of_a_program_is_that_of_xla(x: Any) -> None:
    import jaxmagic

    def f(x: Any) -> Any:
        return jax.numpy.sort(x @ x, axis=-1)

    told = jaxmagic.memory_requirement(jax.jit(f), x)
    by_xla = jax.jit(f).lower(x).compile().memory_analysis()
    assert (told.temporary_bytes, told.output_bytes) == (by_xla.temp_size_in_bytes, by_xla.output_size_in_bytes)
