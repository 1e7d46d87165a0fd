"""`precision`: products of float32 on GPUs, planted in evidence, since what they cost is known on GPUs only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from fabricate.profiling import MS, fabricated, operation, use
from gathered_evidence import evidence_of

import jaxmagic
from jaxmagic.doctor.analysis.faster_products import faster_products
from jaxmagic.doctor.capture.compiled.products import products_of
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.record.program import ProductCount
from jaxmagic.doctor.rules import precision
from jaxmagic.profiling.analysis.data_sheets import DATA_SHEETS
from jaxmagic.profiling.record.profile import DeviceUse, OperationTime, Profile
from jaxmagic.timing.record import Timing

#: A product of 8192 rows and columns, twice: 1.1 TFLOP, 3 times 256 MiB.
FLOPS, BYTES = 2 * 8192**3, 3 * 4 * 8192**2


def step(x: jax.Array, w: jax.Array) -> jax.Array:
    y = jnp.tanh(x @ w)
    return y @ w


@pytest.fixture(scope="module")
def gathered() -> Evidence:
    """The evidence of a small program on the CPU, in which the profile is replaced."""
    return evidence_of(jax.jit(step), jnp.ones((4, 4)), jnp.ones((4, 4)))


def gpu(model: str = "NVIDIA H100 SXM", **changes: Any) -> DeviceUse:
    sheet = next(each for each in DATA_SHEETS if each.name == model)
    values = {
        "model": model,
        "peak_flops": sheet.flops.get("bf16"),
        "peak_bytes": sheet.bytes_per_s,
        "peak_flops_by_type": dict(sheet.flops),
    }
    return replace(use("GPU:0", 30 * MS), **(values | changes))


def product(of_peak: float = 0.7, rate: float = 494.7e12, **changes: Any) -> OperationTime:
    """A product that runs once per run, at a share of a peak rate."""
    time_ns = int(2 * 1e9 * FLOPS / rate / of_peak)
    values = {
        "module": "jit_step",
        "category": "matmul",
        "flops": FLOPS,
        "accessed_bytes": BYTES,
        "multiplied": "f32",
    }
    return operation("dot.1", time_ns, device="GPU:0", **(values | changes))


def warm(evidence: Evidence, run_ns: float) -> Timing:
    """A run that compiled nothing."""
    nothing = dict.fromkeys(("wait_ns", "tracing_ns", "lowering_ns", "compilation_ns", "cache_retrieval_ns"), 0)
    return replace(evidence.first, dispatch_ns=int(run_ns), unreached_ns=None, compilations=(), **nothing)


def found_in(
    evidence: Evidence,
    *operations: OperationTime,
    device: DeviceUse | None = None,
    run_ns: float = 4 * MS,
    **changes: Any,
) -> list[RuleFinding]:
    profile: Profile = replace(
        fabricated(), device_uses=(gpu() if device is None else device,), operation_times=operations
    )
    timed = (warm(evidence, run_ns),)
    return list(precision.look(replace(evidence, profile=profile, timed=timed, **changes)))


def with_products(evidence: Evidence, function: Callable[..., Any], *args: Any) -> Evidence:
    """Replace the products by those of another function."""
    assert evidence.programs is not None
    (program,) = evidence.programs
    products = products_of(jax.make_jaxpr(function)(*args))
    return replace(evidence, programs=(replace(program, products=products),))


def test_products_in_tf32_are_found_and_what_bfloat16_spares(gathered: Evidence) -> None:
    (found,) = found_in(gathered, product())
    time_ns = 1e9 * FLOPS / 494.7e12 / 0.7
    converting_ns = 1e9 * 1.5 * BYTES / 3.35e12
    assert found.cost_ns == pytest.approx(time_ns / 2 - converting_ns, rel=0.001)
    assert str(found.found) == (
        "step spends 3.18 ms per run in products of float32, 79 % of the run. This GPU computes them in TF32."
    )
    assert found.basis == "estimated"
    assert found.code == 'jax.config.update("jax_default_matmul_precision", "BF16_BF16_F32")'


def test_full_precision_that_an_option_asks_for_is_found_and_what_tf32_spares(gathered: Evidence) -> None:
    with jax.default_matmul_precision("highest"):
        full = with_products(gathered, step, jnp.ones((4, 4)), jnp.ones((4, 4)))
    slow = product(rate=66.9e12)
    (found,) = found_in(full, slow, run_ns=30 * MS, matmul_precision="highest")
    time_ns = 1e9 * FLOPS / 66.9e12 / 0.7
    assert found.cost_ns == pytest.approx(time_ns * (1 - 66.9 / 494.7), rel=0.001)
    assert "tensorfloat32" in str(found.code)
    assert "full float32" in str(found.found)


def test_gradients_of_optax_are_found(gathered: Evidence) -> None:
    optax = pytest.importorskip("optax")

    def update(x: jax.Array, w: jax.Array) -> jax.Array:
        grads = jax.grad(lambda w: step(x, w).sum())(w)
        changes, _ = optax.sgd(0.1).update(grads, optax.sgd(0.1).init(w))
        return optax.apply_updates(w, changes)

    (found,) = found_in(with_products(gathered, update, jnp.ones((4, 4)), jnp.ones((4, 4))), product())
    assert found.cost_ns


def test_code_sets_the_precision_around_the_users_own(gathered: Evidence) -> None:
    (found,) = found_in(gathered, product(), code="y = step(x, w)\nz = y + 1")
    assert found.code == 'with jax.default_matmul_precision("BF16_BF16_F32"):\n    y = step(x, w)\n    z = y + 1'


def test_several_devices_count_as_one(gathered: Evidence) -> None:
    (alone,) = found_in(gathered, product())
    second = replace(product(), device="GPU:1")
    profile = replace(
        fabricated(), device_uses=(gpu(), replace(gpu(), device="GPU:1")), operation_times=(product(), second)
    )
    timed = (warm(gathered, 4 * MS),)
    (both,) = precision.look(replace(gathered, profile=profile, timed=timed))
    assert both.cost_ns == pytest.approx(alone.cost_ns)


@pytest.mark.parametrize(
    ("operation", "device"),
    [
        (product(), replace(gpu(), device="CPU:0", model="")),  # a CPU
        (product(), gpu("TPU v6 Lite")),  # bfloat16 already
        (product(rate=163.4e12), gpu("AMD Instinct MI300X")),  # what it computes by default is not known here
        (product(rate=8.1e12), gpu("NVIDIA T4")),  # has no bfloat16
        (product(), gpu(peak_flops_by_type={})),  # given by the user: not by type
        (product(), gpu(peak_bytes=None)),
        (product(multiplied="bf16"), gpu()),
        (product(multiplied="f64"), gpu()),
        (product(0.49), gpu()),  # bound by something else
        (product(1.2), gpu()),  # in another type than it is taken for
        (product(rate=66.9e12), gpu()),  # NVIDIA_TF32_OVERRIDE=0: full float32
        (product(flops=None), gpu()),
        (product(accessed_bytes=None), gpu()),
        (product(accessed_bytes=BYTES * 20), gpu()),  # bound by memory
        (product(category="convolution"), gpu()),
        (product(category="sort"), gpu()),
        (product(module="jit_other"), gpu()),
    ],
)
def test_other_products_are_left_alone(gathered: Evidence, operation: OperationTime, device: DeviceUse) -> None:
    assert found_in(gathered, operation, device=device) == []


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: jnp.dot(x, w, precision="highest"),
        lambda x, w: jnp.dot(x, w, precision="high"),
        lambda x, w: jnp.dot(x, w, precision="BF16_BF16_F32") @ w,
        lambda x, w: jnp.dot(x, w, precision="default"),
        lambda x, w: jax.lax.conv(x[None, None], w[None, None], (1, 1), "SAME")[0, 0] @ w,
        lambda x, w: (x.astype(jnp.float16) @ w.astype(jnp.float16)).astype(x.dtype) @ w,
        lambda x, w: x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16),
        lambda x, w: x + w,
    ],
)
def test_programs_with_other_products_are_left_alone(gathered: Evidence, function: Callable[..., Any]) -> None:
    assert found_in(with_products(gathered, function, jnp.ones((4, 4)), jnp.ones((4, 4))), product()) == []


def test_full_precision_without_the_option_is_left_alone(gathered: Evidence) -> None:
    with jax.default_matmul_precision("highest"):
        full = with_products(gathered, step, jnp.ones((4, 4)), jnp.ones((4, 4)))
    assert found_in(full, product(rate=66.9e12), run_ns=30 * MS) == []
    assert found_in(full, product(rate=66.9e12), run_ns=30 * MS, matmul_precision="BF16_BF16_F32") == []


def test_least_share_of_a_run_that_counts(gathered: Evidence) -> None:
    (found,) = found_in(gathered, product())
    assert found.cost_ns is not None
    assert found_in(gathered, product(), run_ns=found.cost_ns * 9.99)
    assert found_in(gathered, product(), run_ns=found.cost_ns * 10.01) == []


def test_least_share_of_the_peak_rate_that_counts(gathered: Evidence) -> None:
    assert [len(found_in(gathered, product(each))) for each in (0.499, 0.501, 1.099, 1.101)] == [0, 1, 1, 0]


def test_product_inside_a_loop_is_read() -> None:
    def loop(x: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda c, _: (jax.jit(jnp.dot)(c, x), None), x, length=3)[0]

    (found,) = products_of(jax.make_jaxpr(jax.grad(lambda x: loop(x).sum()))(jnp.ones((3, 3)))) or ()
    assert (found.primitive, found.multiplied, found.precision) == ("dot_general", "float32", "")
    assert found.count == 3


def test_evidence_has_the_option_and_the_products() -> None:
    with jax.default_matmul_precision("highest"):
        evidence = evidence_of(jax.jit(lambda x: x @ x + 3), jnp.ones((4, 4)))
    assert evidence.matmul_precision == "highest"
    assert evidence.programs is not None
    assert [each.precision for each in evidence.programs[0].products or ()] == ["highest"]


def test_recorded_products_of_bfloat16_are_left_alone_and_are_found_as_those_of_a_gpu_with_tf32() -> None:
    recorded = jaxmagic.read_profile(Path(__file__).parents[2] / "recorded" / "gpu_mi300_gemm.xplane.pb")
    products = (ProductCount(primitive="dot_general", multiplied="float32", precision="", count=1),)
    assert faster_products(recorded, "jit_dot", products, None) is None
    largest = next(each for each in recorded.operation_times if each.multiplied)
    single = replace(
        recorded,
        device_uses=(gpu("NVIDIA B200", busy_ns=recorded.device_uses[0].busy_ns),),
        operation_times=(replace(largest, multiplied="f32"),),
    )
    found = faster_products(single, "jit_dot", products, None)
    assert found is not None
    assert (found.now, found.faster, found.largest.name) == ("tf32", "bf16", "custom-call.1")
    # 550 GFLOP in 611 µs are 82 % of the peak rate; 268 MB, converted, move in 50 µs.
    assert largest.mean_ns == 611001
    assert found.spared_ns * (single.runs or 1) / largest.count == pytest.approx(
        611001 * (1 - 1100 / 2250) - 50332, rel=0.001
    )
