"""Clean programs that call jitted functions from Python: loops, classes, pipelines, and what stays outside of jit."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .clean import Program, normal, program


def layers(width: int, depth: int = 3) -> list[Any]:
    return [normal(width, width, seed=each) / width**0.5 for each in range(depth)]


def loss(params: Any, x: Any, y: Any) -> Any:
    for w in params[:-1]:
        x = jnp.tanh(x @ w)
    return ((x @ params[-1] - y) ** 2).mean()


@partial(jax.jit, donate_argnums=(0, 1))
def donated_step(params: Any, velocity: Any, x: Any, y: Any) -> Any:
    value, gradient = jax.value_and_grad(loss)(params, x, y)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradient)
    return jax.tree.map(lambda p, v: p - 0.01 * v, params, velocity), velocity, value


@jax.jit
def batch_error(params: Any, x: Any, y: Any) -> Any:
    return loss(params, x, y)


@program
def training_loop() -> Program:
    """Losses stay on the device, and are read once per 20 steps."""
    x, y = normal(512, 256, seed=8), normal(512, 256, seed=9)

    def train(steps: int) -> Any:
        params = layers(256)
        velocity = jax.tree.map(jnp.zeros_like, params)
        log, losses = [], []
        for step in range(steps):
            params, velocity, value = donated_step(params, velocity, x, y)
            losses.append(value)
            if (step + 1) % 20 == 0:
                log += [float(each) for each in jax.device_get(losses)]
                losses.clear()
        return log

    return train, (40,)


@program
def prefetched_batches() -> Program:
    """A thread loads and copies the next batches, while the device works."""
    data = np.random.default_rng(0).normal(size=(16 * 512, 256)).astype(np.float32)

    def batches() -> Iterator[Any]:
        for start in range(0, len(data), 512):
            rows = data[start : start + 512]
            yield jax.device_put((rows - rows.mean()) / rows.std())

    def prefetched(items: Iterator[Any], ahead: int = 2) -> Iterator[Any]:
        waiting: queue.Queue[Any] = queue.Queue(ahead)

        def load() -> None:
            for each in items:
                waiting.put(each)
            waiting.put(None)

        threading.Thread(target=load, daemon=True).start()
        while (item := waiting.get()) is not None:
            yield item

    def train(params: Any) -> Any:
        total = jnp.zeros(())
        for x in prefetched(batches()):
            total += batch_error(params, x, x)
        return float(total)

    return train, (layers(256),)


@program
def evaluation_loop() -> Program:
    """All batches have one shape; their errors are summed on the device."""
    xs = [normal(512, 256, seed=each) for each in range(12)]

    def evaluate(params: Any, xs: Any) -> float:
        total = 0.0
        for x in xs:
            total = total + batch_error(params, x, x)
        return float(total) / len(xs)

    return evaluate, (layers(256), xs)


@program
def generation_with_a_cache() -> Program:
    """The cache has one size, and is updated in place."""

    def decode(params: Any, cache: Any, token: Any, position: Any) -> Any:
        x = params["embed"][token]
        query, key, value = (x @ params[each] for each in ("q", "k", "v"))
        cache = {
            "k": lax.dynamic_update_slice(cache["k"], key[:, None], (0, position, 0)),
            "v": lax.dynamic_update_slice(cache["v"], value[:, None], (0, position, 0)),
        }
        seen = jnp.arange(cache["k"].shape[1]) <= position
        weights = jax.nn.softmax(jnp.where(seen, jnp.einsum("bd,btd->bt", query, cache["k"]) / 16, -jnp.inf))
        x = x + jnp.einsum("bt,btd->bd", weights, cache["v"]) @ params["o"]
        return cache, (x @ params["embed"].T).argmax(-1)

    @jax.jit
    def generate(params: Any, tokens: Any) -> Any:
        cache = {each: jnp.zeros((tokens.shape[0], 64, 256)) for each in "kv"}

        def step(carry: Any, position: Any) -> Any:
            cache, token = decode(params, *carry, position)
            return (cache, token), token

        return lax.scan(step, (cache, tokens), jnp.arange(64))[1].T

    params = {each: normal(256, 256, seed=number) / 16 for number, each in enumerate("qkvo")}
    params["embed"] = normal(1000, 256, seed=9) / 16
    return lambda tokens: [row.tolist() for row in np.asarray(generate(params, tokens))], (jnp.arange(8),)


@program
def decoding_step_by_step() -> Program:
    """A loop of Python calls a heavy step, with its cache donated."""

    @partial(jax.jit, donate_argnums=1)
    def decode(params: Any, cache: Any, token: Any, position: Any) -> Any:
        x = params[0][token]
        for layer, w in enumerate(params[1:]):
            cache = cache.at[layer, :, position].set(x @ w)
            weights = jax.nn.softmax(jnp.einsum("bd,btd->bt", x, cache[layer]) / 22)
            x = x + jnp.einsum("bt,btd->bd", weights, cache[layer])
        return cache, (x @ params[0].T).argmax(-1)

    params = [normal(4000, 512) / 22, *(normal(512, 512, seed=each) / 22 for each in range(1, 3))]

    def generate(prompt: Any) -> Any:
        cache, token, found = jnp.zeros((2, 64, 32, 512)), prompt, []
        for position in range(12):
            cache, token = decode(params, cache, token, position)
            found.append(token)
        return np.asarray(jnp.stack(found))

    return generate, (jnp.arange(64),)


@program
def epochs_of_scans() -> Program:
    """An epoch is one program; its mean loss is read between two epochs."""

    @partial(jax.jit, donate_argnums=0)
    def epoch(params: Any, xs: Any) -> Any:
        def step(params: Any, x: Any) -> Any:
            value, gradient = jax.value_and_grad(loss)(params, x, x)
            return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradient), value

        params, values = lax.scan(step, params, xs)
        return params, values.mean()

    def train(xs: Any) -> list[float]:
        params, log = layers(128), []
        for _ in range(4):
            params, value = epoch(params, xs)
            log.append(float(value))
        return log

    return train, (normal(30, 256, 128),)


@program
def epochs_read_together() -> Program:
    """The mean losses of all epochs are read by one call, after the loop, in a function that no loop calls."""

    @partial(jax.jit, donate_argnums=0)
    def epoch(params: Any, xs: Any) -> Any:
        def step(params: Any, x: Any) -> Any:
            value, gradient = jax.value_and_grad(loss)(params, x, x)
            return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradient), value

        params, values = lax.scan(step, params, xs)
        return params, values.mean()

    def train(xs: Any) -> Any:
        params, means = layers(128), []
        for _ in range(5):
            params, mean = epoch(params, xs)
            means.append(mean)
        return jax.device_get(means)

    return train, (normal(30, 256, 128, seed=2),)


@program
def batches_over_devices() -> Program:
    """Each batch is divided among all devices, and the losses are read by one call after the loop."""
    mesh = jax.make_mesh((jax.device_count(),), ("batch",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())

    @jax.jit
    def step(w: Any, x: Any) -> Any:
        value, gradient = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
        return w - 0.1 * gradient, value

    def train(w: Any, xs: Any) -> Any:
        values = []
        for x in xs:
            w, value = step(w, x)
            values.append(value)
        return w, jax.device_get(values)

    xs = [jax.device_put(normal(2048, 256, seed=each), rows) for each in range(6)]
    return train, (jax.device_put(jnp.eye(256), everywhere), xs)


@program
def descent_until_it_converges() -> Program:
    """The device decides when the loop ends."""

    @jax.jit
    def minimize(a: Any, b: Any) -> Any:
        def goes_on(state: Any) -> Any:
            return (jnp.linalg.norm(state[1]) > 1e-3) & (state[2] < 500)

        def step(state: Any) -> Any:
            x, gradient, count = state
            x = x - 0.3 * gradient
            return x, a @ x - b, count + 1

        return lax.while_loop(goes_on, step, (b, a @ b - b, 0))

    def solve(a: Any, b: Any) -> Any:
        x, gradient, count = minimize(a, b)
        return x, f"{int(count)} steps, |gradient| = {float(jnp.linalg.norm(gradient)):.1e}"

    a = normal(600, 600)
    return solve, (a @ a.T / 1200 + jnp.eye(600) / 2, normal(600, seed=1))


@program
def stopped_between_chunks() -> Program:
    """Whether to go on is asked once per 200 steps."""

    @jax.jit
    def chunk(u: Any) -> Any:
        def relax(_: Any, u: Any) -> Any:
            inner = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
            return u.at[1:-1, 1:-1].set(inner)

        after = lax.fori_loop(0, 200, relax, u)
        return after, jnp.abs(after - u).max()

    def relaxed(u: Any) -> Any:
        for _ in range(5):
            u, change = chunk(u)
            if change < 1e-4:
                break
        return u

    return relaxed, (jnp.zeros((300, 300)).at[0].set(1.0),)


@program
def gradients_of_each_example() -> Program:
    """Jit is around vmap, which is around grad, and around what is made of the gradients."""
    each_gradient = jax.vmap(jax.grad(loss), (None, 0, 0))

    @jax.jit
    def norms(params: Any, xs: Any, ys: Any) -> Any:
        gradients = each_gradient(params, xs, ys)
        return jnp.sqrt(sum((each**2).sum((1, 2)) for each in gradients))

    return norms, (layers(64), normal(256, 64, seed=8), normal(256, 64, seed=9))


class Model:
    """A class with jitted methods: what they depend on is an argument, and the object itself is static."""

    def __init__(self, width: int) -> None:
        self.params = layers(width)

    @partial(jax.jit, static_argnums=0)
    def predict(self, params: Any, x: Any) -> Any:
        for w in params:
            x = jax.nn.relu(x @ w)
        return jax.nn.softmax(x)

    @partial(jax.jit, static_argnums=0)
    def updated(self, params: Any, x: Any, y: Any) -> Any:
        gradient = jax.grad(lambda params: ((self.predict(params, x) - y) ** 2).sum())(params)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradient)

    def fitted(self, xs: Any, ys: Any) -> Any:
        params = self.params
        for x, y in zip(xs, ys, strict=True):
            params = self.updated(params, x, y)
        return params


@program
def jitted_methods() -> Program:
    model = Model(256)
    xs = [normal(512, 256, seed=each) for each in range(10)]
    ys = [jax.nn.softmax(each) for each in xs]
    return model.fitted, (xs, ys)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class TrainState:
    params: Any
    momentum: Any
    step: Any


@program
def dataclass_state() -> Program:
    @jax.jit
    def advance(state: TrainState, x: Any) -> tuple[TrainState, Any]:
        value, gradient = jax.value_and_grad(loss)(state.params, x, x)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state.momentum, gradient)
        rate = 0.01 / (1 + state.step / 100)
        params = jax.tree.map(lambda p, m: p - rate * m, state.params, momentum)
        return replace(state, params=params, momentum=momentum, step=state.step + 1), value

    def train(state: TrainState, xs: Any) -> Any:
        values = []
        for x in xs:
            state, value = advance(state, x)
            values.append(value)
        return state, np.asarray(jnp.stack(values))

    params = layers(256)
    state = TrainState(params, jax.tree.map(jnp.zeros_like, params), jnp.zeros((), int))
    return train, (state, [normal(512, 256, seed=each) for each in range(10)])


class Walkers(NamedTuple):
    position: Any
    energy: Any
    accepted: Any


@program
def chains_of_metropolis() -> Program:
    """All chains and all steps are in one program; the samples are fetched once."""

    def energy(x: Any) -> Any:
        return ((x**2).sum() - 4) ** 2

    @jax.jit
    def sample(walkers: Walkers, noise: Any, chances: Any) -> Any:
        def step(walker: Walkers, drawn: Any) -> Any:
            proposed = walker.position + 0.3 * drawn[0]
            energy_there = energy(proposed)
            accepts = jnp.log(drawn[1]) < walker.energy - energy_there
            position = jnp.where(accepts, proposed, walker.position)
            energy_here = jnp.where(accepts, energy_there, walker.energy)
            return Walkers(position, energy_here, walker.accepted + accepts), position

        return jax.vmap(lambda walker, *drawn: lax.scan(step, walker, drawn))(walkers, noise, chances)

    def means(noise: Any, chances: Any) -> Any:
        start = jnp.zeros((200, 8))
        walkers = Walkers(start, jax.vmap(energy)(start), jnp.zeros(200, int))
        walkers, _ = sample(walkers, noise, chances)  # burn-in
        walkers, positions = sample(walkers, noise[:, ::-1], chances)
        return np.asarray(positions).mean((0, 1)), int(walkers.accepted.sum())

    chances = jnp.asarray(np.random.default_rng(1).uniform(size=(200, 300)), jnp.float32)
    return means, (normal(200, 300, 8), chances)


@program
def rates_in_turn() -> Program:
    """The rate is traced: one program trains with each of them."""

    @jax.jit
    def final_loss(rate: Any, x: Any) -> Any:
        def step(params: Any, _: Any) -> Any:
            value, gradient = jax.value_and_grad(loss)(params, x, x)
            return jax.tree.map(lambda p, g: p - rate * g, params, gradient), value

        return lax.scan(step, layers(128), length=30)[1][-1]

    def sweep(x: Any) -> dict[float, float]:
        return {rate: float(final_loss(rate, x)) for rate in (0.001, 0.003, 0.01, 0.03)}

    return sweep, (normal(256, 128, seed=9),)


@program
def heavy_calls() -> Program:
    """A few long programs in a loop, each of which needs the result of the one before."""
    squared = jax.jit(lambda a: a @ a / jnp.linalg.norm(a))

    def power(a: Any) -> Any:
        for _ in range(8):
            a = squared(a)
        return a

    return power, (normal(700, 700),)


@program
def plotted_once() -> Program:
    """The simulation is one program; NumPy prepares its result for a plot."""

    @jax.jit
    def simulate(state: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            position, speed = state
            speed = speed - 0.01 * position - 0.001 * speed
            return (position + 0.01 * speed, speed), (position**2).mean()

        return lax.scan(step, state, length=2000)

    def curve(position: Any, speed: Any) -> Any:
        _, energies = simulate((position, speed))
        ys = np.asarray(energies)
        xs = np.linspace(0, 20, len(ys))
        return np.column_stack([xs, ys, np.gradient(ys, xs)])

    return curve, (normal(10_000), normal(10_000, seed=1))


@program
def heavy_operations_outside_of_jit() -> Program:
    """As in a console: a few long operations, for which jit would gain nothing."""

    def explain(x: Any) -> dict[str, Any]:
        values, vectors = jnp.linalg.eigh(x.T @ x)
        return {"spectrum": np.asarray(values)[::-1], "projected": np.asarray(x @ vectors[:, -2:])}

    return explain, (normal(4000, 200),)


@program
def loss_of_the_step_before() -> Program:
    """What is printed is a step old, so that the device has work while Python formats it."""
    x, y = normal(512, 256, seed=8), normal(512, 256, seed=9)

    def train(steps: int) -> list[str]:
        params = layers(256)
        velocity = jax.tree.map(jnp.zeros_like, params)
        log: list[str] = []
        before = None
        for step in range(steps):
            params, velocity, value = donated_step(params, velocity, x, y)
            if before is not None:
                log.append(f"{step - 1}: {float(before):.4f}")
            before = value
        return log

    return train, (20,)


@program
def bucketed_lengths() -> Program:
    """Sequences are padded to two lengths, so that there are two programs."""

    @jax.jit
    def encode(w: Any, x: Any, length: Any) -> Any:
        mask = jnp.arange(x.shape[0]) < length
        scores = jnp.where(mask, (x @ w) @ x.T / 16, -jnp.inf)
        return (jax.nn.softmax(scores) @ x * mask[:, None]).sum(0) / length

    rng = np.random.default_rng(0)
    lengths = 310, 500, 420, 620, 700, 1000, 900, 512
    texts = [rng.normal(size=(length, 256)).astype(np.float32) for length in lengths]

    def encoded(w: Any, texts: Any) -> Any:
        found = []
        for text in texts:
            size = 512 if len(text) <= 512 else 1024
            found.append(encode(w, np.pad(text, ((0, size - len(text)), (0, 0))), len(text)))
        return np.asarray(jnp.stack(found))

    return encoded, (normal(256, 256) / 16, texts)
