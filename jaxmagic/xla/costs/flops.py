"""Floating-point operations of one instruction, counted by its dimension numbers.

A multiplication and an addition are two. Counted are products and convolutions, also as calls of cuBLAS, cuDNN,
oneDNN and their like for AMD; attention of cuDNN and TransformerEngine; Fourier transforms; decompositions of LAPACK
and cuSOLVER. Padding and holes of a convolution do not count, as in XLA's own analysis. The counts of the others:

- Fourier transforms: 5 n log2(n), half of it for real numbers. https://www.fftw.org/speed/method.html
- Decompositions and triangular solves: https://www.netlib.org/lapack/lawnspdf/lawn41.pdf, page 120.
- Attention: 4 products of sizes and head dimension forward, 10 backward, half of them where the mask is causal.
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

#: Libraries whose calls give a workspace behind their results.
_LIBRARIES = ("__cublas$", "__cudnn$", "__onednn$", "__hipblas", "te_", "cusolver", "hipsolver")

_BYTES = ("s8", "u8")

#: The forward pass of attention has two products, the backward pass five.
_QK, _PV = (1, 3), (1, 2)

#: Masks of TransformerEngine that shapes suffice for: none, causal from the top left.
_NO_MASK, _CAUSAL = 0, 2


def shape_without_workspace(message: Any) -> Any:
    """The shape of what an instruction gives, without the workspace of a library."""
    parts = message.shape.tuple_shapes
    if len(parts) < 2 or not text(message.custom_call_target).startswith(_LIBRARIES):
        return message.shape
    if element_of(parts[-1].element_type)[0] not in _BYTES or len(parts[-1].dimensions) != 1:
        return message.shape
    return parts[0] if len(parts) == 2 else type(message.shape)(element_type=TUPLE, tuple_shapes=parts[:-1])


def flops_of(message: Any, operands: Iterable[Any]) -> int | None:
    """Count the FLOPs of one execution; ``None`` if the dimension numbers do not determine them.

    Args:
        message: an instruction.
        operands: the shapes of what it takes.
    """
    count = _BY_OPCODE.get(text(message.opcode))
    if count is None:
        return None
    with suppress(ArithmeticError, IndexError, KeyError, TypeError, ValueError):  # of a broken module, or another XLA
        return count(message, [list(each.dimensions) for each in operands])
    return None


def _dot(message: Any, operands: Sequence[Sequence[int]]) -> int:
    contracted = message.dot_dimension_numbers.lhs_contracting_dimensions
    return 2 * prod(message.shape.dimensions) * prod(operands[0][at] for at in contracted)


def _convolution(message: Any, operands: Sequence[Sequence[int]]) -> int:
    return _convolved(message, operands[0], operands[1], message.shape.dimensions)


def _convolved(message: Any, taken: Sequence[int], kernel: Sequence[int], given: Sequence[int]) -> int:
    """Count the FLOPs of a convolution or one of its gradients, in terms of the forward pass."""
    numbers = message.convolution_dimension_numbers
    places = prod(
        _places(window, taken[at_taken], given[at_given])
        for window, at_taken, at_given in zip(
            message.window.dimensions,
            numbers.input_spatial_dimensions,
            numbers.output_spatial_dimensions,
            strict=True,
        )
    )
    features = kernel[numbers.kernel_input_feature_dimension] * given[numbers.output_feature_dimension]
    return 2 * given[numbers.output_batch_dimension] * features * places


def _places(window: Any, taken: int, given: int) -> int:
    """Count the valid (output, kernel) positions along one axis: neither in padding nor in dilation holes."""
    hole, stride, gap = (max(each, 1) for each in (window.base_dilation, window.stride, window.window_dilation))
    short, long = sorted((window.size, given))
    step, other = (gap, stride) if short == window.size else (stride, gap)
    across = np.arange(long) * other - window.padding_low
    met = 0
    for each in range(short):
        at = across + each * step
        met += int(np.count_nonzero((at >= 0) & (at <= (taken - 1) * hole) & (at % hole == 0)))
    return met


def _fft(message: Any, operands: Sequence[Sequence[int]]) -> int:
    size = prod(message.fft_length)
    real = message.fft_type in (2, 3)  # RFFT and IRFFT, by the side that is real
    times = prod(operands[0] if message.fft_type != 3 else message.shape.dimensions) // size
    return round((2.5 if real else 5) * times * size * log2(size))


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
    return 2 * prod(_given(message)) * contracted


def _onednn(message: Any, operands: Sequence[Sequence[int]]) -> int:
    """A product in the last two axes, either of which may be transposed."""
    given = _given(message)
    return 2 * given[-1] * prod(operands[0])


def _cudnn(message: Any, operands: Sequence[Sequence[int]]) -> int:
    """The dimension numbers and the window are those of the forward pass, whichever pass it is."""
    target, given = text(message.custom_call_target), _given(message)
    if "BackwardInput" in target:
        return _convolved(message, given, operands[1], operands[0])
    if "BackwardFilter" in target:
        return _convolved(message, operands[0], given, operands[1])
    return _convolved(message, operands[0], operands[1], given)


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
    told = {name: float(each) for name, each in re.findall(r"(\w+) = ([-+.\de]+) :", text(message.backend_config))}
    causal = told["mask_type"] == _CAUSAL
    windowed = told["window_size_left"] >= 0 or told["window_size_right"] > 0
    if told["mask_type"] not in (_NO_MASK, _CAUSAL) or windowed:
        return None
    pairs = _pairs(int(told["q_max_seqlen"]), int(told["kv_max_seqlen"]), causal=causal)
    pairs *= int(told["input_batch"] * told["attn_heads"])
    heads = int(told["qk_head_dim"]), int(told["v_head_dim"])
    return _attention(pairs, *heads, backward="backward" in text(message.custom_call_target))


def _pairs(queries: int, keys: int, *, causal: bool) -> int:
    """Count the query-key pairs; with a causal mask each query attends to the keys up to its own position."""
    if not causal:
        return queries * keys
    few = min(queries, keys)
    return few * (few + 1) // 2 + (queries - few) * keys


def _attention(pairs: int, queries: int, values: int, *, backward: bool) -> int:
    return 2 * pairs * (_QK[backward] * queries + _PV[backward] * values)


def _given(message: Any) -> Sequence[int]:
    """The sizes of the first result."""
    shape = message.shape.tuple_shapes[0] if message.shape.tuple_shapes else message.shape
    sizes: Sequence[int] = shape.dimensions
    return sizes


def _config(message: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(message.backend_config)
    return found


_Count = Callable[[Any, Sequence[Sequence[int]]], int | None]

_BY_OPCODE: Mapping[str, _Count] = {
    "dot": _dot,
    "convolution": _convolution,
    "fft": _fft,
    "cholesky": _cholesky,
    "triangular-solve": _triangular,
    "custom-call": _call,
}

#: What parts of the names of called functions tell, the first that is found.
_BY_TARGET: tuple[tuple[str, _Count], ...] = (
    ("$fmha", _cudnn_attention),
    ("te_fused_attn", _transformer_engine),
    ("onednn$matmul", _onednn),
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
