"""Layers of three libraries."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import planted
from .windows import image


@planted("flax")
def nnx_layers(slow: bool) -> Any:
    from flax import nnx

    class Model(nnx.Module):
        def __init__(self) -> None:
            self.first = nnx.Linear(64, 64, rngs=nnx.Rngs(0))
            self.second = nnx.Conv(64, 64, (9,), rngs=nnx.Rngs(1))

        def __call__(self, x: Any) -> Any:
            y = jax.nn.relu(self.first(x))
            if slow:
                y = self.second(y)  # planted
            return y * 2

    graph, state = nnx.split(Model())
    return jax.jit(lambda state, x: nnx.merge(graph, state)(x)), (state, image(8, 500, 64))


@planted("flax")
def linen_layers(slow: bool) -> Any:
    from flax import linen

    class Model(linen.Module):
        @linen.compact
        def __call__(self, x: Any) -> Any:
            y = linen.relu(linen.Dense(64)(x))
            if slow:
                y = linen.Conv(64, (9,))(y)  # planted
            return y * 2

    model, x = Model(), image(8, 500, 64)
    return jax.jit(model.apply), (model.init(jax.random.key(0), x), x)


@planted("equinox")
def equinox_layers(slow: bool) -> Any:
    import equinox

    class Model(equinox.Module):
        first: Any
        second: Any

        def __call__(self, x: Any) -> Any:
            y = jax.nn.relu(self.first(x))
            if slow:
                y = self.second(y)  # planted
            return y * 2

    left, right = jax.random.split(jax.random.key(0))
    model = Model(equinox.nn.Conv1d(16, 64, 1, key=left), equinox.nn.Conv1d(64, 64, 31, padding=15, key=right))
    return equinox.filter_jit(lambda model, x: jax.vmap(model)(x).sum()), (model, image(4, 16, 1000))


@planted("flax", "optax")
def step_of_training(slow: bool) -> Any:
    import optax

    optimizer = optax.adam(1e-3)

    def loss(w: Any, x: Any) -> Any:
        y = jax.nn.relu(x)
        if slow:
            y = jnp.tanh(y @ w)  # planted
        return (y * y).mean() + w[0].sum()

    def step(w: Any, state: Any, x: Any) -> Any:
        change, state = optimizer.update(jax.grad(loss)(w, x), state)
        return optax.apply_updates(w, change), state

    w = image(300, 300)
    return jax.jit(step), (w, optimizer.init(w), image(2000, 300))
