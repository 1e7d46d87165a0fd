"""More slow programs, as people write them who come from NumPy or from PyTorch."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .slow import Program, found_by, instead_of, normal


@found_by("not-jitted")
def keys_split_in_a_loop() -> Program:
    def sample(key: Any) -> Any:
        total = jnp.zeros(8)
        for _ in range(60):
            key, own = jax.random.split(key)
            total = total + jax.random.normal(own, (8,))
        return total

    return sample, (jax.random.key(0),)


@found_by("not-jitted", "recompile")
def appended_in_a_loop() -> Program:
    def trajectory(x: Any) -> Any:
        found = jnp.zeros((0,))
        for _ in range(40):
            x = 3.7 * x * (1 - x)
            found = jnp.append(found, x)
        return found

    return trajectory, (jnp.float32(0.3),)


@instead_of(appended_in_a_loop)
def scanned_trajectory() -> Program:
    @jax.jit
    def trajectory(x: Any) -> Any:
        def step(x: Any, _: Any) -> Any:
            x = 3.7 * x * (1 - x)
            return x, x

        return lax.scan(step, x, length=40)[1]

    return trajectory, (jnp.float32(0.3),)


@found_by("host-wait", "dispatch-bound")
def item_in_logging() -> Program:
    @jax.jit
    def step(w: Any, x: Any) -> Any:
        gradient = x.T @ jnp.tanh(x @ w)
        return w - 1e-4 * gradient, (gradient**2).sum()

    def train(w: Any, x: Any) -> Any:
        log = []
        for epoch in range(100):
            w, norm = step(w, x)
            log.append(f"{epoch}: {norm.item():.3f}")
        return w

    return train, (normal(64, 64), normal(64, 64, seed=1))


@found_by("host-wait", "dispatch-bound")
def vectorized_by_numpy() -> Program:
    @jax.jit
    def potential(r: Any) -> Any:
        return 4 * (r**-12 - r**-6)

    energies = np.vectorize(lambda r: float(potential(r)))
    return energies, (np.linspace(0.9, 3.0, 300, dtype=np.float32),)


@instead_of(vectorized_by_numpy)
def vectorized_by_jax() -> Program:
    @jax.jit
    def potential(r: Any) -> Any:
        return 4 * (r**-12 - r**-6)

    return lambda r: np.asarray(potential(r), np.float64), (np.linspace(0.9, 3.0, 300, dtype=np.float32),)


@found_by("recompile")
def jitted_in_each_call_of_an_object() -> Program:
    class Model:
        def __init__(self) -> None:
            self.w = normal(32, 32)

        def __call__(self, x: Any) -> Any:
            @jax.jit
            def forward(w: Any, x: Any) -> Any:
                return jax.nn.softmax(x @ w)

            return forward(self.w, x)

    model = Model()

    def predict(x: Any) -> Any:
        return [model(x) for _ in range(3)]

    return predict, (normal(8, 32, seed=1),)


@instead_of(jitted_in_each_call_of_an_object)
def jitted_when_the_object_is_made() -> Program:
    class Model:
        def __init__(self) -> None:
            self.w = normal(32, 32)
            self.forward = jax.jit(lambda w, x: jax.nn.softmax(x @ w))

        def __call__(self, x: Any) -> Any:
            return self.forward(self.w, x)

    model = Model()

    def predict(x: Any) -> Any:
        return [model(x) for _ in range(3)]

    return predict, (normal(8, 32, seed=1),)


@found_by("not-jitted", repeat=True)
def trained_in_an_object() -> Program:
    class Trainer:
        def __init__(self) -> None:
            self.rate, self.momentum = 1e-3, 0.9
            self.w, self.velocity = normal(32, 32), jnp.zeros((32, 32))

        def fit(self, x: Any) -> Any:
            for _ in range(60):
                gradient = x.T @ jnp.tanh(x @ self.w)
                self.velocity = self.momentum * self.velocity + gradient
                self.w = self.w - self.rate * self.velocity
            return self.w

    def train(trainer: Trainer, x: Any) -> Any:
        return trainer.fit(x)

    return train, (Trainer(), normal(8, 32, seed=1))


@found_by("recompile", repeat=True)
def step_counter_that_is_static() -> Program:
    @partial(jax.jit, static_argnums=2)
    def update(w: Any, g: Any, step: int) -> Any:
        return w - 0.1 / (1 + step) * g

    steps = iter(range(10**6))

    def train(w: Any, g: Any) -> Any:
        for _ in range(3):
            w = update(w, g, next(steps))
        return w

    return train, (normal(32), normal(32, seed=1))


@instead_of(step_counter_that_is_static)
def step_counter_that_is_traced() -> Program:
    @jax.jit
    def update(w: Any, g: Any, step: Any) -> Any:
        return w - 0.1 / (1 + step) * g

    steps = iter(range(10**6))

    def train(w: Any, g: Any) -> Any:
        for _ in range(3):
            w = update(w, g, next(steps))
        return w

    return train, (normal(32), normal(32, seed=1))


@found_by("not-jitted")
def ode_solved_step_by_step() -> Program:
    def field(y: Any) -> Any:
        return jnp.stack([y[1], -jnp.sin(y[0]) - 0.1 * y[1]])

    def solve(y: Any) -> Any:
        dt = 0.01
        for _ in range(30):
            k1 = field(y)
            k2 = field(y + dt / 2 * k1)
            y = y + dt * k2
        return y

    return solve, (jnp.array([1.0, 0.0]),)


@found_by("recompile", "not-jitted")
def mask_of_each_batch() -> Program:
    def means(xs: Any) -> Any:
        return jnp.stack([x[x > 0].mean() for x in xs])

    return means, (normal(20, 200),)


@instead_of(mask_of_each_batch)
def masked_means() -> Program:
    @jax.jit
    def means(xs: Any) -> Any:
        return jnp.mean(xs, axis=1, where=xs > 0)

    return means, (normal(20, 200),)


@found_by("not-jitted")
def gradient_of_a_jitted_loss() -> Program:
    @jax.jit
    def loss(w: Any, x: Any) -> Any:
        return (jnp.tanh(x @ w) ** 2).mean()

    def train(w: Any, x: Any) -> Any:
        for _ in range(20):
            w = w - 0.1 * jax.grad(loss)(w, x)
        return w

    return train, (normal(16, 16), normal(32, 16, seed=1))


@found_by("host-wait", "dispatch-bound")
def parameters_fetched_in_each_epoch() -> Program:
    @jax.jit
    def epoch(w: Any) -> Any:
        return w - 0.01 * jnp.tanh(w @ w)

    def train(w: Any) -> Any:
        history = []
        for _ in range(100):
            w = epoch(w)
            history.append(jax.device_get(w))
        return history[-1]

    return train, (normal(48, 48) / 7,)


def _cached(order: str) -> Any:
    """Decode with keys that are cached in an order of axes."""

    @jax.jit
    def attend(query: Any, keys: Any) -> Any:
        scores = jnp.einsum(f"bhd,{order}->bht", query, keys)
        return query + jax.nn.softmax(scores).max(-1, keepdims=True)

    def decode(query: Any, keys: Any) -> Any:
        for _ in range(4):
            query = attend(query, keys)
        return query

    return decode


@found_by("layout")
def keys_cached_in_another_order() -> Program:
    return _cached("bthd"), (normal(8, 16, 64), normal(8, 1024, 16, 64))


@instead_of(keys_cached_in_another_order)
def keys_cached_in_order() -> Program:
    return _cached("bhtd"), (normal(8, 16, 64), normal(8, 1024, 16, 64).transpose(0, 2, 1, 3))
