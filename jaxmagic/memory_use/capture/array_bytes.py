"""Computes the bytes of arrays, including those with elements smaller than a byte."""

from __future__ import annotations

import functools
from math import prod
from typing import Any

#: Element sizes that are packed into bytes. Elements of one bit take a byte each.
_PACKED_BITS = (2, 4)


def bytes_of(elements: int, dtype: Any) -> int:
    """Return the bytes of `elements` elements, without padding. JAX's ``nbytes`` counts at least a byte for each.

    >>> import jax.numpy as jnp
    >>> bytes_of(1001, jnp.dtype("int4")), bytes_of(1001, jnp.dtype("int16"))
    (501, 2002)
    """
    return -(-elements * _bits(dtype) // 8)


def device_bytes(array: Any) -> int:
    """Return the bytes of an array on all its devices together, as the backend reports them, including padding.

    Raises:
        Exception: the backend does not report them, or the array was deleted.
    """
    reported = int(array.on_device_size_in_bytes())
    dtype = array.dtype
    if dtype.itemsize != 1 or (bits := _bits(dtype)) == 8:
        return reported
    sharding = array.sharding
    devices = len(sharding.device_set)
    elements = prod(sharding.shard_shape(array.shape))
    if reported == elements * devices:  # JAX 0.10 reports this on the CPU, although elements are packed there
        return -(-elements * bits // 8) * devices
    return reported


@functools.cache
def _bits(dtype: Any) -> int:
    if dtype.itemsize == 1 and dtype.kind not in "biu":  # only ml_dtypes has types smaller than a byte
        import jax.numpy as jnp

        information = jnp.finfo if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo
        bits = int(information(dtype).bits)
        return bits if bits in _PACKED_BITS else 8
    return int(8 * dtype.itemsize)
