"""Is a repeated measurement true, and how soon? Beside ``%timeit``, a loop by hand, and a function beside itself."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from math import sqrt
from statistics import mean, median, stdev
from time import perf_counter_ns as clock
from typing import Any

import jax
from shell import Shell
from workloads import WORKLOADS, calibrated

import jaxmagic

TARGETS_MS = (0.01, 1, 10)

#: Of Student's distribution, for the 95 % interval of the mean of timeit's seven runs.
_STUDENT_6 = 2.447


def against_timeit(rounds: int) -> list[dict[str, Any]]:
    """How long each takes to answer, and how wide the interval is that follows from its samples."""
    shell = Shell()
    shell.run("%load_ext jaxmagic")
    rows = []
    for target_ms in TARGETS_MS:
        print(f"  timeit {target_ms} ms", file=sys.stderr)
        function, argument, _ = calibrated(WORKLOADS["matmul"], target_ms * 1e6)
        shell.ip.user_ns.update(f=function, x=argument)
        jax.block_until_ready(function(argument))
        ours: list[tuple[float, float]] = []
        theirs: list[tuple[float, float]] = []
        for _ in range(rounds):
            start = clock()
            shell.run("r = %jaxtimeit -o -q f(x)")
            estimate = shell.ip.user_ns["r"].estimate
            ours.append((clock() - start, estimate.relative_width))
            start = clock()
            shell.run("r = %timeit -o -q f(x).block_until_ready()")
            runs = shell.ip.user_ns["r"].timings
            theirs.append((clock() - start, _STUDENT_6 * stdev(runs) / sqrt(len(runs)) / mean(runs)))
        rows.append({"target_ms": target_ms, "ours": ours, "theirs": theirs})
    return rows


def beside_a_loop(rounds: int) -> list[dict[str, Any]]:
    """The median of a benchmark over that of the hand-written loops before and after it."""
    rows = []
    for target_ms in TARGETS_MS:
        print(f"  loop {target_ms} ms", file=sys.stderr)
        function, argument, _ = calibrated(WORKLOADS["matmul"], target_ms * 1e6)
        ratios, neighbours = [], []
        before = _by_hand(function, argument)
        for _ in range(rounds):
            found = jaxmagic.benchmark(function, argument, budget_s=0.5).median_ns
            after = _by_hand(function, argument)
            ratios.append(2 * found / (before + after))
            neighbours.append(after / before)
            before = after
        rows.append({"target_ms": target_ms, "ratios": ratios, "neighbours": neighbours})
    return rows


def _by_hand(function: Any, argument: Any) -> float:
    times = []
    until = clock() + 250_000_000
    while clock() < until:
        start = clock()
        function(argument).block_until_ready()
        times.append(clock() - start)
    return median(times)


def a_against_a(runs: int) -> dict[str, int]:
    """The verdicts on a function beside itself."""
    function, argument, _ = calibrated(WORKLOADS["matmul"], 1e6)
    chance = random.Random(0)
    found: Counter[str] = Counter()
    for _ in range(runs):
        labels = chance.sample(["one", "other"], 2)
        comparison = jaxmagic.compare(dict.fromkeys(labels, function), argument, budget_s=0.4, check="none")
        found[comparison[labels[1]].verdict] += 1
    return dict(found)


if __name__ == "__main__":
    rounds = int(sys.argv[1])
    print(
        json.dumps(
            {
                "timeit": against_timeit(max(rounds // 10, 1)),
                "loop": beside_a_loop(rounds),
                "itself": a_against_a(4 * rounds),
            }
        )
    )
