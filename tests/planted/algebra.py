"""Factorizations, transforms and products."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import planted
from .windows import image


@planted()
def singular_values(slow: bool) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        z = jnp.linalg.svd(y, compute_uv=False) if slow else y[0]  # planted
        return y + z

    return jax.jit(f), (image(200, 200),)


@planted()
def cholesky_solve(slow: bool) -> Any:
    def f(x: Any) -> Any:
        y = x + 1
        if slow:
            y = jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(y @ y.T + 500 * jnp.eye(400)), y)  # planted
        return y + 1

    return jax.jit(f), (image(400, 400),)


@planted()
def fourier_transform(slow: bool) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        if slow:
            y = jnp.fft.irfft2(jnp.fft.rfft2(y), s=y.shape)  # planted
        return y + 1

    return jax.jit(f), (image(1000, 1000),)


@planted()
def attention(slow: bool) -> Any:
    def f(q: Any, k: Any) -> Any:
        y = q * 0.1
        if slow:
            y = jnp.einsum("qk,kd->qd", jax.nn.softmax(jnp.einsum("qd,kd->qk", y, k)), k)  # planted
        return y + 1

    return jax.jit(f), (image(1000, 64), image(1000, 64))
