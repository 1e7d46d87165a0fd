"""A second set, of other kinds, which was written when the code that finds the lines was done."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from . import planted
from .windows import image


@planted()
def triangular_solve(slow: bool) -> Any:
    def program(a: Any, b: Any) -> Any:
        lower = jnp.tril(a) + 1500 * jnp.eye(1500)
        solved = b
        if slow:
            solved = lax.linalg.triangular_solve(lower, b, left_side=True, lower=True)  # planted
        return jnp.cos(solved).sum()

    return jax.jit(program), (image(1500, 1500), image(1500, 1500))


@planted()
def slices_in_a_loop(slow: bool) -> Any:
    def step(at: Any, total: Any, x: Any) -> Any:
        rows = lax.dynamic_slice(x, (at, 0), (256, 512))
        if slow:
            rows = jnp.exp(jnp.sin(rows) * jnp.cos(rows))  # planted
        return total + rows.sum()

    def program(x: Any) -> Any:
        return lax.fori_loop(0, 40, partial(step, x=x), 0.0) + x[0].mean()

    return jax.jit(program), (image(3000, 512),)


@planted()
def vmapped_while_loop(slow: bool) -> Any:
    def one(start: Any) -> Any:
        def body(state: Any) -> Any:
            step, value = state
            if slow:
                value = jnp.sin(value) + start  # planted
            return step + 1, value

        return lax.while_loop(lambda state: state[0] < 300, body, (0, start))[1]

    def program(x: Any) -> Any:
        return jax.vmap(one)(x).sum()

    return jax.jit(program), (image(20_000),)


@planted()
def largest_entries(slow: bool) -> Any:
    def program(x: Any) -> Any:
        y = x * 3 + 1
        if slow:
            y = lax.top_k(y, 50)[0]  # planted
        return y.sum()

    return jax.jit(program), (image(400, 20_000),)


@planted()
def sparse_product(slow: bool) -> Any:
    from jax.experimental import sparse

    chance = np.random.default_rng(0)
    dense = (chance.random((3000, 3000)) < 0.03) * chance.random((3000, 3000))
    matrix = sparse.BCOO.fromdense(jnp.asarray(dense, jnp.float32))

    def program(matrix: Any, x: Any) -> Any:
        y = x
        if slow:
            y = matrix @ x  # planted
        return jnp.log1p(y).sum()

    return jax.jit(program), (matrix, jnp.abs(image(3000, 64)))


@planted()
def custom_jvp(slow: bool) -> Any:
    @jax.custom_jvp
    def gram(x: Any) -> Any:
        return jnp.sin(x)

    @gram.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        tangent = jnp.cos(x) * dx
        if slow:
            tangent = tangent @ x.T @ dx  # planted
        return gram(x), tangent

    def program(x: Any) -> Any:
        return jax.jvp(gram, (x,), (x,))[1].sum()

    return jax.jit(program), (image(700, 700),)


@planted()
def mapped_in_batches(slow: bool) -> Any:
    def one(row: Any) -> Any:
        y = row * 2
        if slow:
            y = jnp.fft.fft(y).real  # planted
        return y.sum()

    def program(x: Any) -> Any:
        return lax.map(one, x, batch_size=16).sum()

    return jax.jit(program), (image(400, 16_384),)


@planted("optimistix")
def root_of_optimistix(slow: bool) -> Any:
    import optimistix

    def residual(y: Any, a: Any) -> Any:
        return a @ jnp.tanh(y) - 0.3

    def program(y: Any, a: Any) -> Any:
        z = jnp.cos(a).sum()
        if slow:
            solver = optimistix.Newton(rtol=1e-5, atol=1e-5)
            y = optimistix.root_find(residual, solver, y, a, throw=False).value  # planted
        return y.sum() + z

    return jax.jit(program), (image(400), 20 * jnp.eye(400) + image(400, 400))


@planted("equinox", "lineax")
def nested_filter_jits(slow: bool) -> Any:
    import equinox
    import lineax

    @equinox.filter_jit
    def inner(a: Any, b: Any) -> Any:
        y = jnp.tanh(b)
        if slow:
            y = lineax.linear_solve(lineax.MatrixLinearOperator(a), b).value  # planted
        return y.sum()

    @equinox.filter_jit
    def program(a: Any, b: Any) -> Any:
        return inner(a, jnp.sin(b))

    return program, (20 * jnp.eye(700) + image(700, 700), image(700))


@planted("blackjax")
def step_of_blackjax(slow: bool) -> Any:
    import blackjax

    def density(w: Any, x: Any) -> Any:
        y = w
        if slow:
            y = x @ (x @ w)  # planted
        return -(y**2).sum() * 1e-6 - (w**2).sum()

    def program(w: Any, x: Any, key: Any) -> Any:
        sampler = blackjax.hmc(partial(density, x=x), 1e-3, jnp.ones(1000), 20)
        state, _ = sampler.step(key, sampler.init(w))
        return state.position.sum()

    return jax.jit(program), (image(1000), image(1000, 1000), jax.random.key(0))


@planted("flax")
def rnn_of_nnx(slow: bool) -> Any:
    from flax import nnx

    class Tagger(nnx.Module):  # type: ignore[misc]
        def __init__(self, rngs: Any) -> None:
            self.rnn = nnx.RNN(nnx.GRUCell(64, 256, rngs=rngs))
            self.norm = nnx.LayerNorm(256, rngs=rngs)
            self.wide = nnx.Linear(64, 256, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            y = self.wide(x)
            if slow:
                y = y + self.rnn(x)  # planted
            return self.norm(y)

    @nnx.jit
    def program(model: Any, x: Any) -> Any:
        return nnx.value_and_grad(lambda model: (model(x) ** 2).mean())(model)

    return program, (Tagger(nnx.Rngs(0)), image(16, 100, 64))


@planted("equinox")
def checkpoint_of_equinox(slow: bool) -> Any:
    import equinox

    class Net(equinox.Module):
        first: Any
        mixer: Any

        def __init__(self, key: Any) -> None:
            self.first = equinox.nn.Linear(16, 128, key=key)
            self.mixer = equinox.nn.MLP(128, 128, 512, 2, activation=jax.nn.silu, key=key)

        def __call__(self, x: Any) -> Any:
            y = jnp.tanh(self.first(x))
            if slow:
                y = y + equinox.filter_checkpoint(self.mixer)(y)  # planted
            return y.sum()

    @equinox.filter_jit
    def program(net: Any, x: Any) -> Any:
        return equinox.filter_value_and_grad(lambda net: (jax.vmap(net)(x) ** 2).mean())(net)

    return program, (Net(jax.random.key(0)), image(800, 16))
