"""Loops: small ones, which XLA may compile as a whole, large ones, nested ones, and under ``vmap``."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import planted
from .windows import image


@planted()
def small_scan(slow: bool) -> Any:
    def f(x: Any, w: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            d = c * 0.5
            if slow:
                d = jnp.tanh(jnp.exp(-d) @ w)  # planted
            return d + 1, None

        return jax.lax.scan(step, x, None, length=5000)[0]

    return jax.jit(f), (image(100), image(100, 100))


@planted()
def large_scan(slow: bool) -> Any:
    def f(x: Any, w: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            d = c * 0.5
            if slow:
                d = jnp.tanh(d @ w)  # planted
            return d + 1, d[0, 0]

        return jax.lax.scan(step, x, None, length=20)

    return jax.jit(f), (image(300, 300), image(300, 300))


@planted()
def gradient_of_scan(slow: bool) -> Any:
    def loss(x: Any, w: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            d = c * 0.5
            if slow:
                d = jnp.tanh(d @ w)  # planted
            return d + 1, None

        return jax.lax.scan(step, x, None, length=20)[0].sum()

    return jax.jit(jax.grad(loss)), (image(200, 200), image(200, 200))


@planted()
def while_loop(slow: bool) -> Any:
    def f(x: Any) -> Any:
        def step(state: Any) -> Any:
            count, y = state
            y = y * 0.9
            if slow:
                y = jnp.sort(y, axis=1)  # planted
            return count + 1, y

        return jax.lax.while_loop(lambda state: state[0] < 10, step, (0, x))[1]

    return jax.jit(f), (image(100, 1000),)


@planted()
def vmapped_scan(slow: bool) -> Any:
    def f(x: Any, w: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            d = c * 0.5
            if slow:
                d = jnp.tanh(w @ d)  # planted
            return d + 1, None

        return jax.lax.scan(step, x, None, length=20)[0]

    return jax.jit(jax.vmap(f, (0, None))), (image(200, 200), image(200, 200))
