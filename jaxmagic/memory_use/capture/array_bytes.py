"""How many bytes an array takes, also one whose numbers are smaller than a byte."""

from __future__ import annotations

import functools
from math import prod
from typing import Any

#: Two or four of these lie in one byte. Numbers of one bit take a byte each.
_PACKED_BITS = (2, 4)


def bytes_of(elements: int, dtype: Any) -> int:
    """Return what so many numbers of a type take, without padding. JAX's own ``nbytes`` counts at least a byte each.

    >>> import jax.numpy as jnp
    >>> bytes_of(1001, jnp.dtype("int4")), bytes_of(1001, jnp.dtype("int16"))
    (501, 2002)
    """
    return -(-elements * _bits(dtype) // 8)


def device_bytes(array: Any) -> int:
    """Return what it takes of all its devices together, as the backend tells, which knows of padding.

    Raises:
        Exception: the backend does not tell it, or the array was deleted.
    """
    told = int(array.on_device_size_in_bytes())
    dtype = array.dtype
    if dtype.itemsize != 1 or (bits := _bits(dtype)) == 8:
        return told
    sharding = array.sharding
    devices = len(sharding.device_set)
    elements = prod(sharding.shard_shape(array.shape))
    if told == elements * devices:  # so says JAX 0.10 on the CPU, where they are packed all the same
        return -(-elements * bits // 8) * devices
    return told


@functools.cache
def _bits(dtype: Any) -> int:
    if dtype.itemsize == 1 and dtype.kind not in "biu":  # numpy has none of less than a byte: they are ml_dtypes'
        import jax.numpy as jnp

        information = jnp.finfo if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo
        bits = int(information(dtype).bits)
        return bits if bits in _PACKED_BITS else 8
    return int(8 * dtype.itemsize)
