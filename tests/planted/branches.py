"""Branches, rules for derivatives of one's own, and checkpoints."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import planted
from .windows import image


@planted()
def condition(slow: bool) -> Any:
    def f(x: Any) -> Any:
        def left(y: Any) -> Any:
            if slow:
                y = jnp.sort(y, axis=1)  # planted
            return y + 1

        return jax.lax.cond(x[0, 0] < 1e9, left, lambda y: y * 2, x)

    return jax.jit(f), (image(200, 2000),)


@planted()
def switch(slow: bool) -> Any:
    def f(x: Any, which: Any) -> Any:
        def middle(y: Any) -> Any:
            if slow:
                y = jnp.sort(y, axis=1)  # planted
            return y + 1

        return jax.lax.switch(which, [lambda y: y - 1, middle, lambda y: y * 2], x)

    return jax.jit(f), (image(250, 2000), 1)


@planted()
def custom_vjp(slow: bool) -> Any:
    @jax.custom_vjp
    def clipped(x: Any) -> Any:
        return x * 2

    def forward(x: Any) -> Any:
        return clipped(x), x

    def backward(x: Any, g: Any) -> Any:
        if slow:
            g = jnp.sort(g * x, axis=1)
        return (g,)

    clipped.defvjp(forward, backward)

    def loss(x: Any) -> Any:
        y = clipped(x)  # planted: JAX gives the backward rule the line of the call
        return (y * y).sum()

    return jax.jit(jax.grad(loss)), (image(150, 2000),)


@planted()
def checkpoint(slow: bool) -> Any:
    @jax.checkpoint
    def layer(x: Any, w: Any) -> Any:
        y = x * 2
        if slow:
            y = jnp.tanh(y @ w)  # planted
        return y * 2

    def loss(x: Any, w: Any) -> Any:
        return layer(x, w).sum()

    return jax.jit(jax.grad(loss)), (image(400, 400), image(400, 400))
