"""Programs in which there is nothing to find: as people would write them, and large enough to be worth jitting."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Program = tuple[Callable[..., Any], tuple[Any, ...]]

PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[make.__name__] = make
    return make


def normal(*shape: int, seed: int = 0, dtype: Any = jnp.float32) -> Any:
    """Return random numbers; NumPy draws them, because XLA takes a second to compile that for each shape."""
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), dtype)


@program
def elementwise() -> Program:
    return jax.jit(lambda x: jnp.tanh(x) * jnp.exp(-x * x) + x), (normal(1500, 1500),)


@program
def attention() -> Program:
    def attend(q: Any, k: Any, v: Any) -> Any:
        weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8)
        return jnp.einsum("bhqk,bkhd->bqhd", weights, v)

    return jax.jit(attend), tuple(normal(1, 1024, 4, 64, seed=each) for each in range(3))


@program
def convolution() -> Program:
    def convolve(x: Any, kernel: Any) -> Any:
        return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    return jax.jit(convolve), (normal(8, 64, 64, 16), normal(3, 3, 16, 32, seed=1))


@program
def mlp_gradient() -> Program:
    def loss(params: Any, x: Any, y: Any) -> Any:
        for w in params[:-1]:
            x = jnp.tanh(x @ w)
        return ((x @ params[-1] - y) ** 2).mean()

    params = [normal(256, 256, seed=each) / 16 for each in range(3)]
    return jax.jit(jax.value_and_grad(loss)), (params, normal(512, 256, seed=8), normal(512, 256, seed=9))


@program
def scan_rnn() -> Program:
    def run(w: Any, xs: Any) -> Any:
        def cell(h: Any, x: Any) -> Any:
            h = jnp.tanh(h @ w + x)
            return h, None

        return lax.scan(cell, jnp.zeros_like(xs[0]), xs)[0]

    return jax.jit(run), (normal(256, 256) / 16, normal(60, 64, 256, seed=1))


@program
def conditional() -> Program:
    def choose(x: Any) -> Any:
        return lax.cond(x.sum() > 0, lambda x: x @ x, lambda x: x @ x.T, x)

    return jax.jit(choose), (normal(500, 500),)


@program
def fft_filter() -> Program:
    def smooth(x: Any) -> Any:
        return jnp.fft.irfft(jnp.fft.rfft(x) * jnp.exp(-jnp.arange(513) / 100.0), n=1024)

    return jax.jit(smooth), (normal(2000, 1024),)


@program
def solve() -> Program:
    return jax.jit(jnp.linalg.solve), (normal(300, 300) + 30 * jnp.eye(300), normal(300, 50, seed=1))


@program
def segment_sums() -> Program:
    sums = partial(jax.ops.segment_sum, num_segments=100, indices_are_sorted=True)
    return jax.jit(lambda x, ids: sums(x * x, ids)), (normal(20_000, 16), jnp.repeat(jnp.arange(100), 200))


@program
def checkpointed() -> Program:
    @jax.checkpoint
    def block(x: Any, w: Any) -> Any:
        return jnp.sin(x @ w) + x

    def loss(ws: Any, x: Any) -> Any:
        for w in ws:
            x = block(x, w)
        return (x**2).mean()

    return jax.jit(jax.grad(loss)), (
        [normal(256, 256, seed=each) / 16 for each in range(3)],
        normal(256, 256, seed=9),
    )


@program
def scanned_layers() -> Program:
    def forward(stacked: Any, x: Any) -> Any:
        return lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, stacked)[0]

    return jax.jit(forward), (normal(12, 256, 256) / 16, normal(256, 256, seed=1))


@program
def mixed_precision_loss() -> Program:
    def loss(w: Any, x: Any) -> Any:
        hidden = jnp.tanh(x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16))
        return (hidden.astype(jnp.float32) ** 2).mean()

    return jax.jit(jax.grad(loss)), (normal(256, 256), normal(256, 256, seed=1))


@program
def stencil() -> Program:
    def heat(u: Any) -> Any:
        def step(_: Any, u: Any) -> Any:
            inner = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            return u.at[1:-1, 1:-1].set(inner + 0.1 * (around - 4 * inner))

        return lax.fori_loop(0, 20, step, u)

    return jax.jit(heat), (normal(400, 400),)


@program
def adam_update() -> Program:
    def update(params: Any, moments: Any, grads: Any) -> Any:
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], grads)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, moments[1], grads)
        step = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, first, second)
        return jax.tree.map(jnp.vdot, step, params)  # small outputs, so that there is nothing to donate

    def tree(seed: int) -> Any:
        return {f"w{each}": normal(200, 200, seed=seed + each) for each in range(8)}

    return jax.jit(update), (tree(0), (tree(10), tree(20)), tree(30))


@program
def embedding_lookup() -> Program:
    def embed(table: Any, words: Any, w: Any) -> Any:
        return jnp.tanh(table[words] @ w)

    return jax.jit(embed), (normal(5000, 256), jnp.arange(2048) % 5000, normal(256, 512, seed=1))
