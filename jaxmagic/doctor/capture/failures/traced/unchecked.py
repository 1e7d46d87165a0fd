"""Computes with jitted functions whose results JAX does not check for NaN, while the check stays on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def unchecked(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a jitted function whose results JAX does not check for NaN: it sees their bits.

    To switch the check off, even for an empty block, as ``jax.debug_nans(False)`` does, leaves functions that compile
    later unchecked.

    Args:
        compute: returns a list of arrays; those of floats become arrays of NumPy.
    """
    import jax

    dtypes: list[Any] = []

    def in_bits(*inputs: Any) -> list[Any]:
        results = compute(*inputs)
        dtypes[:] = [jax.numpy.result_type(each) for each in results]
        return [_bits(each, dtype) for each, dtype in zip(results, dtypes, strict=True)]

    jitted = jax.jit(in_bits)
    return lambda *inputs: [_from_bits(*each) for each in zip(jitted(*inputs), dtypes, strict=True)]


def _bits(value: Any, dtype: Any) -> Any:
    """Return the bits of floats and of the two parts of complex numbers, and anything else as it is."""
    import jax
    import jax.numpy as jnp

    if not jnp.issubdtype(dtype, jnp.inexact):
        return value
    parts = jnp.stack([value.real, value.imag], -1) if jnp.issubdtype(dtype, jnp.complexfloating) else value
    return jax.lax.bitcast_convert_type(parts, f"uint{8 * parts.dtype.itemsize}")


def _from_bits(bits: Any, dtype: Any) -> Any:
    import jax.numpy as jnp

    if not jnp.issubdtype(dtype, jnp.inexact):
        return bits
    complex_ = jnp.issubdtype(dtype, jnp.complexfloating)
    return np.asarray(bits).view(dtype)[..., 0] if complex_ else np.asarray(bits).view(dtype)


def checked_in_block(infinite: bool) -> Iterator[tuple[str, str]]:
    """Say whether JAX does not check results any more, as after a block of ``jax.debug_nans(True)``."""
    import jax

    check = "debug_infs" if infinite else "debug_nans"
    if not getattr(jax.config, f"jax_{check}", False):
        yield "checked in a block", check
