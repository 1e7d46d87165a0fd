"""Counts the floating-point operations of one instruction from its dimension numbers.

A multiply-add counts as two. Counted are dots and convolutions, also as calls of cuBLAS, cuDNN, oneDNN and AMD's
counterparts; attention of cuDNN and TransformerEngine; Fourier transforms; decompositions of LAPACK and cuSOLVER.
Padding and dilation holes of a convolution do not count, as in XLA's own analysis. The other counts:

- Fourier transforms: 5 n log2(n), half of it for real numbers. https://www.fftw.org/speed/method.html
- Decompositions and triangular solves: https://www.netlib.org/lapack/lawnspdf/lawn41.pdf, page 120.
- Attention: 4 times queries x keys x head dimension forward, 10 times backward, half of it with a causal mask.
  https://arxiv.org/abs/2205.14135, https://github.com/Dao-AILab/flash-attention
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from math import log2, prod
from typing import Any

import numpy as np

from ..hlo_proto import TUPLE, element_of, text

#: Libraries whose calls return a workspace after their results.
_LIBRARIES = ("__cublas$", "__cudnn$", "__onednn$", "__hipblas", "te_", "cusolver", "hipsolver")

_BYTES = ("s8", "u8")

#: How many matrix products of attention, forward and backward, contract or return the head dimension of Q and K, or
#: of V: two in the forward pass, five in the backward pass.
_QK, _PV = (1, 3), (1, 2)

#: TransformerEngine masks for which the shapes determine the FLOPs: none, and causal from the top left.
_NO_MASK, _CAUSAL = 0, 2


def shape_without_workspace(message: Any) -> Any:
    """Return the shape of an instruction's result without the workspace of a library."""
    parts = message.shape.tuple_shapes
    if len(parts) < 2 or not text(message.custom_call_target).startswith(_LIBRARIES):
        return message.shape
    if element_of(parts[-1].element_type)[0] not in _BYTES or len(parts[-1].dimensions) != 1:
        return message.shape
    return parts[0] if len(parts) == 2 else type(message.shape)(element_type=TUPLE, tuple_shapes=parts[:-1])


def flops_of(message: Any, operands: Iterable[Any]) -> int | None:
    """Count the FLOPs of one execution; ``None`` if the dimension numbers do not determine them.

    Args:
        message: the instruction.
        operands: the shapes of its operands.
    """
    count = _BY_OPCODE.get(text(message.opcode))
    if count is None:
        return None
    with suppress(ArithmeticError, IndexError, KeyError, TypeError, ValueError):  # malformed, or another XLA
        return count(message, [list(each.dimensions) for each in operands])
    return None


def _dot(message: Any, operands: Sequence[Sequence[int]]) -> int:
    contracted = message.dot_dimension_numbers.lhs_contracting_dimensions
    return 2 * prod(message.shape.dimensions) * prod(operands[0][at] for at in contracted)


def _convolution(message: Any, operands: Sequence[Sequence[int]]) -> int:
    return _convolved(message, operands[0], operands[1], message.shape.dimensions)


def _convolved(message: Any, inputs: Sequence[int], kernel: Sequence[int], outputs: Sequence[int]) -> int:
    """Count the FLOPs of a convolution or one of its gradients, in terms of the forward pass."""
    numbers = message.convolution_dimension_numbers
    if len(numbers.input_spatial_dimensions) != len(inputs) - 2:
        raise ValueError(f"expected {len(inputs) - 2} spatial axes, got {len(numbers.input_spatial_dimensions)}")
    positions = prod(
        _valid_positions(window, inputs[input_axis], outputs[output_axis])
        for window, input_axis, output_axis in zip(
            message.window.dimensions,
            numbers.input_spatial_dimensions,
            numbers.output_spatial_dimensions,
            strict=True,
        )
    )
    features = kernel[numbers.kernel_input_feature_dimension] * outputs[numbers.output_feature_dimension]
    return 2 * outputs[numbers.output_batch_dimension] * features * positions


def _valid_positions(window: Any, inputs: int, outputs: int) -> int:
    """Count the valid (output, kernel) positions along one axis: neither in padding nor in dilation holes."""
    hole, stride, gap = (max(each, 1) for each in (window.base_dilation, window.stride, window.window_dilation))
    short, long = sorted((window.size, outputs))
    step, other = (gap, stride) if short == window.size else (stride, gap)
    across = np.arange(long) * other - window.padding_low
    valid = 0
    for index in range(short):
        at = across + index * step
        valid += int(np.count_nonzero((at >= 0) & (at <= (inputs - 1) * hole) & (at % hole == 0)))
    return valid


def _fft(message: Any, operands: Sequence[Sequence[int]]) -> int:
    size = prod(message.fft_length)
    is_real = message.fft_type in (2, 3)  # RFFT and IRFFT
    batch = prod(operands[0] if message.fft_type != 3 else message.shape.dimensions) // size  # by the real side
    return round((2.5 if is_real else 5) * batch * size * log2(size))


def _cholesky(message: Any, operands: Sequence[Sequence[int]]) -> int:
    *batch, _, size = operands[0]
    return prod(batch) * size**3 // 3


def _triangular(message: Any, operands: Sequence[Sequence[int]]) -> int:
    return prod(operands[1]) * operands[0][-1]


def _lu(message: Any, operands: Sequence[Sequence[int]]) -> int:
    *batch, rows, columns = operands[0]
    long, short = max(rows, columns), min(rows, columns)
    return prod(batch) * (3 * long * short**2 - short**3) // 3


def _qr(message: Any, operands: Sequence[Sequence[int]]) -> int:
    *batch, rows, columns = operands[0]
    long, short = max(rows, columns), min(rows, columns)
    return prod(batch) * 2 * (3 * long * short**2 - short**3) // 3


def _householder(message: Any, operands: Sequence[Sequence[int]]) -> int:
    *batch, rows, columns = operands[0]
    used = operands[1][-1]
    cubes = 12 * rows * columns * used - 6 * (rows + columns) * used**2 + 4 * used**3
    return prod(batch) * cubes // 3


def _call(message: Any, operands: Sequence[Sequence[int]]) -> int | None:
    target = text(message.custom_call_target).lower()
    count = next((each for part, each in _BY_TARGET if part in target), None)
    return None if count is None else count(message, operands)


def _gemm(message: Any, operands: Sequence[Sequence[int]]) -> int:
    numbers = _config(message)["gemm_backend_config"]["dot_dimension_numbers"]
    contracted = prod(operands[0][int(at)] for at in numbers["lhs_contracting_dimensions"])
    return 2 * prod(_first_result(message)) * contracted


def _onednn(message: Any, operands: Sequence[Sequence[int]]) -> int:
    """Count a matrix product over the last two axes, either of which may be transposed."""
    return 2 * _first_result(message)[-1] * prod(operands[0])


def _onednn_convolution(message: Any, operands: Sequence[Sequence[int]]) -> int:
    """Count a convolution of oneDNN, whose dimension numbers and window are in its configuration alone.

    Some versions of XLA add 1 to spatial axes and to all that describes the window. The axes show whether it did.
    """
    config = _config(message)["onednn_conv_config"]
    given_axes, filters, result_axes = config["input"]["data"], config["kernel"]["filter"], config["output"]["data"]
    others = {int(given_axes.get(each, 0)) for each in ("batch_dim", "feature_dim")}
    spatial = sorted(set(range(len(operands[0]))) - others)
    given = sorted(int(each) for each in given_axes["spatial_dims"])
    more = int(given != spatial)
    if given != [each + more for each in spatial]:
        raise ValueError(f"expected spatial axes {spatial}, got {given}")

    def numbers(values: Iterable[Any]) -> list[int]:
        return [int(each) - more for each in values]

    axes = numbers(filters["spatial_dims"])
    window = config["window"]
    columns = (numbers(window[each]) for each in ("pad_left", "strides", "window_dilations"))
    dimensions = [
        {"size": operands[1][axis], "padding_low": low, "stride": stride, "window_dilation": gap}
        for axis, low, stride, gap in zip(axes, *columns, strict=True)
    ]
    forward = type(message)(
        window={"dimensions": dimensions},
        convolution_dimension_numbers={
            "kernel_input_feature_dimension": int(filters.get("input_feature_dim", 0)),
            "output_batch_dimension": int(result_axes.get("batch_dim", 0)),
            "output_feature_dimension": int(result_axes.get("feature_dim", 0)),
            "input_spatial_dimensions": numbers(given_axes["spatial_dims"]),
            "output_spatial_dimensions": numbers(result_axes["spatial_dims"]),
        },
    )
    return _convolved(forward, operands[0], operands[1], _first_result(message))


def _cudnn(message: Any, operands: Sequence[Sequence[int]]) -> int:
    """Count a convolution; dimension numbers and window describe the forward pass, even in a backward pass."""
    target, result = text(message.custom_call_target), _first_result(message)
    if "BackwardInput" in target:
        return _convolved(message, result, operands[1], operands[0])
    if "BackwardFilter" in target:
        return _convolved(message, operands[0], result, operands[1])
    return _convolved(message, operands[0], operands[1], result)


def _cudnn_attention(message: Any, operands: Sequence[Sequence[int]]) -> int | None:
    config = _config(message)["cudnn_fmha_backend_config"]
    mask = config.get("mask_type", "NO_MASK")
    if mask not in ("NO_MASK", "CAUSAL", "ALIBI") or int(config.get("sliding_window_length", 0)):
        return None
    *outer, queries, keys = (int(each) for each in config["intermediate_tensor_shape"]["dimensions"])
    contracted = config["bmm1_dot_dimension_numbers"]["lhs_contracting_dimensions"]
    head = prod(operands[0][int(at)] for at in contracted)
    pairs = prod(outer) * _pairs(queries, keys, causal=mask == "CAUSAL")
    return _attention(pairs, head, head, backward="Backward" in text(message.custom_call_target))


def _transformer_engine(message: Any, operands: Sequence[Sequence[int]]) -> int | None:
    found = re.findall(r"(\w+) = ([-+.\de]+) :", text(message.backend_config))
    config = {name: float(value) for name, value in found}
    causal = config["mask_type"] == _CAUSAL
    windowed = config["window_size_left"] >= 0 or config["window_size_right"] > 0
    if config["mask_type"] not in (_NO_MASK, _CAUSAL) or windowed:
        return None
    pairs = _pairs(int(config["q_max_seqlen"]), int(config["kv_max_seqlen"]), causal=causal)
    pairs *= int(config["input_batch"] * config["attn_heads"])
    heads = int(config["qk_head_dim"]), int(config["v_head_dim"])
    return _attention(pairs, *heads, backward="backward" in text(message.custom_call_target))


def _pairs(queries: int, keys: int, *, causal: bool) -> int:
    """Count the query-key pairs; with a causal mask each query attends to the keys up to its own position."""
    if not causal:
        return queries * keys
    few = min(queries, keys)
    return few * (few + 1) // 2 + (queries - few) * keys


def _attention(pairs: int, qk_head: int, v_head: int, *, backward: bool) -> int:
    return 2 * pairs * (_QK[backward] * qk_head + _PV[backward] * v_head)


def _first_result(message: Any) -> Sequence[int]:
    """Return the dimensions of the first result."""
    shape = message.shape.tuple_shapes[0] if message.shape.tuple_shapes else message.shape
    dimensions: Sequence[int] = shape.dimensions
    return dimensions


def _config(message: Any) -> Mapping[str, Any]:
    config: Mapping[str, Any] = json.loads(message.backend_config)
    return config


_Count = Callable[[Any, Sequence[Sequence[int]]], int | None]

_BY_OPCODE: Mapping[str, _Count] = {
    "dot": _dot,
    "convolution": _convolution,
    "fft": _fft,
    "cholesky": _cholesky,
    "triangular-solve": _triangular,
    "custom-call": _call,
}

#: How to count calls by a part of the target's name; the first match counts.
_BY_TARGET: tuple[tuple[str, _Count], ...] = (
    ("$fmha", _cudnn_attention),
    ("te_fused_attn", _transformer_engine),
    ("onednn$matmul", _onednn),
    ("onednn$convolution", _onednn_convolution),
    ("$conv", _cudnn),
    ("$gemm", _gemm),
    ("$lt$matmul", _gemm),
    ("potrf", _cholesky),
    ("cholesky", _cholesky),
    ("trsm", _triangular),
    ("triangularsolve", _triangular),
    ("getrf", _lu),
    ("geqrf", _qr),
    ("orgqr", _householder),
    ("ungqr", _householder),
)
