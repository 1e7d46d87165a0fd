"""What an element costs of what a fusion computes: how much longer a program takes with more of it.

``jaxmagic/xla/costs/weights.py`` has these costs, rounded. Additions in a chain are nearly free beside the memory
that they read, so an addition is counted with that: as a program of one addition takes.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial, reduce
from time import perf_counter_ns as clock
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

#: Elements of a result, and how often an operation is in the two programs whose times are compared.
ELEMENTS = 1 << 20
FEW, MANY = 1, 4

#: Elementwise operations, each on the result of the one before.
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x + 1.1,
    "select": lambda x: jnp.where(x > 1, x, x + 1.1),
    "divide": lambda x: 1.5 / x,
    "sqrt": lambda x: lax.sqrt(x + 1),
    "rsqrt": lambda x: lax.rsqrt(x + 1),
    "exponential": lambda x: lax.exp(x * 0.1),
    "log": lambda x: lax.log(x + 2),
    "tanh": lambda x: lax.tanh(x + 0.1),
    "logistic": lambda x: lax.logistic(x + 0.1),
    "erf": lambda x: lax.erf(x + 0.1),
    "exponential-minus-one": lambda x: lax.expm1(x * 0.1),
    "log-plus-one": lambda x: lax.log1p(x + 1),
    "sine": lambda x: lax.sin(x + 1),
    "cosine": lambda x: lax.cos(x + 1),
    "power": lambda x: lax.pow(x + 1, 1 + 0.1 * x),
    "tan": lambda x: lax.tan(0.1 * x + 0.1),
    "atan2": lambda x: lax.atan2(x, x + 1),
    "cbrt": lambda x: lax.cbrt(x + 1),
    "remainder": lambda x: lax.rem(x + 10, jnp.float32(3.3)),
}

#: Of the tables that are looked up in and added to.
TABLES = (1000, 1_000_000, 40_000_000)

#: Of a row that is looked up as a whole.
ROW = 64


def programs() -> Iterator[tuple[str, Callable[[int], Callable[..., Any]], tuple[Any, ...]]]:
    """For each kind of operation: its name, what makes a program with so many of it, and the arguments."""
    numbers = np.random.default_rng(0)
    x = jnp.asarray(numbers.random(ELEMENTS, np.float32) + 0.5)
    for name, operation in OPERATIONS.items():
        yield name, partial(repeated, operation), (x,)
    for size in TABLES:
        table = jnp.asarray(numbers.random(size, np.float32))
        places = [jnp.asarray(numbers.integers(0, size, ELEMENTS, np.int32)) for _ in range(MANY)]
        yield f"gather from {size:,}", looked_up, (x, table, *places)
        yield f"scatter-add to {size:,}", added, (x, table, *places)
        rows = table[: size // ROW * ROW].reshape(-1, ROW)
        yield f"rows from {size:,}", looked_up, (x.reshape(-1, ROW), rows, *(at[::ROW] // ROW for at in places))


def repeated(operation: Callable[[Any], Any], count: int) -> Callable[..., Any]:
    """Do it so many times, each on the result of the one before."""
    return lambda x: reduce(lambda y, _: operation(y), range(count), x)


def looked_up(count: int) -> Callable[..., Any]:
    """Add what is looked up in a table so many times."""

    def program(x: Any, table: Any, *places: Any) -> Any:
        for at in places[:count]:
            x = x + table.at[at].get(mode="promise_in_bounds")
        return x

    return program


def added(count: int) -> Callable[..., Any]:
    """Add to places of a table so many times."""

    def program(x: Any, table: Any, *places: Any) -> Any:
        for at in places[:count]:
            table = table.at[at].add(x, mode="promise_in_bounds")
        return table

    return program


def main(rounds: int) -> dict[str, list[float]]:
    """By kind: the picoseconds that another one takes for an element, round by round; ``""`` has a whole addition."""
    found: dict[str, list[float]] = {}
    for name, make, arguments in programs():
        both = [jax.jit(make(count)) for count in (FEW, MANY)]
        for _ in range(rounds + 1):
            took = dict.fromkeys(both, 0)
            for function in random.sample(both, 2):
                took[function] = _took_ns(function, arguments)
            few, many = took.values()
            found.setdefault(name, []).append(1000 * (many - few) / (MANY - FEW) / ELEMENTS)
            if name == "add":
                found.setdefault("", []).append(1000 * few / ELEMENTS)
    return {name: each[1:] for name, each in found.items()}  # the first round compiles


def _took_ns(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    jax.block_until_ready(function(*arguments))  # the caches are those of this function
    started = clock()
    jax.block_until_ready(function(*arguments))
    return clock() - started


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
