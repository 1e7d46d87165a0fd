"""What looking at short code costs: the first magic of a session, and cells that take next to no time.

``first MAGIC`` and ``load`` are for a fresh interpreter. ``cells N`` runs whole cells in one session, in turns.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter_ns as clock

import jax
import jax.numpy as jnp
from shell import Shell

#: Cells of 200 calls that take 0.1 s, and what a magic makes of one.
_LOOP = "for _ in range(200): z = f(z)\nz.block_until_ready()"

CELLS = ("pass", "%jaxtime -q pass", "%jaxmem -q pass", "%jaxmem pass", f"%%time\n{_LOOP}", f"%%jaxprof\n{_LOOP}")


def first(magic: str) -> dict[str, int]:
    """Nanoseconds of the first and of the second cell with a magic, in a session that has used JAX."""
    shell = _session()
    shell.run("f(z).block_until_ready();")
    took = []
    for _ in range(2):
        start = clock()
        shell.run(f"{magic} f(z);")
        took.append(clock() - start)
    return dict(zip(("first", "second"), took, strict=True))


def load() -> int:
    """Nanoseconds of ``%load_ext jaxmagic``."""
    shell = Shell()
    start = clock()
    shell.run("%load_ext jaxmagic")
    return clock() - start


def _session() -> Shell:
    """A session with a function of half a millisecond and twenty arrays."""
    shell = Shell()
    shell.run("%load_ext jaxmagic")
    f, z = jax.jit(lambda x: jnp.tanh(x @ x) * 1e-3 + x), jnp.ones((230, 230))
    shell.ip.user_ns.update(f=f, z=z, arrays=[z + n for n in range(20)])
    return shell


def main(what: str, argument: str) -> object:
    """Measure loading, the first magic, or so many rounds of cells."""
    if what == "load":
        return load()
    return first(argument) if what == "first" else _session().take_turns(CELLS, int(argument), warm_up=2)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
