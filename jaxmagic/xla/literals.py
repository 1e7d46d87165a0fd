"""Reads the values of constants, and compares them with arrays."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from .hlo import Literal

#: Fields that hold values as they lie in memory.
_AS_IN_MEMORY = (
    "preds", "u8s", "s8s", "u16s", "s16s", "f16s", "bf16s", "f32s", "f64s", "c64s", "c128s",
)  # fmt: skip

#: Fields that hold values as varints, with their types.
_VARINTS: Mapping[str, type[np.generic]] = {
    "s32s": np.int32,
    "s64s": np.int64,
    "u32s": np.uint32,
    "u64s": np.uint64,
}

#: Smaller constants are not read.
LEAST_BYTES = 1024


def read_literal(message: Any) -> Literal | None:
    """Read the values in a ``LiteralProto``; ``None`` if they are smaller than `LEAST_BYTES` or of an unread type."""
    data = next((found for field in _AS_IN_MEMORY if (found := getattr(message, field))), b"")
    for field, kind in _VARINTS.items():
        if found := getattr(message, field):
            data = _integers(found).astype(kind).tobytes()
    if len(data) < LEAST_BYTES:
        return None
    return Literal(tuple(message.shape.dimensions), tuple(message.shape.layout.minor_to_major), data)


def _integers(data: bytes) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Decode varints: seven bits per byte, lowest first; the eighth bit is set in all bytes but the last."""
    raw = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(raw < 128)
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts + 1
    values = np.zeros(len(ends), np.uint64)
    for place in range(int(lengths.max(initial=0))):
        has = lengths > place
        bits = (raw[starts[has] + place] & 127).astype(np.uint64)
        values[has] |= bits << np.uint64(7 * place)
    return values


def is_copy(literal: Literal, array: np.ndarray[Any, Any]) -> bool:
    """Return whether the literal has the values of `array`, whatever its layout, possibly in another shape.

    >>> w = np.arange(6, dtype=np.int8).reshape(2, 3)
    >>> is_copy(Literal((2, 3), (1, 0), bytes([0, 1, 2, 3, 4, 5])), w)
    True
    >>> is_copy(Literal((2, 3), (0, 1), bytes([0, 3, 1, 4, 2, 5])), w)
    True
    """
    if array.nbytes != len(literal.data) or array.size != prod(literal.dimensions) or array.dtype.hasobject:
        return False
    order = literal.minor_to_major or tuple(reversed(range(len(literal.dimensions))))
    laid_out = array.reshape(literal.dimensions).transpose(tuple(reversed(order)))
    return bool(np.array_equal(laid_out.reshape(-1).view(np.uint8), np.frombuffer(literal.data, np.uint8)))
