"""Random numbers, whose functions JAX traces once for all callers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import planted


@jax.jit
def earlier(key: Any) -> Any:
    """Another program with the same split."""
    return jax.random.split(key, 200_000)


@planted()
def split_after_another_program(slow: bool) -> Any:
    def f(key: Any) -> Any:
        y = jnp.tanh(jnp.ones((10, 10)))
        keys = jax.random.split(key, 200_000) if slow else key  # planted
        return keys, y

    earlier(jax.random.key(0))
    return jax.jit(f), (jax.random.key(0),)


@planted()
def normal_numbers(slow: bool) -> Any:
    def f(key: Any) -> Any:
        y = jnp.ones(410_000)
        if slow:
            y = jax.random.normal(key, y.shape)  # planted
        return y + 1

    return jax.jit(f), (jax.random.key(0),)
