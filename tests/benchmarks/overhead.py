"""What a ``%jaxtime`` cell costs beyond a ``%time`` cell: everything around the measured statement."""

from __future__ import annotations

import json
import sys

import jax
import jax.numpy as jnp
from shell import Shell

CELLS = ("f(x)", "%time f(x)", "%jaxtime -q f(x)", "%jaxtime f(x)")


def main(rounds: int) -> dict[str, list[int]]:
    """Durations of whole cells in nanoseconds, round by round."""
    shell = Shell()
    shell.run("%load_ext jaxmagic")
    shell.ip.user_ns.update(f=jax.jit(lambda x: x + 1), x=jnp.ones(8))
    return shell.take_turns(CELLS, rounds, warm_up=5)


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
