"""How far off is the wall time of a short cell, to the microsecond?

A loop of cells differs from the next one by more than that, because work of 50 µs depends on which threads are awake.
So the truth is taken where it meets the same circumstances: a cell of the magic whose own code reads the clock around
the same call, and waits. What the magic reports of that very run is compared with it, run by run; and what it reports
of cells that leave the waiting to it, with the runs by hand in the same round.

A bare cell that reads the clock, behind the same magic, tells whether the magic slows down what it measures.
"""

from __future__ import annotations

import json
import random
import sys
from time import perf_counter_ns as clock
from typing import Any

import jax
from shell import Shell
from workloads import WORKLOADS, calibrated

BY_HAND = """
if True:  # one statement: IPython compiles the next one only when the one before it has run
    start = clock(); y = f(x); returned = clock(); ready = y.is_ready(); y.block_until_ready(); stop = clock()
"""

STATEMENTS = ("y = f(x)", "f(x)", "f(x); None")

#: Of what is measured, in milliseconds.
TARGETS = (0.05, 0.3)


def measure(shell: Shell, rounds: int, chance: random.Random) -> dict[str, list[float]]:
    """Nanoseconds of each kind of cell, round by round."""
    names = shell.ip.user_ns
    found: dict[str, list[float]] = {each: [] for each in ("bare", "by hand", "same run", *STATEMENTS)}

    def take(which: str) -> None:
        if which == "bare":
            shell.run("%jaxtime -q None")
            shell.run(BY_HAND)
        else:
            shell.run(f"%%jaxtime -q -v rec\n{BY_HAND if which == 'by hand' else which}")
        if which in ("bare", "by hand"):
            # To wait for what is done costs some microseconds, in which nothing is computed.
            found[which].append(names["returned" if names["ready"] else "stop"] - names["start"])
        if which == "by hand":
            found["same run"].append(names["rec"].wall_ns - (names["stop"] - names["start"]))
        elif which != "bare":
            found[which].append(names["rec"].wall_ns)
        shell.forget()

    cells = ("bare", "by hand", *STATEMENTS)
    for _ in range(rounds):
        for which in chance.sample(cells, len(cells)):
            take(which)
    return found


def main(names: list[str], rounds: int) -> list[dict[str, Any]]:
    """A row for each computation and target."""
    shell, chance = Shell(), random.Random(0)
    shell.run("%load_ext jaxmagic")
    shell.ip.user_ns["clock"] = clock
    rows = []
    for name in names:
        for target_ms in TARGETS:
            function, argument, _ = calibrated(WORKLOADS[name], target_ms * 1e6)
            jax.block_until_ready(function(argument))
            shell.ip.user_ns.update(f=function, x=argument)
            measure(shell, 5, chance)
            found = measure(shell, rounds, chance)
            rows.append({"name": name, "devices": jax.device_count(), "target_ms": target_ms, "found_ns": found})
    return rows


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[2:], int(sys.argv[1]))))
