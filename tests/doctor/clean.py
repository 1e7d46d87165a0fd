"""Programs in which there is nothing to find: as people would write them, and large enough to be worth jitting."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Program = tuple[Callable[..., Any], tuple[Any, ...]]

PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[make.__name__] = make
    return make


def normal(*shape: int, seed: int = 0, dtype: Any = jnp.float32) -> Any:
    return jax.random.normal(jax.random.key(seed), shape, dtype)


@program
def matmul() -> Program:
    return jax.jit(lambda x, y: x @ y), (normal(600, 600), normal(600, 600, seed=1))


@program
def elementwise() -> Program:
    return jax.jit(lambda x: jnp.tanh(x) * jnp.exp(-x * x) + x), (normal(1500, 1500),)


@program
def softmax() -> Program:
    return jax.jit(jax.nn.softmax), (normal(2000, 1000),)


@program
def layer_norm() -> Program:
    def norm(x: Any, scale: Any, bias: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return scale * centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-6) + bias

    return jax.jit(norm), (normal(4000, 512), jnp.ones(512), jnp.zeros(512))


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
def mlp_forward() -> Program:
    def forward(params: Any, x: Any) -> Any:
        for w, b in params:
            x = jax.nn.relu(x @ w + b)
        return x

    params = [(normal(512, 512, seed=each) / 23, jnp.zeros(512)) for each in range(4)]
    return jax.jit(forward), (params, normal(512, 512, seed=9))


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
def fori_power_iteration() -> Program:
    def iterate(a: Any, v: Any) -> Any:
        def body(_: Any, v: Any) -> Any:
            v = a @ v
            return v / jnp.linalg.norm(v)

        return lax.fori_loop(0, 200, body, v)

    return jax.jit(iterate), (normal(500, 500), normal(500, seed=1))


@program
def while_newton() -> Program:
    def root(x: Any) -> Any:
        def goes_on(state: Any) -> Any:
            return (jnp.abs(state[1]) > 1e-3).any() & (state[2] < 50)

        def body(state: Any) -> Any:
            y, _, count = state
            error = y * y - x
            return y - error / (2 * y), error, count + 1

        return lax.while_loop(goes_on, body, (x, x, 0))[0]

    return jax.jit(root), (jnp.abs(normal(1000, 1000)) + 1,)


@program
def conditional() -> Program:
    def choose(x: Any) -> Any:
        return lax.cond(x.sum() > 0, lambda x: x @ x, lambda x: x @ x.T, x)

    return jax.jit(choose), (normal(500, 500),)


@program
def vmapped_distance() -> Program:
    def distance(a: Any, b: Any) -> Any:
        return jnp.sqrt(((a - b) ** 2).sum())

    pairs = jax.jit(jax.vmap(jax.vmap(distance, (None, 0)), (0, None)))
    return pairs, (normal(400, 64), normal(400, 64, seed=1))


@program
def hessian() -> Program:
    def energy(x: Any) -> Any:
        return (jnp.sin(x) ** 2).sum() + (x[1:] * x[:-1]).sum() ** 2

    return jax.jit(jax.hessian(energy)), (normal(300),)


@program
def jacobian() -> Program:
    return jax.jit(jax.jacfwd(lambda x: jnp.tanh(x) * x.sum())), (normal(800),)


@program
def einsum_chain() -> Program:
    def chain(a: Any, b: Any, c: Any) -> Any:
        return jnp.einsum("ij,jk,kl->il", a, b, c)

    return jax.jit(chain), tuple(normal(400, 400, seed=each) for each in range(3))


@program
def fft_filter() -> Program:
    def smooth(x: Any) -> Any:
        return jnp.fft.irfft(jnp.fft.rfft(x) * jnp.exp(-jnp.arange(513) / 100.0), n=1024)

    return jax.jit(smooth), (normal(2000, 1024),)


@program
def solve() -> Program:
    return jax.jit(jnp.linalg.solve), (normal(300, 300) + 30 * jnp.eye(300), normal(300, 50, seed=1))


@program
def cholesky() -> Program:
    def factor(a: Any) -> Any:
        return jnp.linalg.cholesky(a @ a.T + 300 * jnp.eye(300))

    return jax.jit(factor), (normal(300, 300),)


@program
def cumulative() -> Program:
    return jax.jit(lambda x: jnp.cumsum(x, axis=1) / jnp.arange(1, 1001)), (normal(2000, 1000),)


@program
def random_samples() -> Program:
    def sample(key: Any) -> Any:
        return jax.random.normal(key, (1000, 1000)).mean(0)

    return jax.jit(sample), (jax.random.key(1),)


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
def bfloat16_matmul() -> Program:
    return jax.jit(lambda x, y: x @ y), (normal(300, 300, dtype=jnp.bfloat16), normal(300, 300, dtype=jnp.bfloat16))


@program
def mixed_precision_loss() -> Program:
    def loss(w: Any, x: Any) -> Any:
        hidden = jnp.tanh(x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16))
        return (hidden.astype(jnp.float32) ** 2).mean()

    return jax.jit(jax.grad(loss)), (normal(256, 256), normal(256, 256, seed=1))


@program
def histogram_of_lengths() -> Program:
    def count(vectors: Any) -> Any:
        lengths = jnp.linalg.norm(vectors, axis=1)
        return jnp.bincount(lengths.astype(int), length=64)

    return jax.jit(count), (normal(20_000, 400),)


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
def n_body() -> Program:
    def forces(x: Any) -> Any:
        between = x[:, None] - x[None]
        return (between / ((between**2).sum(-1, keepdims=True) + 0.1) ** 1.5).sum(1)

    return jax.jit(forces), (normal(500, 3),)


@program
def conjugate_gradient() -> Program:
    def solve(a: Any, b: Any) -> Any:
        return jax.scipy.sparse.linalg.cg(lambda x: a @ x + 3 * x, b, maxiter=50)[0]

    a = normal(400, 400)
    return jax.jit(solve), (a @ a.T / 400, normal(400, seed=1))


@program
def custom_gradient() -> Program:
    @jax.custom_vjp
    def clip(x: Any) -> Any:
        return x

    clip.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1, 1),))
    return jax.jit(jax.grad(lambda x: (clip(x) ** 3).sum())), (normal(1000, 1000),)


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


@program
def masked_mean() -> Program:
    def mean(x: Any, mask: Any) -> Any:
        return jnp.where(mask, x, 0).sum(-1) / mask.sum(-1)

    return jax.jit(mean), (normal(2000, 1000), normal(2000, 1000, seed=1) > 0)


@program
def logsumexp_loss() -> Program:
    def loss(logits: Any, labels: Any) -> Any:
        return -(jax.nn.log_softmax(logits) * jax.nn.one_hot(labels, 500)).sum(-1).mean()

    return jax.jit(jax.value_and_grad(loss)), (normal(2000, 500), jnp.arange(2000) % 500)


@program
def polynomial() -> Program:
    return jax.jit(lambda x: jnp.polyval(jnp.array([1.0, -2.0, 0.5, 3.0]), x)), (normal(1500, 1500),)


@program
def pooling() -> Program:
    def pool(x: Any) -> Any:
        return lax.reduce_window(x, 0.0, lax.add, (1, 4, 4, 1), (1, 4, 4, 1), "VALID") / 16

    return jax.jit(pool), (normal(8, 128, 128, 16),)


@program
def interpolation() -> Program:
    def interpolate(x: Any) -> Any:
        knots = jnp.linspace(-3, 3, 50)
        return jnp.interp(x, knots, jnp.sin(knots))

    return jax.jit(interpolate), (normal(200_000),)


@program
def runge_kutta() -> Program:
    def integrate(y: Any) -> Any:
        def slope(y: Any) -> Any:
            return jnp.tanh(y @ y.T) @ y / 100

        def step(y: Any, _: Any) -> Any:
            a = slope(y)
            b = slope(y + 0.05 * a)
            return y + 0.1 * b, None

        return lax.scan(step, y, length=20)[0]

    return jax.jit(integrate), (normal(200, 200),)


@program
def steps_in_one_program() -> Program:
    def train(w: Any, xs: Any, ys: Any) -> Any:
        def step(w: Any, batch: Any) -> Any:
            x, y = batch
            loss, g = jax.value_and_grad(lambda w: ((jnp.tanh(x @ w) - y) ** 2).mean())(w)
            return w - 0.1 * g, loss

        return lax.scan(step, w, (xs, ys))[1]

    return jax.jit(train), (normal(128, 128) / 11, normal(30, 256, 128, seed=1), normal(30, 256, 128, seed=2))
