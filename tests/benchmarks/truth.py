"""Is the reported wall time true? Every sample stands between two hand-written loops that time the same call.

What a hand-written loop finds depends on when it looks: in its first pass the worker threads are asleep and the
caches hold other things, as they do for anybody who runs one cell; from the second on they do not. So both are
compared: the *loop* (from its second pass) and its *first* pass, which is what a single cell can find at best.

The loop is compared with its neighbour, too: that ratio must be one, and its spread is the machine's, not ours.
"""

from __future__ import annotations

import json
import random
import sys
from statistics import median
from time import perf_counter_ns as clock
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from shell import Shell, printed_wall_ns
from workloads import WORKLOADS, calibrated

STATEMENTS = ("y = f(x)", "f(x)", "f(x); None")

#: Rounds for each target in milliseconds: fewer of what takes long and varies less.
ROUNDS = {0.05: 300, 1: 200, 10: 40, 100: 10}
QUICK_ROUNDS = {0.05: 20, 1: 15, 10: 5}

_BY_HAND = """
drain()
times = []
for _ in range(passes):
    y = None
    start = clock(); y = f(x); y.block_until_ready(); times.append(clock() - start)
"""


class Hand(NamedTuple):
    """What was found by hand."""

    first_ns: float
    loop_ns: float


class Case:
    """One function of one size in a shell."""

    def __init__(self, shell: Shell, function: Any, argument: Any, passes: int) -> None:
        self._shell = shell
        nothing = jax.jit(lambda: jnp.zeros(()))
        shell.ip.user_ns.update(
            f=function, x=argument, clock=clock, passes=passes, drain=lambda: nothing().block_until_ready()
        )

    def by_hand(self) -> Hand:
        """The truth."""
        self._shell.run(_BY_HAND)
        times = self._shell.ip.user_ns["times"]
        self._shell.forget()
        return Hand(times[0], median(times[1:]))

    def sample(self, magic: str, statement: str) -> float:
        """What a magic says."""
        if magic == "%jaxtime":
            self._shell.run(f"%jaxtime -q -v rec {statement}")
            reported = float(self._shell.ip.user_ns["rec"].wall_ns)
        else:
            reported = printed_wall_ns(self._shell.run(f"%time {statement}"))
            # It left work behind, reachable from nothing: the same again, waited for, is done after it.
            self._shell.run("y = f(x); y.block_until_ready(); None")
        self._shell.forget()
        return reported


def measure(case: Case, rounds: int, chance: random.Random) -> list[dict[str, Any]]:
    """One row for each statement and one for the loop beside itself, all from the same rounds."""
    slots = [(magic, statement) for magic in ("%jaxtime", "%time") for statement in STATEMENTS]
    found: dict[tuple[str, str], list[tuple[float, Hand]]] = {slot: [] for slot in slots}
    neighbours: list[float] = []
    loops: list[float] = []
    for slot in slots:
        case.sample(*slot)
    for _ in range(rounds):
        before = case.by_hand()
        for slot in chance.sample(slots, len(slots)):
            reported = case.sample(*slot)
            after = case.by_hand()
            mean = Hand((before.first_ns + after.first_ns) / 2, (before.loop_ns + after.loop_ns) / 2)
            found[slot].append((reported, mean))
            neighbours.append(after.loop_ns / before.loop_ns)
            loops.append(mean.loop_ns)
            before = after
    return [
        {
            "statement": statement,
            "loop_ns": median(loops),
            "first_ns": median(hand.first_ns for _, hand in found["%jaxtime", statement]),
            "neighbours": neighbours,
            "ratios": [reported / hand.loop_ns for reported, hand in found["%jaxtime", statement]],
            "beyond_loop_ns": [reported - hand.loop_ns for reported, hand in found["%jaxtime", statement]],
            "first_ratios": [reported / hand.first_ns for reported, hand in found["%jaxtime", statement]],
            "beyond_first_ns": [reported - hand.first_ns for reported, hand in found["%jaxtime", statement]],
            "time_ratios": [reported / hand.loop_ns for reported, hand in found["%time", statement]],
        }
        for statement in STATEMENTS
    ]


def main(names: list[str], quick: bool) -> list[dict[str, Any]]:
    """All rows of some workloads."""
    shell, chance = Shell(), random.Random(0)
    shell.run("%load_ext jaxmagic")
    rows = []
    for name in names:
        for target_ms, rounds in (QUICK_ROUNDS if quick else ROUNDS).items():
            print(f"  {name} {target_ms} ms", file=sys.stderr)
            function, argument, size = calibrated(WORKLOADS[name], target_ms * 1e6)
            jax.block_until_ready(function(argument))
            case = Case(shell, function, argument, passes=5 if target_ms < 5 else 2)
            for row in measure(case, rounds, chance):
                smallest = size == WORKLOADS[name].smallest
                about = {"name": name, "devices": jax.device_count(), "target_ms": target_ms, "smallest": smallest}
                rows.append(about | row)
    return rows


if __name__ == "__main__":
    print(json.dumps(main([name for name in sys.argv[1:] if name != "--quick"], "--quick" in sys.argv)))
