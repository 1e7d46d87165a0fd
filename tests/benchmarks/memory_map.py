"""How long it takes to read the memory map of a program with many instructions."""

from __future__ import annotations

import gc
import json
import sys
from time import perf_counter_ns as clock
from typing import Any

import jax
import jax.numpy as jnp

from jaxmagic.capture.executables import requirement


def main(rounds: int, *sizes: int) -> list[dict[str, Any]]:
    """For each size, how many steps and buffers there are, and how long each reading took."""
    rows = []
    for size in sizes:
        program = _program(size)
        took = []
        for _ in range(rounds):
            gc.collect()
            started_ns = clock()
            found = requirement(program)
            took.append(clock() - started_ns)
        assert found.allocations is not None
        buffers = sum(len(each.buffers) for each in found.allocations)
        rows.append({"steps": found.steps, "buffers": buffers, "took_ns": took})
    return rows


def _program(size: int) -> Any:
    """A chain of small products, of which every seventh is kept. The barriers keep XLA from fusing them."""

    def chain(x: Any, w: Any) -> Any:
        kept = []
        for number in range(size):
            x = jax.lax.optimization_barrier(x @ w)
            if number % 7 == 0:
                kept.append(x)
        return x, kept

    ones = jnp.ones((8, 8))
    return jax.jit(chain).lower(ones, ones).compile().runtime_executable()


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))))
