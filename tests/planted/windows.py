"""Pooling, cumulative operations and convolutions: what XLA expands, and pads for."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import planted

NHWC = ("NHWC", "HWIO", "NHWC")


def image(*shape: int) -> Any:
    return jax.random.normal(jax.random.key(0), shape)


@planted()
def max_pool(slow: bool) -> Any:
    def f(x: Any) -> Any:
        y = jax.nn.relu(x)
        if slow:
            y = jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 9, 9, 1), (1, 1, 1, 1), "SAME")  # planted
        return (y * y).sum()

    return jax.jit(f), (image(16, 56, 56, 16),)


@planted()
def gradient_of_max_pool(slow: bool) -> Any:
    def loss(x: Any) -> Any:
        y = jax.nn.relu(x)
        if slow:
            y = jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 9, 9, 1), (1, 2, 2, 1), "SAME")  # planted
        return (y * y).sum()

    return jax.jit(jax.grad(loss)), (image(16, 56, 56, 16),)


@planted()
def gradient_of_mean_pool(slow: bool) -> Any:
    def loss(x: Any) -> Any:
        y = jax.nn.relu(x)
        if slow:
            y = jax.lax.reduce_window(y, 0.0, jax.lax.add, (1, 9, 9, 1), (1, 1, 1, 1), "SAME")  # planted
        return (y * y).sum()

    return jax.jit(jax.grad(loss)), (image(16, 56, 56, 16),)


@planted()
def cumulative_sum(slow: bool) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        if slow:
            y = jnp.cumsum(y, axis=1)  # planted
        return y + 1

    return jax.jit(f), (image(512, 4096),)


@planted()
def gradient_of_cumulative_product(slow: bool) -> Any:
    def loss(x: Any) -> Any:
        y = x * 2
        if slow:
            y = jnp.cumprod(y, axis=1)  # planted
        return (y * y).sum()

    return jax.jit(jax.grad(loss)), (image(256, 1024),)


@planted()
def cumulative_maximum(slow: bool) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        if slow:
            y = jax.lax.cummax(y, axis=1)  # planted
        return y + 1

    return jax.jit(f), (image(512, 4096),)


@planted()
def associative_scan(slow: bool) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        if slow:
            y = jax.lax.associative_scan(lambda a, b: jnp.tanh(a) * b, y, axis=1)  # planted
        return y + 1

    return jax.jit(f), (image(512, 4096),)


@planted()
def convolution(slow: bool) -> Any:
    def f(x: Any, w: Any) -> Any:
        y = jax.nn.relu(x)
        if slow:
            y = jax.lax.conv_general_dilated(y, w, (1, 1), "SAME", dimension_numbers=NHWC)  # planted
        return y + 1

    return jax.jit(f), (image(8, 56, 56, 32), image(7, 7, 32, 32))


@planted()
def gradient_of_convolution(slow: bool) -> Any:
    def loss(w: Any, x: Any) -> Any:
        y = jax.nn.relu(x)
        if slow:
            y = jax.lax.conv_general_dilated(y, w, (1, 1), "SAME", dimension_numbers=NHWC)  # planted
        return (y * y).sum() + w.sum()

    return jax.jit(jax.grad(loss, argnums=(0, 1))), (image(3, 3, 16, 16), image(8, 56, 56, 16))
