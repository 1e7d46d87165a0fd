"""FLOPs of instructions, compared with XLA's own counts, with library calls, and by hand."""

from __future__ import annotations

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from recordings import all_of, module_of, trace

from jaxmagic.profiling.capture.xspace import read_recording
from jaxmagic.xla.costs.flops import flops_of, shape_without_workspace
from jaxmagic.xla.hlo_proto import TUPLE, _messages, subshapes

BF16, S8, U8, F32 = 16, 2, 6, 11


def by_xla(function: Any, *arguments: Any) -> float:
    """Return XLA's own count for the program before optimization."""
    return float(jax.jit(function).lower(*arguments).cost_analysis()["flops"])


def counted(function: Any, opcode: str, *arguments: Any) -> list[int | None]:
    return [each.flops for each in all_of(module_of(function, *arguments), opcode)]


def shape(element: int, *sizes: int) -> Any:
    return _messages()["Shape"](element_type=element, dimensions=sizes)


def call(target: str, config: Any, *parts: Any, **more: Any) -> Any:
    """Make a library call with its results."""
    made = _messages()["HloInstruction"](opcode=b"custom-call", custom_call_target=target.encode(), **more)
    made.backend_config = config if isinstance(config, bytes) else json.dumps(config).encode()
    made.shape.CopyFrom(parts[0] if len(parts) == 1 else _messages()["Shape"](element_type=TUPLE, tuple_shapes=parts))
    return made


@pytest.mark.parametrize(
    ("left", "right", "equation"),
    [
        ((3, 5), (5, 7), "ij,jk->ik"),
        ((2, 3, 5), (2, 5, 7), "bij,bjk->bik"),
        ((3, 5, 4), (5, 4, 7), "ijl,jlk->ik"),
    ],
)
def test_a_product_is_counted_as_xla_counts_it(left: Any, right: Any, equation: str) -> None:
    def f(x: Any, y: Any) -> Any:
        return jnp.einsum(equation, x, y)

    x, y = jnp.ones(left), jnp.ones(right)
    assert counted(f, "dot", x, y) == [by_xla(f, x, y)]


CONVOLUTIONS: dict[str, dict[str, Any]] = {
    "valid": {"window_strides": (1, 1), "padding": "VALID"},
    "same": {"window_strides": (1, 1), "padding": "SAME"},
    "strides": {"window_strides": (2, 3), "padding": "SAME"},
    "kernel with gaps": {"window_strides": (1, 2), "padding": "SAME", "rhs_dilation": (2, 3)},
    "transposed": {"window_strides": (1, 1), "padding": ((2, 1), (0, 3)), "lhs_dilation": (2, 3)},
    "groups": {"window_strides": (1, 1), "padding": "SAME", "feature_group_count": 2},
    "cropped": {"window_strides": (1, 1), "padding": ((-1, 0), (0, -2))},
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("order", ["NCHW", "NHWC"])
def test_a_convolution_and_its_gradients_are_counted_as_xla_counts_them(name: str, order: str) -> None:
    options = CONVOLUTIONS[name]
    groups = options.get("feature_group_count", 1)
    x = jnp.ones((2, 6, 12, 9) if order == "NCHW" else (2, 12, 9, 6))
    kernel = jnp.ones((4, 6 // groups, 3, 5) if order == "NCHW" else (3, 5, 6 // groups, 4))
    numbers = (order, "OIHW" if order == "NCHW" else "HWIO", order)

    def f(x: Any, kernel: Any) -> Any:
        return jax.lax.conv_general_dilated(x, kernel, dimension_numbers=numbers, **options)

    assert counted(f, "convolution", x, kernel) == [by_xla(f, x, kernel)]
    for which in (0, 1):
        _, backward = jax.vjp(f, x, kernel)
        given = f(x, kernel)

        def g(given: Any, which: int = which, backward: Any = backward) -> Any:
            return backward(given)[which]

        (found,) = counted(g, "convolution", given)
        assert found == pytest.approx(by_xla(g, given), rel=1e-6)


def test_a_long_kernel_is_counted_as_fast_as_a_short_one() -> None:
    x, kernel = jnp.ones((1, 1, 100_000)), jnp.ones((1, 1, 99_998))
    assert counted(lambda x, k: jax.lax.conv(x, k, (1,), "VALID"), "convolution", x, kernel) == [2 * 3 * 99_998]


def test_transforms_have_the_usual_count() -> None:
    x = jnp.ones((3, 8, 16))
    assert counted(jnp.fft.fft, "fft", x.astype(jnp.complex64)) == [5 * 24 * 16 * 4]
    assert counted(jnp.fft.rfft2, "fft", x) == [5 * 3 * 128 * 7 // 2]
    assert counted(jnp.fft.irfft, "fft", jnp.ones((3, 9), jnp.complex64)) == [5 * 3 * 16 * 4 // 2]


def test_decompositions_have_the_usual_count() -> None:
    square, sides = jnp.eye(64) + jnp.zeros((3, 1, 1)), jnp.ones((3, 64, 5))

    def calls(function: Any, *arguments: Any) -> list[int | None]:
        return counted(function, "custom-call", *arguments)

    assert calls(jnp.linalg.cholesky, square) == [3 * 64**3 // 3]
    lu, *solves = calls(jnp.linalg.solve, square, sides)
    assert (lu, solves) == (3 * 2 * 64**3 // 3, [3 * 64**2 * 5] * 2)
    assert calls(jnp.linalg.qr, square) == [3 * 4 * 64**3 // 3, 3 * 4 * 64**3 // 3]
    assert None in calls(jnp.linalg.eigh, square)  # its number of iterations is unknown


def test_the_products_of_a_library_are_counted_by_their_dimension_numbers() -> None:
    numbers = {"lhs_contracting_dimensions": ["2"], "lhs_batch_dimensions": ["0"]}
    config = {"gemm_backend_config": {"dot_dimension_numbers": numbers, "beta": 0}}
    operands = shape(BF16, 4, 2048, 1024), shape(BF16, 4, 1024, 512)
    for target in ("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8"):
        found = call(target, config, shape(BF16, 4, 2048, 512), shape(S8, 33554432))
        assert flops_of(found, operands) == 2 * 4 * 2048 * 1024 * 512
        assert subshapes(shape_without_workspace(found))[0].shape == "bf16[4,2048,512]"
    assert flops_of(call("__onednn$matmul", {}, shape(F32, 4, 2048, 512)), operands) == 2 * 4 * 2048 * 1024 * 512


def test_the_passes_of_a_convolution_of_a_library_are_counted_alike() -> None:
    """The forward pass and both gradients have the same pairs; dimension numbers describe the forward pass."""
    numbers = {
        "kernel_input_feature_dimension": 1,
        "output_feature_dimension": 1,
        "input_spatial_dimensions": [2, 3],
        "output_spatial_dimensions": [2, 3],
    }
    window = {"dimensions": [{"size": 3, "stride": 2, "padding_low": 1}] * 2}
    x, kernel, y = shape(F32, 8, 16, 33, 33), shape(F32, 32, 16, 3, 3), shape(F32, 8, 32, 17, 17)
    workspace = shape(U8, 1000)
    expected = by_xla(
        lambda x, k: jax.lax.conv_general_dilated(x, k, (2, 2), ((1, 1), (1, 1))),
        jnp.ones((8, 16, 33, 33)),
        jnp.ones((32, 16, 3, 3)),
    )
    passes = {"Forward": (x, kernel, y), "BackwardInput": (y, kernel, x), "BackwardFilter": (x, y, kernel)}
    for name, (one, other, given) in passes.items():
        made = call(f"__cudnn$conv{name}", {}, given, workspace, convolution_dimension_numbers=numbers, window=window)
        assert flops_of(made, (one, other)) == expected, name


def onednn_config(order: str, more: int, stride: int = 2, gap: int = 1) -> dict[str, Any]:
    """Return oneDNN's configuration of a convolution; some versions of XLA add 1 to some numbers, and omit zeros."""

    def numbers(*values: int) -> list[str]:
        return [str(each + more) for each in values]

    def axes(order: str, **names: str) -> dict[str, Any]:
        places = {name: order.index(letter) for name, letter in names.items()}
        return {name: str(at) for name, at in places.items() if at} | {
            "spatial_dims": numbers(order.index("H"), order.index("W"))
        }

    kernel = {"NCHW": "OIHW", "NHWC": "HWIO"}[order]
    data = {"data": axes(order, batch_dim="N", feature_dim="C")}
    window = {"pad_left": numbers(1, 1), "pad_right": numbers(1, 1), "strides": numbers(stride, stride)}
    return {
        "onednn_conv_config": {
            "dims": "2", "input": data, "output": data,
            "kernel": {"filter": axes(kernel, input_feature_dim="I", output_feature_dim="O")},
            "window": window | {"window_dilations": numbers(gap, gap)}, "feature_groups": "1",
        }
    }  # fmt: skip


@pytest.mark.parametrize("order", ["NCHW", "NHWC"])
@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize(("stride", "gap"), [(2, 1), (1, 3)])
def test_a_convolution_of_onednn_is_counted_by_its_configuration(
    order: str, more: int, stride: int, gap: int
) -> None:
    side = (33 + 2 - 2 * gap - 1) // stride + 1
    sizes = {
        "NCHW": ((8, 16, 33, 33), (32, 16, 3, 3), (8, 32, side, side)),
        "NHWC": ((8, 33, 33, 16), (3, 3, 16, 32), (8, side, side, 32)),
    }[order]
    kernel_order = {"NCHW": "OIHW", "NHWC": "HWIO"}[order]
    expected = by_xla(
        lambda x, k: jax.lax.conv_general_dilated(
            x, k, (stride, stride), ((1, 1), (1, 1)), rhs_dilation=(gap, gap),
            dimension_numbers=(order, kernel_order, order),
        ),
        *map(jnp.ones, sizes[:2]),
    )  # fmt: skip
    made = call("__onednn$convolution", onednn_config(order, more, stride, gap), shape(F32, *sizes[2]))
    assert flops_of(made, [shape(F32, *each) for each in sizes[:2]]) == expected


@pytest.mark.parametrize("config", [{}, {"onednn_conv_config": {"dims": "2"}}, onednn_config("NCHW", 5)])
def test_a_convolution_of_onednn_without_its_dimension_numbers_is_not_known(config: Any) -> None:
    sizes = (8, 16, 33, 33), (32, 16, 3, 3), (8, 32, 17, 17)
    made = call("__onednn$convolution", config, shape(F32, *sizes[2]))
    assert flops_of(made, [shape(F32, *each) for each in sizes[:2]]) is None


@pytest.mark.parametrize(("mask", "pairs"), [("NO_MASK", 256 * 128), ("CAUSAL", 128 * 129 // 2 + 128 * 128)])
def test_attention_is_counted_where_shapes_suffice(mask: str, pairs: int) -> None:
    config = {
        "cudnn_fmha_backend_config": {
            "intermediate_tensor_shape": {"dimensions": ["4", "16", "256", "128"]},
            "bmm1_dot_dimension_numbers": {"lhs_contracting_dimensions": ["3"]},
            "mask_type": mask,
            "sliding_window_length": 0,
        }
    }
    query, given = shape(BF16, 4, 256, 16, 64), shape(BF16, 4, 16, 256, 64)
    forward = call("__cudnn$fmhaSoftmax", config, given, shape(U8, 0))
    backward = call("__cudnn$fmhaSoftmaxBackward", config, given, shape(U8, 0))
    assert flops_of(forward, [query]) == 4 * 4 * 16 * pairs * 64
    assert flops_of(backward, [query]) == 10 * 4 * 16 * pairs * 64
    config["cudnn_fmha_backend_config"]["mask_type"] = "PADDING"  # lengths are data
    assert flops_of(call("__cudnn$fmhaSoftmax", config, given), [query]) is None


def test_causal_pairs_are_those_of_a_triangle() -> None:
    from jaxmagic.xla.costs.flops import _pairs

    for queries, keys in [(5, 5), (7, 3), (3, 7)]:
        assert _pairs(queries, keys, causal=True) == int(np.tril(np.ones((queries, keys))).sum())


def test_what_another_xla_writes_is_not_known() -> None:
    targets = "__cublas$gemm", "__cudnn$convForward", "__cudnn$fmhaSoftmax", "te_fused_attn_forward_ffi", "other"
    x, kernel, y = shape(F32, 8, 16, 33, 33), shape(F32, 32, 16, 3, 3), shape(F32, 8, 32, 31, 31)
    for target in targets:
        for config in (b"", b"{}", b"[1]", b"\xff"):
            assert flops_of(call(target, config, shape(F32, 3)), []) is None
            assert flops_of(call(target, config, y), [x, kernel]) is None


@pytest.mark.parametrize(
    ("name", "target", "expected"),
    [
        ("gpu_mi300_gemm", "__cublas$gemm", 2 * 8192 * 8192 * 4096),
        ("gpu_mi300_8dev_conv", "__cudnn$convForward", None),
        ("gpu_gfx950_te_attention", "te_fused_attn_forward_ffi", 4 * 2 * 16 * (2048 * 2049 // 2) * 128),
        ("gpu_gfx950_te_attention", "te_fused_attn_backward_ffi", 10 * 2 * 16 * (2048 * 2049 // 2) * 128),
    ],
)
def test_calls_of_real_recordings_are_counted(name: str, target: str, expected: int | None) -> None:
    recording = read_recording([("", trace(name).read_bytes())])
    calls = [
        each
        for module in recording.modules.values()
        for each in module.instructions.values()
        if each.opcode == "custom-call" and each.custom_call_target == target
    ]
    if expected is None:  # the convolution as XLA counts it
        expected = by_xla(
            lambda x, k: jax.lax.conv_general_dilated(x, k, (1, 2, 2), ((1, 2), (1, 1), (1, 1))),
            jax.ShapeDtypeStruct((1, 16, 32, 60, 104), jnp.bfloat16),
            jax.ShapeDtypeStruct((5120, 16, 1, 2, 2), jnp.bfloat16),
        )
    assert expected in {each.flops for each in calls}
    assert all("s8[" not in each.shape and "u8[" not in each.shape for each in calls)
