"""Library calls that hold values between operations, or columns of a convolution, allocate memory of their own."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from fabricate.hlo import instruction, module
from recordings import module_of

from jaxmagic.xla.library_memory import calls_that_allocate


def fused(*inside: Any, kind: str = "__ynn_fusion", root: int | None = None) -> Any:
    """A module whose instruction 0 is a fusion of the instructions `inside`."""
    places = tuple(range(1, len(inside) + 1))
    call = instruction("fusion", called_computation_ids=(1,), fusion_kind=kind)
    return module(
        call, *inside, computations={0: (0,), 1: places}, root_ids={0: 0, 1: places[-1] if root is None else root}
    )


DOT = instruction("dot", shape="f32[8,8]")


@pytest.mark.parametrize(
    ("of", "found"),
    [
        (fused(DOT), 0),
        (fused(DOT, instruction("reduce")), 1),
        (fused(DOT, instruction("reduce"), kind="__onednn_fusion"), 1),
        (fused(DOT, instruction("reduce"), kind=""), 0),  # XLA compiles it
        (fused(DOT, instruction("reduce"), kind="__triton_gemm"), 0),  # into one kernel
        (fused(instruction("dot", shape="f32[4,8,8]")), 1),
        (fused(instruction("convolution")), 1),
        (fused(instruction("exponential"), instruction("reduce")), 0),
        (module(instruction("custom-call", custom_call_target="__onednn$matmul")), 1),
        (module(instruction("custom-call", custom_call_target="lapack_sgeqrf_ffi")), 0),
    ],
)
def test_calls_that_hold_more_than_their_result_allocate(of: Any, found: int) -> None:
    assert len(calls_that_allocate(of)) == found


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="another backend plans the memory of its libraries")
def test_attention_on_the_cpu_is_one_call_and_a_product_allocates_nothing() -> None:
    q = jnp.ones((512, 64))
    attention = module_of(lambda q: (jax.nn.softmax(q @ q.T)).sum(), q)
    if not any(each.fusion_kind for each in attention.instructions.values()):
        pytest.skip("this jaxlib leaves no products to a library")
    assert {name for name, _ in calls_that_allocate(attention)} == {"__ynn_fusion"}
    assert calls_that_allocate(module_of(lambda q: q @ q.T, q)) == []
