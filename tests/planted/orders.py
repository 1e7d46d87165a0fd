"""Sorts, lookups and scatters."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import planted
from .windows import image


@planted()
def sort(slow: bool) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        if slow:
            y = jnp.sort(y, axis=1)  # planted
        return y + 1

    return jax.jit(f), (image(256, 2048),)


@planted()
def gradient_of_argsort(slow: bool) -> Any:
    def loss(x: Any) -> Any:
        y = x * 2
        if slow:
            y = jnp.take_along_axis(y, jnp.argsort(y, axis=1), axis=1)  # planted
        return (y * y).sum()

    return jax.jit(jax.grad(loss)), (image(256, 2048),)


@planted()
def median(slow: bool) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        z = jnp.median(y, axis=1) if slow else y[:, 0]  # planted
        return y + z[:, None]

    return jax.jit(f), (image(256, 2048),)


@planted()
def scatter(slow: bool) -> Any:
    def f(x: Any, at: Any) -> Any:
        y = x * 2
        if slow:
            y = y.at[at].add(1.0)  # planted
        return y + 1

    at = jax.random.randint(jax.random.key(1), (300_000,), 0, 40_000)
    return jax.jit(f), (image(40_000), at)


@planted()
def segment_sum(slow: bool) -> Any:
    def f(x: Any, at: Any) -> Any:
        y = x[:1000] * 2
        if slow:
            y = jax.ops.segment_sum(x, at, num_segments=1000)  # planted
        return y + 1

    at = jax.random.randint(jax.random.key(1), (400_000,), 0, 1000)
    return jax.jit(f), (image(400_000), at)
