"""What a ``%jaxtime`` cell costs beyond a ``%time`` cell: everything around the measured statement."""

from __future__ import annotations

import json
import random
import sys
from time import perf_counter_ns as clock

import jax
import jax.numpy as jnp
from shell import Shell

CELLS = ("f(x)", "%time f(x)", "%jaxtime -q f(x)", "%jaxtime f(x)")


def main(rounds: int) -> dict[str, list[int]]:
    """Durations of whole cells in nanoseconds, round by round."""
    shell, chance = Shell(), random.Random(0)
    shell.run("%load_ext jaxmagic")
    shell.ip.user_ns.update(f=jax.jit(lambda x: x + 1), x=jnp.ones(8))
    durations: dict[str, list[int]] = {cell: [] for cell in CELLS}
    for index in range(rounds + 5):
        for cell in chance.sample(CELLS, len(CELLS)):
            start = clock()
            shell.run(cell)
            if index >= 5:
                durations[cell].append(clock() - start)
            shell.forget()
    return durations


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
