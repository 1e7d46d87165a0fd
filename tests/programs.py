"""Real programs of every kind, small: what the memory map is tried on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Program = tuple[Any, tuple[Any, ...]]


def _layers(weights: Any, x: Any, *, remat: bool = False) -> Any:
    """A deep network as a loop over its layers, each with several intermediates."""

    def layer(h: Any, w: Any) -> tuple[Any, None]:
        wide = jnp.tanh(h @ w)
        return h + jnp.sin(wide) * jnp.cos(wide @ w), None

    body = jax.checkpoint(layer) if remat else layer
    return (jax.lax.scan(body, x, weights)[0] ** 2).mean()


def mlp(*, donate: bool = False) -> Program:
    def loss(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x**2).mean()

    def step(weights: Any, x: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(weights, x)
        return [w - 0.1 * slope for w, slope in zip(weights, slopes, strict=True)], value

    jitted = jax.jit(step, donate_argnums=(0,) if donate else ())
    return jitted, ([jnp.ones((64, 64)) for _ in range(6)], jnp.ones((256, 64)))


def deep(*, remat: bool) -> Program:
    def train(weights: Any, x: Any) -> Any:
        return jax.grad(lambda w: _layers(w, x, remat=remat))(weights)

    return jax.jit(train), (jnp.ones((8, 64, 64)), jnp.ones((128, 64)))


def cnn() -> Program:
    def features(x: Any, first: Any, second: Any) -> Any:
        order = ("NHWC", "HWIO", "NHWC")
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, first, (1, 1), "SAME", dimension_numbers=order))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, second, (1, 1), "SAME", dimension_numbers=order))
        return x.mean((1, 2)).sum()

    arguments = jnp.ones((4, 16, 16, 3)), jnp.ones((3, 3, 3, 8)), jnp.ones((3, 3, 8, 16))
    return jax.jit(jax.grad(features, argnums=(1, 2))), arguments


def transformer() -> Program:
    def normalised(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)

    def heads(x: Any) -> Any:
        return x.reshape(*x.shape[:2], 4, -1)

    def block(x: Any, weights: dict[str, Any]) -> Any:
        h = normalised(x)
        scores = jnp.einsum("bqhd,bkhd->bhqk", heads(h @ weights["q"]), heads(h @ weights["k"]))
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), heads(h @ weights["v"])).reshape(x.shape)
        x = x + mixed @ weights["o"]
        return (x + jax.nn.gelu(normalised(x) @ weights["up"]) @ weights["down"]).sum()

    shapes = {**dict.fromkeys("qkvo", (64, 64)), "up": (64, 256), "down": (256, 64)}
    weights = {name: jnp.ones(shape) for name, shape in shapes.items()}
    return jax.jit(jax.grad(block, argnums=1)), (jnp.ones((2, 32, 64)), weights)


def scan() -> Program:
    def total(x: Any, w: Any) -> Any:
        def step(carry: Any, _: None) -> tuple[Any, Any]:
            carry = jnp.tanh(carry @ w)
            return carry, carry.sum()

        return jax.lax.scan(step, x, None, length=7)[1].sum()

    return jax.jit(jax.grad(total, argnums=1)), (jnp.ones((32, 64)), jnp.ones((64, 64)))


def while_loop() -> Program:
    def settle(x: Any) -> Any:
        def going_on(state: Any) -> Any:
            return (state[1] < 10) & (state[0].sum() > -1e9)

        return jax.lax.while_loop(going_on, lambda state: (jnp.sort(state[0]) * 0.9 + state[0], state[1] + 1), (x, 0))

    return jax.jit(settle), (jnp.ones(4096),)


def branches() -> Program:
    def either(x: Any) -> Any:
        return jax.lax.cond(x.sum() > 0, lambda x: jnp.sort(x) * 2, lambda x: jnp.cumsum(x)[::-1], x)

    return jax.jit(either), (jnp.ones(1024),)


def sort() -> Program:
    return jax.jit(lambda x: (jnp.sort(x), jnp.argsort(x))), (jnp.ones(10_000),)


def fft() -> Program:
    return jax.jit(lambda x: jnp.fft.ifft2(jnp.fft.fft2(x) ** 2).real), (jnp.ones((128, 128)),)


def sharded_matmul() -> Program:
    """Rows over all devices."""
    mesh = jax.make_mesh((jax.device_count(),), ("rows",))
    rows, everywhere = (
        jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec)) for spec in (("rows", None), ())
    )
    x, w = jax.device_put(jnp.ones((256, 256)), rows), jax.device_put(jnp.ones((256, 256)), everywhere)
    return jax.jit(lambda x, w: jnp.tanh(x @ w).sum(0) @ w), (x, w)


#: All of them, by name.
PROGRAMS: dict[str, Callable[[], Program]] = {
    "mlp": mlp,
    "cnn": cnn,
    "transformer": transformer,
    "scan": scan,
    "while": while_loop,
    "remat": lambda: deep(remat=True),
    "donation": lambda: mlp(donate=True),
    "sort": sort,
    "fft": fft,
    "sharded": sharded_matmul,
    "cond": branches,
}
