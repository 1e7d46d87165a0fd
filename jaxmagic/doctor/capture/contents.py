"""Summarizes the contents of buffers and arrays, which hold no objects, so that a change of them is seen."""

from __future__ import annotations

import array
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ...records.attribute_names import Step
from ...runtime.around import is_a, is_exactly, of_type
from ...runtime.copies import clone_of, held_by_ref, unguarded

#: Larger buffers are told apart by their sizes and ends.
_MOST_BYTES = 2**18

#: Larger NumPy arrays are told apart by some of their elements.
_MOST_ARRAY_BYTES = 2**24
_SAMPLED = 2**14

#: The bytes of arrays of JAX, at most, that are read. Whether others have changed is unknown.
_MOST_READ_BYTES = 2**30

#: The contents of a larger ``jax.Ref`` are not read.
_MOST_REF_BYTES = 2**28

#: The types of what ``open`` returns.
FILES = io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.FileIO


def content_of(value: Any) -> tuple[Any, ...] | None:
    """Return a size and checksum, and the position in a stream; ``None`` if this is no buffer, or a closed stream.

    Of a file that is open, it is the position; text that waits to be written is written for that.

    >>> content_of(bytearray(b"ab")) == content_of(bytearray(b"ab")) != content_of(bytearray(b"ac"))
    True
    >>> content_of(np.zeros(2)) == content_of(np.zeros(2)) != content_of(np.ones(2))
    True
    """
    with suppress(ValueError, OSError):
        if is_exactly(value, *FILES):
            return _position(value)
        if is_exactly(value, bytearray) or is_exactly(value, array.array):
            return _summary(memoryview(value))
        if is_exactly(value, io.BytesIO):
            return value.tell(), *_summary(value.getbuffer())
        if is_exactly(value, io.StringIO):
            return value.tell(), hash(value.getvalue())
        if is_a(value, np.ndarray):
            plain = np.ndarray.view(value, np.ndarray)
            if not plain.dtype.hasobject:
                return plain.shape, plain.dtype.str, zlib.crc32(_elements(plain).tobytes())
        in_ref = held_by_ref(value)
        if in_ref is not None and in_ref.nbytes <= _MOST_REF_BYTES:
            return content_of_array(in_ref)
    return None


class Contents:
    """Reads what is in arrays of JAX, and in containers of arrays and plain values.

    What replaces one of these may equal it: ``nnx.jit`` puts all arrays and containers of its modules back as new
    ones.

    Args:
        held_by: returns the parts of a container.
        plain: the ids of the types of plain values.
    """

    def __init__(self, held_by: Callable[[Any], Iterable[tuple[Step, Any]]], plain: Collection[int]) -> None:
        self._held_by, self._plain = held_by, plain
        self._known: dict[int, tuple[Any, Any]] = {}
        self._left_bytes = _MOST_READ_BYTES

    def of_parts(self, value: Any) -> dict[Step, Any]:
        """Return the contents of the parts of an object, by the steps that lead to them, as far as known."""
        with suppress(Exception):
            contents = [(step, self.of(part)) for step, part in self._held_by(value) if self._is_read(part)]
            return {step: content for step, content in contents if content is not None}
        return {}

    def of(self, part: Any) -> Any:
        """Return what equals the same of an object with the same contents, or ``None``.

        It is ``None`` if the contents are unknown. Other objects have no contents, and equal themselves.
        """
        if id(type(part)) in self._plain:
            return type(part), part
        if not self._is_read(part):
            return id(part)
        if id(part) not in self._known:
            self._known[id(part)] = part, None  # a container may lead to itself
            self._known[id(part)] = part, self._read(part)
        return self._known[id(part)][1]

    def _is_read(self, part: Any) -> bool:
        return is_array(part) or is_a(part, (tuple, list, dict)) or Mapping in of_type("__mro__", type(part))

    def _read(self, part: Any) -> Any:
        if is_array(part):
            if part.nbytes > self._left_bytes:
                return None
            self._left_bytes -= part.nbytes
            return content_of_array(part)
        contents = [(step, self.of(each)) for step, each in self._held_by(part)]
        return None if any(each is None for _, each in contents) else (type(part), contents)


def is_array(value: Any) -> bool:
    """Return whether a value is an array, or a scalar of NumPy, by its class; a ``jax.Ref`` is none."""
    return hasattr(type(value), "dtype") and hasattr(type(value), "shape") and held_by_ref(value) is None


def content_of_array(array: Any) -> tuple[Any, ...] | None:
    """Return type, shape and a checksum of the parts of an array of JAX.

    Returns ``None`` for anything else, and for an array that cannot be read: it was deleted, or has parts on other
    hosts. No program runs for this, and the array keeps neither a copy on the host, as it would for ``np.asarray``,
    nor arrays of its shards.
    """
    import jax

    with suppress(Exception):
        if isinstance(array, jax.Array):
            is_key = jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key)
            data = clone_of(jax.random.key_data(array) if is_key else array)
            if data.is_fully_replicated:
                return str(array.dtype), array.shape, _checksum(data)
            if data.is_fully_addressable:
                parts = (each for each in data.addressable_shards if each.replica_id == 0)
                return str(array.dtype), array.shape, *((str(each.index), _checksum(each.data)) for each in parts)
    return None


def _checksum(part: Any) -> int:
    values = unguarded(np.asarray, part.addressable_data(0))  # a new object of a clone, which keeps what is read
    return zlib.crc32(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)


def _position(file: Any) -> tuple[Any, ...] | None:
    """Return the position in an open file, but not for a terminal or pipe, and not for what ``print`` writes to."""
    if any(file is each for each in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)):
        return None
    return (file.tell(),) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None


def _elements(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return all elements of an array, or some of a large one, spread over it."""
    if values.nbytes <= _MOST_ARRAY_BYTES:
        return values
    return values.flat[:: values.size // _SAMPLED]


def _summary(buffer: memoryview) -> tuple[int, int]:
    with buffer:
        if buffer.nbytes <= _MOST_BYTES:
            return buffer.nbytes, zlib.crc32(buffer)
        half = _MOST_BYTES // 2 // buffer.itemsize
        return buffer.nbytes, zlib.crc32(buffer[-half:], zlib.crc32(buffer[:half]))
