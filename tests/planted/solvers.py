"""Solvers and models: many small operations in loops of libraries."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import planted
from .windows import image


@planted("diffrax")
def differential_equation(slow: bool) -> Any:
    import diffrax

    def field(t: Any, y: Any, w: Any) -> Any:
        z = -y
        if slow:
            z = jnp.tanh(w @ z)  # planted
        return z * 0.1

    def solve(y: Any, w: Any) -> Any:
        return diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 1.0, 0.1, y, w).ys

    return jax.jit(solve), (image(400, 400), image(400, 400))


@planted("numpyro")
def model_of_numpyro(slow: bool) -> Any:
    import numpyro
    from numpyro.distributions import Normal
    from numpyro.infer.util import log_density

    def model(x: Any, y: Any) -> Any:
        w = numpyro.sample("w", Normal(jnp.zeros(400), 1.0).to_event(1))
        mean = x[:, 0]
        if slow:
            mean = jnp.sort(x @ jnp.outer(w, w), axis=1)[:, 0]  # planted
        numpyro.sample("y", Normal(mean, 1.0).to_event(1), obs=y)

    def density(w: Any, x: Any, y: Any) -> Any:
        return log_density(model, (x, y), {}, {"w": w})[0]

    return jax.jit(jax.grad(density)), (image(400), image(500, 400), image(500))
