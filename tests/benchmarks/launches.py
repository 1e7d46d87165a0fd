"""How often are records of the same program, of other processes, called faster or slower? And planted differences?

Each program is measured in fresh processes by the verb itself. Then its processes are put beside each other: as
records of one process, of three, and of half of them. A difference is planted by multiplying the times of the later
record, so that it is known and everything else is real.
"""

from __future__ import annotations

import json
import random
import sys
from itertools import permutations
from math import exp, log, sqrt
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxmagic
from jaxmagic.benchmarking.analysis import against
from jaxmagic.benchmarking.capture.machine_noise import measure_noise
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.launches import (
    Design,
    Side,
    compare_sides,
    noise_sd,
    power,
    smallest_ratio,
)
from jaxmagic.benchmarking.record.process_noise import ProcessNoise
from jaxmagic.benchmarking.record.processes import chosen, side_of
from jaxmagic.benchmarking.record.versus import judge

#: So many pairs of groups are drawn at random.
_GROUPS = 300


def programs() -> dict[str, tuple[Any, Any]]:
    """The programs by their names, with their arguments."""
    square = jax.random.uniform(jax.random.key(1), (300, 300))
    return {
        "tanh of a product, 300x300": (jax.jit(lambda x: jnp.tanh(x @ x)), square),
        "sort of 300x300": (jax.jit(lambda x: jnp.sort(x)), square),
        "x + 1, 8 numbers": (jax.jit(lambda x: x + 1), jnp.ones(8)),
    }


def pairs(processes: int, size: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pairs of groups of so many processes that have none in common: all pairs of single ones, and some of groups."""
    if size == 1:
        return [((old,), (new,)) for old, new in permutations(range(processes), 2)]
    chance, found = random.Random(0), set()
    for _ in range(_GROUPS):
        both = chance.sample(range(processes), 2 * size)
        found.add((tuple(sorted(both[:size])), tuple(sorted(both[size:]))))
    return sorted(found)


def alarms(record: Benchmark, size: int, noise: ProcessNoise) -> tuple[int, int]:
    """How many pairs of the same program are called faster or slower, and how many there are."""
    groups = {(min(pair), max(pair)) for pair in pairs(len(record.launches), size)}
    verdicts = [against(chosen(record, old), chosen(record, new), process_noise=noise).verdict for old, new in groups]
    return sum(each in ("faster", "slower") for each in verdicts), len(groups)


def planted(side: Side, size: int, ratio: float, between_sd: float) -> tuple[int, int]:
    """How many pairs are called slower where the later record takes so many times as long, and how many there are."""

    def part(which: tuple[int, ...], more: float) -> Side:
        return Side(tuple(side.medians[each] + more for each in which), tuple(side.errors[each] for each in which))

    groups = pairs(len(side.medians), size)
    found = [compare_sides(part(old, 0.0), part(new, log(ratio)), between_sd) for old, new in groups]
    return sum(each is not None and judge(each.ratio) == "slower" for each in found), len(groups)


def row(name: str, record: Benchmark, size: int, noise: ProcessNoise) -> dict[str, Any]:
    """Records of so many processes of one program beside each other."""
    side = side_of(record.trials)
    assert side is not None
    error = sqrt(float(np.mean([each**2 for each in side.errors if each is not None])))
    sd = max(float(np.std(side.medians, ddof=1)), error)
    prior = sqrt(noise_sd(noise, record.median_ns) ** 2 + error**2)
    design = Design(size, size, sd=sd, prior_sd=prior)
    smallest = smallest_ratio(design)
    assert smallest is not None
    ratios = (smallest, 1 + 2 * (smallest - 1))
    return {
        "name": name,
        "size": size,
        "medians_ns": [exp(each) for each in side.medians],
        "within": 1.96 * error,
        "between": sd,
        "alarms": alarms(record, size, noise),
        "ratios": ratios,
        "predicted": [power(design, each) for each in ratios],
        "found": [planted(side, size, each, noise_sd(noise, record.median_ns)) for each in ratios],
    }


def main(processes: int, budget_s: float) -> None:
    """Measure, put beside each other, and print the rows."""
    _, noise = measure_noise()
    rows = []
    for name, (fn, x) in programs().items():
        print(f"  {name}", file=sys.stderr)
        record = jaxmagic.benchmark(fn, x, budget_s=budget_s, processes=processes)
        rows += [row(name, record, size, noise) for size in (1, 3, 5) if 2 * size <= processes]
    noises = [{"call_ns": each.call_ns, "sd": each.sd} for each in noise.programs]
    print(json.dumps({"noise": noises, "rows": rows}))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
