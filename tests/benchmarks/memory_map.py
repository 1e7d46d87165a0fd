"""How long it takes to read the memory map of a program with many instructions."""

from __future__ import annotations

import gc
import json
import sys
from time import perf_counter_ns as clock
from typing import Any

import jax
import jax.numpy as jnp

from jaxmagic.memory_use.capture.executables import requirement

#: XLA compiles fifty products at once in no time; a thousand loops of so many take as often as long.
_IN_A_LOOP = 50


def main(rounds: int, *sizes: int) -> list[dict[str, Any]]:
    """For each size, how many steps and buffers there are, and how long each reading took."""
    rows = []
    for size in sizes:
        program = _program(size)
        took, planned = [], []
        for _ in range(rounds):
            gc.collect()
            started_ns = clock()
            program.get_compiled_memory_stats()
            program.hlo_modules()[0].as_serialized_hlo_module_proto()
            planned_ns = clock()
            found = requirement(program)
            took.append(clock() - planned_ns)
            planned.append(planned_ns - started_ns)
        assert found.allocations is not None
        buffers = sum(len(each.buffers) for each in found.allocations)
        rows.append({"steps": found.steps, "buffers": buffers, "took_ns": took, "planned_ns": planned})
    return rows


def _program(size: int) -> Any:
    """Loops of small products. Their results are multiplied by each other, two by two."""

    def body(x: Any, _: Any) -> Any:
        for _ in range(_IN_A_LOOP):
            x = x @ x
        return x, None

    def everything(x: Any) -> Any:
        results = [jax.lax.scan(body, x + number, None, length=3)[0] for number in range(size // _IN_A_LOOP)]
        while len(results) > 1:
            odd = results[len(results) // 2 * 2 :]
            results = [one @ other for one, other in zip(results[::2], results[1::2], strict=False)] + odd
        return results[0]

    return jax.jit(everything).lower(jnp.ones((8, 8))).compile().runtime_executable()


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))))
