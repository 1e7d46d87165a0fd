"""Clean programs of several cells, the last of which is examined."""

from __future__ import annotations

_MODEL = """\
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

def loss(params, x, y):
    for w in params[:-1]:
        x = jnp.tanh(x @ w)
    return jnp.mean((x @ params[-1] - y) ** 2)

rng = np.random.default_rng(0)
params = [jnp.asarray(rng.normal(size=(256, 256)) / 16, jnp.float32) for _ in range(3)]
x, y = (jnp.asarray(rng.normal(size=(512, 256)), jnp.float32) for _ in "xy")
"""

_STEP = """\
@partial(jax.jit, donate_argnames="params")
def step(params, x, y):
    value, gradient = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradient), value
"""

#: By name: the cells.
SCRIPTS: dict[str, tuple[str, ...]] = {
    "one step in a cell": (_MODEL, _STEP, "params, value = step(params, x, y)"),
    "training in a cell": (
        _MODEL,
        _STEP,
        """\
losses = []
for number in range(20):
    params, value = step(params, x, y)
    losses.append(value)
print(f"{float(jnp.stack(losses[-10:]).mean()):.4f}")""",
    ),
    "training in a function of another cell": (
        _MODEL,
        _STEP,
        """\
def train(params, steps):
    params = jax.tree.map(jnp.copy, params)  # step() donates
    for number in range(steps):
        params, value = step(params, x, y)
        if number % 10 == 9:
            print(number, float(value))
    return params""",
        "trained = train(params, 20)",
    ),
    "a model as a class": (
        _MODEL,
        """\
class Regression:
    def __init__(self, params):
        self.params = params
        self._step = jax.jit(jax.value_and_grad(loss))

    def fit(self, batches, rate=0.01):
        params = self.params
        for x, y in batches:
            value, gradient = self._step(params, x, y)
            params = jax.tree.map(lambda p, g: p - rate * g, params, gradient)
        return params, value

model = Regression(params)
batches = [(x + shift, y) for shift in range(8)]""",
        "fitted, value = model.fit(batches)",
    ),
    "batches loaded ahead": (
        _MODEL,
        """\
from concurrent.futures import ThreadPoolExecutor

error = jax.jit(loss)
table = rng.normal(size=(8 * 512, 256)).astype(np.float32)

def load(number):
    rows = table[512 * number : 512 * (number + 1)]
    return (rows - rows.mean(0)) / rows.std(0)""",
        """\
with ThreadPoolExecutor(1) as pool:
    ahead = pool.submit(load, 0)
    errors = []
    for number in range(8):
        rows = ahead.result()
        ahead = pool.submit(load, (number + 1) % 8)
        errors.append(error(params, rows, rows))
print(np.mean(jax.device_get(errors)))""",
    ),
    "a simulation and its plot": (
        """\
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def simulate(u):
    def step(u, _):
        u = u + 0.2 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u)
        return u, (u.min(), u.max())

    return jax.lax.scan(step, u, length=100)

u = jnp.zeros((256, 256)).at[100:150, 100:150].set(1.0)""",
        """\
after, (low, high) = simulate(u)
picture = np.asarray(after)
shades = (255 * (picture - picture.min()) / np.ptp(picture)).astype(np.uint8)
range_shown = np.asarray(low).min(), np.asarray(high).max()""",
    ),
    "numpy alone": (
        """\
import numpy as np

rng = np.random.default_rng(0)
table = rng.normal(size=(20_000, 60))""",
        """\
centred = table - table.mean(0)
values, vectors = np.linalg.eigh(centred.T @ centred / len(table))
explained = values[::-1].cumsum() / values.sum()""",
    ),
}
