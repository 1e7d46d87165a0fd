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


def _of_nvidia(profile: Any) -> str:
    """Return the model of the device; skips the test where the rule knows too little of it."""
    model: str = profile.device_uses[0].model
    if not model.startswith("NVIDIA") or not {"bf16", "tf32"} <= set(profile.device_uses[0].peak_flops_by_type):
        pytest.skip(f"the data sheet of this device has no bfloat16 and TF32, or is unknown: {model or 'unknown'}")
    return model


@pytest.mark.parametrize(("option", "faster"), [(None, "bf16"), ("highest", "tf32")])
def test_products_of_float32_gain_what_the_rule_promises_and_outputs_differ_by_the_rounding(
    option: str | None, faster: str
) -> None:
    import jaxmagic

    keys = jax.random.split(jax.random.key(0))
    x, w = (jax.random.normal(each, (8192, 8192), "float32") for each in keys)

    def f(x: Any, w: Any) -> Any:
        return (x @ w) @ w

    with jax.default_matmul_precision(option):
        diagnosis = jaxmagic.diagnose(jax.jit(f), x, w, only=["precision"], verify=True, budget_s=30)
    assert diagnosis.profile is not None
    _of_nvidia(diagnosis.profile)
    (found,) = diagnosis.findings
    assert f"{faster[:4]}" in str(found.code).lower().replace("tensorfloat32", "tf32")
    verified = found.verified
    assert verified is not None
    assert verified.before_ns is not None
    assert verified.after_ns is not None
    assert found.cost_ns is not None
    assert verified.before_ns - verified.after_ns >= 0.7 * found.cost_ns
    # The error that the type brings, found another way: both factors rounded by hand, and multiplied in float32.
    if faster == "bf16":
        with jax.default_matmul_precision("highest"):
            exact, rounded = x @ w, x.astype("bfloat16").astype("float32") @ w.astype("bfloat16").astype("float32")
        with jax.default_matmul_precision("BF16_BF16_F32"):
            fast = x @ w
        error, expected = abs(fast - exact).max(), abs(rounded - exact).max()
        assert 0.9 * expected <= error <= 1.1 * expected


def test_products_of_bfloat16_are_left_alone(x: Any) -> None:
    import jaxmagic

    big = jax.numpy.tile(x, (4, 4))
    assert jaxmagic.diagnose(jax.jit(lambda x: x @ x), big, only=["precision"]).findings == ()
