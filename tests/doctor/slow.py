"""Slow programs of the kind that people post, with the rule that should find each.

Where the remedy is not mechanical, the program as somebody writes it after the advice stands below.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Program = tuple[Callable[..., Any], tuple[Any, ...]]


class Slow(NamedTuple):
    """A slow program.

    Attributes:
        rules: the rules that may find what is slow.
        make: makes the program.
        repeat: whether it has to run several times although that changes what it reads.
        devices: how many devices it needs.
        statement: the statement to examine, in terms of the function and its parameters; a call of the function if
            left out.
        budget_s: how long to try remedies, and to measure a program that was mended by hand.
    """

    rules: tuple[str, ...]
    make: Callable[[], Program]
    repeat: bool = False
    devices: int = 1
    statement: str = ""
    budget_s: float = 40.0


#: By name.
PROGRAMS: dict[str, Slow] = {}

#: By name: the program as somebody writes it after the advice, where that is not mechanical.
MENDED: dict[str, Callable[[], Program]] = {}


def found_by(*rules: str, **options: Any) -> Callable[[Callable[[], Program]], Callable[[], Program]]:
    """Register a slow program with the rules that may find what is slow."""

    def program(make: Callable[[], Program]) -> Callable[[], Program]:
        PROGRAMS[make.__name__] = Slow(rules, make, **options)
        return make

    return program


def instead_of(slow: Callable[[], Program]) -> Callable[[Callable[[], Program]], Callable[[], Program]]:
    """Register the program that somebody writes after the advice about a slow one."""

    def program(make: Callable[[], Program]) -> Callable[[], Program]:
        MENDED[slow.__name__] = make
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


@instead_of(growing_sequence)
def padded_to_a_bucket() -> Program:
    @jax.jit
    def total(tokens: Any, length: Any) -> Any:
        known = jnp.arange(32) < length
        return jnp.where(known, jnp.tanh(jnp.cumsum(jnp.where(known, tokens, 0))), 0).sum()

    @jax.jit
    def appended(tokens: Any, length: Any) -> Any:
        return tokens.at[length].set(tokens[length - 1])

    def run(start: Any) -> Any:
        tokens, result = jnp.pad(start, (0, 16)), 0.0
        for length in range(16, 24):
            result = result + total(tokens, length)
            tokens = appended(tokens, length)
        return result

    return run, (normal(16),)


@found_by("not-jitted")
def per_sample_loop() -> Program:
    def run(w: Any, xs: Any) -> Any:
        return jnp.stack([jnp.tanh(w @ x).sum() for x in xs])

    return run, (normal(32, 32), normal(40, 32, seed=1))


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


@found_by("unrolled-loop", budget_s=200.0)  # it is compiled many times
def unrolled_rnn() -> Program:
    @jax.jit
    def rnn(w: Any, u: Any, xs: Any) -> Any:
        h = jnp.zeros(64)
        for t in range(40):
            h = jnp.tanh(h @ w + xs[t] @ u)
        return h

    return rnn, (normal(64, 64) / 8, normal(64, 64, seed=1) / 8, normal(40, 64, seed=2))


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


@instead_of(host_wait_per_step)
def scanned_steps() -> Program:
    @jax.jit
    def steps(w: Any, x: Any) -> Any:
        def step(w: Any, _: Any) -> Any:
            w = w - 1e-3 * jnp.tanh(x @ w)
            return w, (w**2).mean()

        return lax.scan(step, w, length=200)

    def run(w: Any, x: Any) -> Any:
        return steps(w, x)[1].tolist()

    return run, (normal(16, 16), normal(16, 16, seed=1))


@found_by("transfer")
def numpy_batches() -> Program:
    @jax.jit
    def mean(x: Any) -> Any:
        return x[0, 0] * 2

    def run(x: Any) -> Any:
        return [mean(x) for _ in range(10)]

    return run, (np.ones((2000, 2000)),)  # NumPy's own dtype: each call converts it


@found_by("precision")
def double_precision_that_crept_in() -> Program:
    weights = np.linspace(0.0, 1.0, 2000)  # NumPy's own dtype

    @jax.jit
    def loss(x: Any) -> Any:
        return (jnp.tanh(x * weights) ** 3).sum()

    return loss, (normal(2000, 2000).astype(jnp.float32),)


@instead_of(double_precision_that_crept_in)
def single_precision() -> Program:
    weights = np.linspace(0.0, 1.0, 2000, dtype=np.float32)

    @jax.jit
    def loss(x: Any) -> Any:
        return (jnp.tanh(x * weights) ** 3).sum()

    return loss, (normal(2000, 2000).astype(jnp.float32),)


@found_by("recompile", repeat=True)
def static_argument_that_varies() -> Program:
    @partial(jax.jit, static_argnames="scale")
    def scaled(x: Any, scale: float) -> Any:
        return jnp.tanh(x * scale).sum()

    steps = iter(range(10**6))

    def run(x: Any) -> Any:
        return sum(scaled(x, scale=1.0 + next(steps)) for _ in range(4))

    return run, (normal(64, 64),)


@instead_of(static_argument_that_varies)
def traced_argument() -> Program:
    @jax.jit
    def scaled(x: Any, scale: Any) -> Any:
        return jnp.tanh(x * scale).sum()

    steps = iter(range(10**6))

    def run(x: Any) -> Any:
        return sum(scaled(x, scale=1.0 + next(steps)) for _ in range(4))

    return run, (normal(64, 64),)


@found_by("rematerialise")
def scan_that_keeps_everything() -> Program:
    def layer(x: Any, w: Any) -> Any:
        for _ in range(4):
            x = jnp.sin(x @ w) + jnp.cos(x)
        return x, None

    def loss(ws: Any, x: Any) -> Any:
        return (lax.scan(layer, x, ws)[0] ** 2).sum()

    return jax.jit(jax.grad(loss)), (normal(12, 128, 128) / 11, normal(8192, 128))


@instead_of(scan_that_keeps_everything)
def scan_that_recomputes() -> Program:
    @jax.checkpoint
    def layer(x: Any, w: Any) -> Any:
        for _ in range(4):
            x = jnp.sin(x @ w) + jnp.cos(x)
        return x, None

    def loss(ws: Any, x: Any) -> Any:
        return (lax.scan(layer, x, ws)[0] ** 2).sum()

    return jax.jit(jax.grad(loss)), (normal(12, 128, 128) / 11, normal(8192, 128))


@found_by("donation", statement="state = update(state, gradient)")
def undonated_update() -> Program:
    @jax.jit
    def update(state: Any, gradient: Any) -> Any:
        return state - 0.1 * gradient

    return update, (normal(2000, 2000), normal(2000, 2000, seed=1))


@instead_of(undonated_update)
def donated_update() -> Program:
    @partial(jax.jit, donate_argnames="state")
    def update(state: Any, gradient: Any) -> Any:
        return state - 0.1 * gradient

    return update, (normal(2000, 2000), normal(2000, 2000, seed=1))


@found_by("not-jitted")
def vmap_of_jit() -> Program:
    @jax.jit
    def score(w: Any, x: Any) -> Any:
        return jnp.tanh(w @ x).sum()

    def run(w: Any, xs: Any) -> Any:
        for _ in range(60):
            scores = jax.vmap(score, in_axes=(None, 0))(w, xs)
        return scores

    return run, (normal(16, 16), normal(8, 16, seed=1))


@found_by("sharding", devices=2)
def resharding_in_every_call() -> Program:
    mesh = Mesh(np.array(jax.devices()[:2]), ("data",))
    x = jax.device_put(normal(64, 2000), NamedSharding(mesh, PartitionSpec()))

    @jax.jit
    def project(x: Any, w: Any) -> Any:
        return x[0] @ w[:, 0]

    def run(x: Any, w: Any) -> Any:
        return project(x, w)

    return run, (x, normal(2000, 2000, seed=1))


@instead_of(resharding_in_every_call)
def resharded_once() -> Program:
    run, (x, w) = resharding_in_every_call()
    return run, (x, jax.device_put(w, x.sharding))


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


@instead_of(sort_per_step)
def sorted_once() -> Program:
    @jax.jit
    def step(w: Any, ordered: Any) -> Any:
        return w + ordered[:, ::100].mean()

    def run(w: Any, data: Any) -> Any:
        ordered = jnp.sort(data)
        for _ in range(5):
            w = step(w, ordered)
        return w

    return run, (normal(8), normal(50, 1000))
