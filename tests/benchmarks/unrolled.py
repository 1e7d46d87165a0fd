"""What a loop of JAX spares of the time to compile an unrolled one, beside what unrolled-loop promises."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import perf_counter_ns as clock
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxmagic.doctor.rules.compiling.unrolled_loop import promised_ns

#: The sides of what is carried.
_SIZE = 64


def recurrent(h: Any, x: Any, w: Any, u: Any) -> Any:
    return jnp.tanh(h @ w + x @ u)


def gated(h: Any, x: Any, w: Any, u: Any) -> Any:
    inputs = jnp.concatenate([h, x], -1) @ jnp.concatenate([w, u], 0)
    gate = jax.nn.sigmoid(inputs)
    return gate * jnp.tanh(inputs) + (1 - gate) * h


def attention(h: Any, x: Any, w: Any, u: Any) -> Any:
    h = h + jax.nn.softmax((h @ w) @ (h @ u).T / 8) @ (h @ (w + u))
    h = (h - h.mean(-1, keepdims=True)) / jnp.sqrt(h.var(-1, keepdims=True) + 1e-5)
    return h + jax.nn.gelu(h @ w) @ u + x


def elementwise(h: Any, x: Any, w: Any, u: Any) -> Any:
    return jnp.sin(h) * jnp.cos(x) + jnp.exp(-h * h)


def runge_kutta(h: Any, x: Any, w: Any, u: Any) -> Any:
    def slope(y: Any) -> Any:
        return jnp.tanh(y @ w) - y + x @ u

    a = slope(h)
    b = slope(h + 0.05 * a)
    c = slope(h + 0.05 * b)
    return h + 0.1 / 6 * (a + 2 * b + 2 * c + slope(h + 0.1 * c))


def sinkhorn(h: Any, x: Any, w: Any, u: Any) -> Any:
    h = h + x - jax.nn.logsumexp(h + x, axis=0, keepdims=True)
    return h - jax.nn.logsumexp(h, axis=1, keepdims=True)


def sorted_rows(h: Any, x: Any, w: Any, u: Any) -> Any:
    return jnp.sort(h + x, axis=0) @ w


def solved(h: Any, x: Any, w: Any, u: Any) -> Any:
    return jnp.linalg.solve(w + 10 * jnp.eye(_SIZE), h.T).T + x


BODIES = recurrent, gated, attention, elementwise, runge_kutta, sinkhorn, sorted_rows, solved


def main(times: int, *rounds: int) -> list[dict[str, Any]]:
    """For each loop and its gradient: how long it compiles, unrolled and as a scan, and what is promised (ns)."""
    return [_row(body, gradient, count, times) for body in BODIES for gradient in (False, True) for count in rounds]


def _row(body: Callable[..., Any], gradient: bool, rounds: int, times: int) -> dict[str, Any]:
    def unrolled(h: Any, xs: Any, w: Any, u: Any) -> Any:
        for t in range(rounds):
            h = body(h, xs[t], w, u)
        return h.sum()

    def scanned(h: Any, xs: Any, w: Any, u: Any) -> Any:
        return lax.scan(lambda h, x: (body(h, x, w, u), None), h, xs)[0].sum()

    took = [min(_compiles_ns(each, gradient, rounds) for _ in range(times)) for each in (unrolled, scanned)]
    return {
        "name": f"{body.__name__}{', gradient' if gradient else ''}",
        "rounds": rounds,
        "unrolled_ns": took[0],
        "scanned_ns": took[1],
        "promised_ns": promised_ns(took[0], 1.0, rounds, gradient=gradient),
    }


def _compiles_ns(function: Callable[..., Any], gradient: bool, rounds: int) -> int:
    h, xs = jnp.full((_SIZE, _SIZE), 0.1), jnp.full((rounds, _SIZE, _SIZE), 0.1)
    w, u = 0.3 * jnp.eye(_SIZE), 0.2 * jnp.eye(_SIZE)
    jitted = jax.jit(jax.grad(function, argnums=(0, 2, 3)) if gradient else function)
    jax.clear_caches()
    begin = clock()
    jitted.lower(h, xs, w, u).compile()
    return clock() - begin


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))))
