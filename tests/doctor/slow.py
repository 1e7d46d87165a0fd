"""Slow programs of the kind that people post, with the rule that should find each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Program = tuple[Callable[..., Any], tuple[Any, ...]]

#: By name: the rules that may find it, and how the program is made.
PROGRAMS: dict[str, tuple[tuple[str, ...], Callable[[], Program]]] = {}


def found_by(*rules: str) -> Callable[[Callable[[], Program]], Callable[[], Program]]:
    def program(make: Callable[[], Program]) -> Callable[[], Program]:
        PROGRAMS[make.__name__] = (rules, make)
        return make

    return program


def normal(*shape: int, seed: int = 0) -> Any:
    return jax.random.normal(jax.random.key(seed), shape)


@found_by("recompile")
def lambda_in_the_loop() -> Program:
    def run(x: Any) -> Any:
        for _ in range(5):
            x = jax.jit(lambda x: jnp.tanh(x @ x))(x)
        return x

    return run, (normal(64, 64) / 8,)


@found_by("recompile")
def partial_jitted_per_call() -> Program:
    def scale(x: Any, factor: float) -> Any:
        return jnp.tanh(x * factor).sum()

    def run(x: Any) -> Any:
        return sum(jax.jit(partial(scale, factor=each))(x) for each in (0.5, 1.0, 2.0))

    return run, (normal(64, 64),)


@found_by("recompile")
def growing_sequence() -> Program:
    @jax.jit
    def total(tokens: Any) -> Any:
        return jnp.tanh(jnp.cumsum(tokens)).sum()

    def run(start: Any) -> Any:
        tokens, result = start, 0.0
        for _ in range(8):
            result = result + total(tokens)
            tokens = jnp.concatenate([tokens, tokens[-1:]])
        return result

    return run, (normal(16),)


@found_by("not-jitted")
def per_sample_loop() -> Program:
    def run(w: Any, xs: Any) -> Any:
        return jnp.stack([jnp.tanh(w @ x).sum() for x in xs])

    return run, (normal(32, 32), normal(60, 32, seed=1))


@found_by("not-jitted")
def eager_loss() -> Program:
    def loss(w: Any, x: Any, y: Any) -> Any:
        hidden = jnp.tanh(x @ w)
        hidden = hidden - hidden.mean()
        hidden = hidden / (hidden.std() + 1e-6)
        error = (hidden - y) ** 2
        penalty = 1e-3 * jnp.abs(w).sum() + 1e-4 * (w**2).sum()
        return error.mean() + penalty

    def run(w: Any, x: Any, y: Any) -> Any:
        for _ in range(5):
            w = w - 0.1 * loss(w, x, y)
        return w

    return run, (normal(32, 32), normal(16, 32, seed=1), normal(16, 32, seed=2))


@found_by("unrolled-loop")
def unrolled_rnn() -> Program:
    @jax.jit
    def rnn(w: Any, u: Any, xs: Any) -> Any:
        h = jnp.zeros(64)
        for t in range(300):
            h = jnp.tanh(h @ w + xs[t] @ u)
        return h

    return rnn, (normal(64, 64) / 8, normal(64, 64, seed=1) / 8, normal(300, 64, seed=2))


@found_by("captured-constant")
def captured_dataset() -> Program:
    data = normal(1000, 1000)

    @jax.jit
    def score(w: Any) -> Any:
        return (data @ w).sum()

    return score, (normal(1000, seed=1),)


@found_by("host-wait", "dispatch-bound")  # small programs are done when they return
def host_wait_per_step() -> Program:
    @jax.jit
    def step(w: Any, x: Any) -> Any:
        w = w - 1e-3 * jnp.tanh(x @ w)
        return w, (w**2).mean()

    def run(w: Any, x: Any) -> Any:
        losses = []
        for _ in range(200):
            w, loss = step(w, x)
            losses.append(float(loss))
        return losses

    return run, (normal(16, 16), normal(16, 16, seed=1))


@found_by("transfer")
def numpy_batches() -> Program:
    @jax.jit
    def mean(x: Any) -> Any:
        return x[0, 0] * 2

    def run(x: Any) -> Any:
        return [mean(x) for _ in range(10)]

    return run, (np.ones((2000, 2000), np.float32),)


@found_by("precision")
def double_precision_that_crept_in() -> Program:
    weights = np.linspace(0.0, 1.0, 2000)  # NumPy's own dtype

    @jax.jit
    def loss(x: Any) -> Any:
        return (jnp.tanh(x * weights) ** 3).sum()

    return loss, (normal(2000, 2000).astype(jnp.float32),)


@found_by("recompile")
def static_argument_that_varies() -> Program:
    @partial(jax.jit, static_argnames="scale")
    def scaled(x: Any, scale: float) -> Any:
        return jnp.tanh(x * scale).sum()

    steps = iter(range(10**6))

    def run(x: Any) -> Any:
        return sum(scaled(x, scale=1.0 + next(steps)) for _ in range(4))

    return run, (normal(64, 64),)


@found_by("sharding")
def resharding() -> Program:
    mesh = Mesh(np.array(jax.devices()), ("data",))
    x = jax.device_put(normal(64, 2000), NamedSharding(mesh, PartitionSpec()))

    @jax.jit
    def project(x: Any, w: Any) -> Any:
        return x[0] @ w[:, 0]

    return project, (x, normal(2000, 2000, seed=1))


@found_by("sort")
def sort_per_step() -> Program:
    @jax.jit
    def step(w: Any, data: Any) -> Any:
        return w + jnp.sort(data)[:, ::100].mean()

    def run(w: Any, data: Any) -> Any:
        for _ in range(5):
            w = step(w, data)
        return w

    return run, (normal(8), normal(50, 1000))


@found_by("rematerialise")
def scan_that_keeps_everything() -> Program:
    def layer(x: Any, w: Any) -> Any:
        for _ in range(4):
            x = jnp.sin(x @ w) + jnp.cos(x)
        return x, None

    def loss(ws: Any, x: Any) -> Any:
        return (lax.scan(layer, x, ws)[0] ** 2).sum()

    return jax.jit(jax.grad(loss)), (normal(12, 128, 128) / 11, normal(8192, 128))
