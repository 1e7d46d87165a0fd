"""Is the reported wall time true? Beside the same call timed by hand, in the same circumstances and in a loop.

What a call of 50 µs takes depends on what ran before it: which worker threads are awake, what the caches hold. So the
truth is taken where the magic takes its own: in a cell of the magic whose code reads the clock around the call, and
waits. Every cell stands behind a hand-written loop, so that all of them meet the same. Compared are

- what the magic says of cells that leave the waiting to it, with the call by hand in the same round;
- what it says of the very run that was timed by hand: what is left is the way into the block and out of it;
- a bare cell that times the call by hand: is anything slowed down by being measured?

The loop is compared with its neighbour, too: that ratio must be one, and its spread is the machine's, not ours.
"""

from __future__ import annotations

import json
import random
import sys
from itertools import pairwise
from statistics import median
from time import perf_counter_ns as clock
from typing import Any

import jax
from shell import Shell, printed_wall_ns
from workloads import WORKLOADS, calibrated

STATEMENTS = ("y = f(x)", "f(x)", "f(x); None")

#: Rounds for each target in milliseconds: fewer of what takes long and varies less.
ROUNDS = {0.05: 300, 0.3: 300, 1: 200, 10: 40, 100: 10}
QUICK_ROUNDS = {0.05: 20, 1: 15, 10: 5}

_LOOP = """
times = []
for _ in range(passes):
    y = None
    start = clock(); y = f(x); y.block_until_ready(); times.append(clock() - start)
"""

#: One statement, because IPython compiles the next one only when the one before it has run. To wait for what is done
#: takes some microseconds in which nothing is computed: then it was done when the call had returned.
_BY_HAND = """
if True:
    start = clock(); y = f(x); returned = clock(); ready = y.is_ready(); y.block_until_ready(); stop = clock()
"""


class Case:
    """One function of one size in a shell."""

    def __init__(self, shell: Shell, function: Any, argument: Any, passes: int) -> None:
        self._shell = shell
        self._names = shell.ip.user_ns
        self._names.update(f=function, x=argument, clock=clock, passes=passes)

    def loop(self) -> float:
        """The median of the later passes of a loop."""
        self._shell.run(_LOOP)
        self._shell.forget()
        return median(self._names["times"][1:])

    def by_hand(self, magic: str = "") -> tuple[float, float]:
        """One call timed by hand, and how much more the magic says of that run, if the cell is its."""
        self._shell.run(magic + _BY_HAND)
        self._shell.forget()
        names = self._names
        took = names["returned" if names["ready"] else "stop"] - names["start"]
        return took, names["rec"].wall_ns - (names["stop"] - names["start"]) if magic else 0

    def reported(self, magic: str, statement: str) -> float:
        """What a magic says."""
        if magic == "%jaxtime":
            self._shell.run(f"%jaxtime -q -v rec {statement}")
            reported = float(self._names["rec"].wall_ns)
        else:
            reported = printed_wall_ns(self._shell.run(f"%time {statement}"))
            # It left work behind, reachable from nothing: the same again, waited for, is done after it.
            self._shell.run("y = f(x); y.block_until_ready(); None")
        self._shell.forget()
        return reported


def measure(case: Case, rounds: int, chance: random.Random) -> list[dict[str, Any]]:
    """A row for each statement and two for the call by hand, all from the same rounds."""
    slots = [(magic, statement) for magic in ("%jaxtime", "%time") for statement in STATEMENTS]
    slots += [("%jaxtime", "by hand"), ("bare", "by hand")]
    found: dict[tuple[str, str], list[float]] = {slot: [] for slot in slots}
    same_run: list[float] = []
    loops: list[float] = []
    for index in range(-1, rounds):  # the first round warms up
        for slot in chance.sample(slots, len(slots)):
            loop_ns = case.loop()
            magic, statement = slot
            if statement == "by hand":
                took, beyond = case.by_hand("%%jaxtime -q -v rec" if magic == "%jaxtime" else "")
            else:
                took, beyond = case.reported(magic, statement), 0
            if index < 0:
                continue
            loops.append(loop_ns)
            found[slot].append(took)
            if slot == ("%jaxtime", "by hand"):
                same_run.append(beyond)
    by_hand = found["%jaxtime", "by hand"]
    loop_ns = median(loops)
    shared = {
        "loop_ns": loop_ns,
        "by_hand_ns": median(by_hand),
        "neighbours": [after / before for before, after in pairwise(loops)],
    }

    def beyond_hand(slot: tuple[str, str]) -> list[float]:
        return [each - hand for each, hand in zip(found[slot], by_hand, strict=True)]

    rows = [
        {
            "statement": statement,
            "time_ratio": median(found["%time", statement]) / loop_ns,
            "loop_ratio": median(found["%jaxtime", statement]) / loop_ns,
            "beyond_ns": beyond_hand(("%jaxtime", statement)),
        }
        for statement in STATEMENTS
    ]
    rows.append({"statement": "the run by hand", "beyond_ns": same_run})
    rows.append({"statement": "by hand, no magic", "beyond_ns": beyond_hand(("bare", "by hand"))})
    return [shared | row for row in rows]


def main(names: list[str], quick: bool) -> list[dict[str, Any]]:
    """All rows of some workloads."""
    shell, chance = Shell(), random.Random(0)
    shell.run("%load_ext jaxmagic")
    rows = []
    for name in names:
        sizes = set()
        for target_ms, rounds in (QUICK_ROUNDS if quick else ROUNDS).items():
            function, argument, size = calibrated(WORKLOADS[name], target_ms * 1e6)
            if size in sizes:
                continue  # the smallest there is, once more
            sizes.add(size)
            print(f"  {name} {target_ms} ms", file=sys.stderr)
            jax.block_until_ready(function(argument))
            case = Case(shell, function, argument, passes=5 if target_ms < 5 else 2)
            about = {"name": name, "devices": jax.device_count(), "target_ms": target_ms}
            rows += [about | row for row in measure(case, rounds, chance)]
    return rows


if __name__ == "__main__":
    print(json.dumps(main([name for name in sys.argv[1:] if name != "--quick"], "--quick" in sys.argv)))
