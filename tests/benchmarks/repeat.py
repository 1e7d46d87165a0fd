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
from jaxmagic.benchmarking.capture.plan import Plan
from jaxmagic.benchmarking.capture.runner import runner_of
from jaxmagic.benchmarking.capture.warmup import warm_up

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


def beside_a_loop(seconds: float) -> list[dict[str, Any]]:
    """Samples of a benchmark over those of a hand-written loop of as many calls, taken in turns."""
    rows = []
    chance = random.Random(0)
    for target_ms in TARGETS_MS:
        print(f"  loop {target_ms} ms", file=sys.stderr)
        function, argument, _ = calibrated(WORKLOADS["matmul"], target_ms * 1e6)
        runner = runner_of(function, (argument,), {})
        runner.first_call()
        warm_up(runner, Plan(rtol=0.01, budget_ns=10**9), clock)
        turns = {"ours": runner.sample, "by hand": lambda: _by_hand(function, argument, runner.evaluations)}
        ratios, loops = [], []
        until = clock() + seconds * 1e9
        while clock() < until:
            took = {who: turns[who]() for who in chance.sample(list(turns), 2)}
            ratios.append(took["ours"] / took["by hand"])
            loops.append(took["by hand"] / runner.evaluations)
        rows.append({"target_ms": target_ms, "loop_ns": median(loops), "ratios": ratios})
    return rows


def _by_hand(function: Any, argument: Any, calls: int) -> int:
    start = clock()
    for _ in range(calls):
        function(argument).block_until_ready()
    return clock() - start


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
