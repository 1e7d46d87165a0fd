"""Tables that are looked up in, near and far, beside arithmetic in the same kernel."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import planted
from .windows import image

N = 4_000_000


def places(table: int) -> Any:
    """Random ones, one for each element."""
    return jnp.asarray(np.random.default_rng(0).integers(0, table, N, np.int32))


@planted()
def lookup_far_away(slow: bool) -> Any:
    def f(table: Any, at: Any, x: Any) -> Any:
        y = x * 3 + 1
        z = table[at] if slow else y  # planted
        return jnp.tanh(z * y) + y

    return jax.jit(f), (image(20_000, 1000).ravel(), places(20_000_000), image(N))


@planted()
def sine_of_what_was_looked_up(slow: bool) -> Any:
    def f(table: Any, at: Any, x: Any) -> Any:
        y = table[at]
        z = jnp.sin(y * 2) if slow else y  # planted
        return z * 3 + x

    return jax.jit(f), (image(1000), places(1000), image(N))


@planted()
def lookup_in_random_numbers(slow: bool) -> Any:
    def f(key: Any, at: Any, x: Any) -> Any:
        table = jax.random.uniform(key, (1000,))
        y = table[at] if slow else x  # planted
        return y * 3 + x

    return jax.jit(f), (jax.random.key(0), places(1000), image(N))


@planted()
def gradient_of_lookup(slow: bool) -> Any:
    def loss(table: Any, at: Any, x: Any) -> Any:
        y = table[at] if slow else table[0]  # planted
        return jnp.sum(y * x)

    return jax.jit(jax.grad(loss)), (image(1000), places(1000), image(N))
