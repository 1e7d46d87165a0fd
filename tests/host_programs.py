"""Programs in which the host keeps the device waiting, and others that look like them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

#: Small and large arrays: the device is done with a small one before the host is done with the call.
TINY = jnp.ones((8, 8))
LONG = jnp.linspace(0.0, 1.0, 400_000)
SHORT = jnp.linspace(0.0, 1.0, 100_000)

#: An array that is nowhere near a multiple of 64 bytes: others need no copy on the CPU.
WIDE = np.frombuffer(bytearray(2**24 + 128), np.uint8)
WIDE = WIDE[(4 - WIDE.ctypes.data) % 64 :][: 2**24].view(np.float32).reshape(4096, 1024)


@jax.jit
def step(w: Any, x: Any) -> Any:
    return w - 0.001 * (x.T @ (x @ w - 1.0)), jnp.sum(w)


@jax.jit
def ordered(x: Any) -> Any:
    """Work on one thread: the device is busy for long, and another processor is free."""
    x = jnp.sort(-x)
    return x, x[0]


@jax.jit
def total(x: Any) -> Any:
    return jnp.sum(x)


def busy_host() -> int:
    return sum(range(1_000_000))


def batches(count: int) -> Iterator[Any]:
    for number in range(count):
        yield np.sort(np.random.default_rng(number).normal(size=100_000)).astype(np.float32)


# Planted.


def reads_each_loss(x: Any) -> Any:
    losses = []
    for _ in range(12):
        x, loss = ordered(x)
        losses.append(float(loss))
        busy_host()
    return x


def prints_each_loss(x: Any) -> Any:
    with redirect_stdout(io.StringIO()):
        for i in range(12):
            x, loss = ordered(x)
            print(i, loss)
            busy_host()
    return x


def last_of(x: Any) -> Any:
    busy_host()
    return ordered(x)[1]


def reads_in_a_list(x: Any) -> Any:
    return [last_of(x).item() for _ in range(12)]


def last_number(x: Any) -> Any:
    return float(last_of(x))


def calls_what_reads(x: Any) -> Any:
    total = 0.0
    for _ in range(12):
        total += last_number(x)
    return total


def decides_each_step(x: Any) -> Any:
    best = np.inf
    for _ in range(12):
        x, loss = ordered(x)
        if loss < best:
            best = 0
        busy_host()
    return x


def blocks_each_step(x: Any) -> Any:
    for _ in range(12):
        x, _loss = ordered(x)
        x.block_until_ready()
        busy_host()
    return x


def eager_loop(x: Any) -> Any:
    for _ in range(300):
        x = jnp.sin(x) * 0.5 + jnp.cos(x)
    return x


def eager_line(x: Any) -> Any:
    for _ in range(10):
        x = jnp.tanh(x) * 0.5 + jnp.cos(x) - jnp.abs(x)
    return x


def over_rows(x: Any) -> Any:
    out = 0.0
    for row in x:
        out = out + jnp.sum(row * row)
    return out


def short_calls(w: Any, x: Any) -> Any:
    for _ in range(300):
        w, loss = step(w, x)
    return w, loss


def short_calls_in_two_loops(w: Any, x: Any) -> Any:
    for _ in range(20):
        for _ in range(20):
            w, _loss = step(w, x)
    return w


def slow_input() -> Any:
    out = None
    for batch in batches(40):
        out = total(batch)
    return out


def device_batches(count: int) -> Iterator[Any]:
    for number in range(count):
        batch = np.sort(np.random.default_rng(number).normal(size=100_000))
        yield jnp.asarray(batch, jnp.float32) / 2


def loaded(number: int) -> Any:
    return np.sort(np.random.default_rng(number).normal(size=100_000)).astype(np.float32)


def slow_input_in_the_call() -> Any:
    out = None
    for number in range(40):
        out = total(loaded(number))
    return out


def slow_work_on_the_last_result() -> Any:
    out = loaded(0)
    for _ in range(40):
        out = total(loaded(int(out.size)))
    return out


def slow_input_on_the_device() -> Any:
    out = None
    for batch in device_batches(40):
        out = total(batch)
    return out


#: Sorted by merging: how long a quicksort takes beside a copy depends on the processor's vector instructions.
_ROW = np.random.default_rng(0).normal(size=20_000)


class Batches:
    """A loader over a data set: Python asks for one row after the other."""

    def __getitem__(self, number: int) -> Any:
        row = _ROW + number
        return np.sort(row, kind="stable").astype(np.float32)

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, 200, 5):
            yield np.stack([self[start + each] for each in range(5)])


def slow_rows() -> Any:
    out = None
    for batch in Batches():
        out = total(batch)
    return out


def copies_each_time(x: Any) -> Any:
    out = None
    for _ in range(30):
        out = total(x)
    return out


@jax.jit
def potential(r: Any) -> Any:
    return 4 * (r**-12 - r**-6)


energies = np.vectorize(lambda r: float(potential(r)))


def energies_in_a_list(rs: Any) -> Any:
    return [float(potential(r)) for r in rs]


def newton(r: float) -> float:
    for _ in range(300):
        r = float(potential(r)) + 2.0
    return r


# Clean.


def energies_at_once(rs: Any) -> Any:
    return np.asarray(potential(rs), np.float64)


def few_energies(rs: Any) -> Any:
    return [float(potential(r)) for r in rs[:9]]


def reads_once(x: Any) -> Any:
    for _ in range(12):
        x, loss = ordered(x)
    return x, float(loss)


def reads_all_at_the_end(x: Any) -> Any:
    losses = []
    for _ in range(12):
        x, loss = ordered(x)
        losses.append(loss)
    return x, [float(each) for each in losses]


def waits_for_a_busy_device(x: Any) -> Any:
    loss = 0.0
    for _ in range(12):
        x, found = ordered(x)
        loss += float(found)
    return x, loss


def long_eager(x: Any) -> Any:
    for _ in range(40):
        x = jnp.sort(x)
    return x


def long_calls(x: Any) -> Any:
    for _ in range(12):
        x, _loss = ordered(x)
    return x


@jax.jit
def scanned(w: Any, x: Any) -> Any:
    return jax.lax.scan(lambda w, _: (step(w, x)[0], None), w, length=3000)[0]


def quick_input(x: Any) -> Any:
    for _ in (each for each in range(12)):
        x, _loss = ordered(x)
    return x


def copies_once(x: Any) -> Any:
    x, out = jax.device_put(x), None
    for _ in range(30):
        out = total(x)
    return out


def copies_each_batch(parts: Any) -> Any:
    out = []
    for part in parts:
        out.append(ordered(part)[1])
    return out
