"""What the memory sampler costs the code that it looks at: steps of training with and without it, taken in turns."""

from __future__ import annotations

import json
import random
import sys
from bisect import bisect
from time import perf_counter_ns as clock
from typing import Any

import jax
import jax.numpy as jnp

from jaxmagic.memory_use.capture.usage_sampler import MemorySampler

STEPS = 300


def main(rounds: int) -> dict[str, Any]:
    """How long the loops took, round by round; how many samples there were, and what these cost by the steps."""
    step, state = _training()
    chance = random.Random(0)
    for _ in range(2):
        _loop(step, state)
    found: dict[str, Any] = {"bare": [], "sampled": [], "again": [], "samples": [], "steps": STEPS}
    found |= {"excess": {"sampled": [], "again": []}, "cpu": []}
    for _ in range(rounds):
        for who in chance.sample(["bare", "sampled", "again"], 3):
            sampler = MemorySampler() if who == "sampled" else None
            if sampler is not None:
                sampler.start()
            ends = _loop(step, state)
            found[who].append(ends[-1] - ends[0])
            if sampler is not None:
                sampling = sampler._sampling
                times = [sampling.start_ns + each for each in sampler.stop().times_ns[1:-1]]
                found["samples"].append(len(times))
                found["cpu"].append(sampling._used_ns / (ends[-1] - ends[0]))
            elif who == "again":  # the same at moments in which nothing was done: long steps contain more of them
                times = sorted(chance.uniform(ends[0], ends[-1]) for _ in range(20))
            else:
                continue
            found["excess"][who] += _excess(ends, times)
    return found


def _excess(ends: list[int], times: list[float]) -> list[int]:
    """By how many nanoseconds the step of each moment and the next took longer than the two before them."""
    steps = [bisect(ends, each) for each in times]
    return [
        (ends[at + 1] - ends[at - 1]) - (ends[at - 1] - ends[at - 3])
        for before, at in zip([0, *steps], steps, strict=False)
        if at - before > 3 and at + 1 < len(ends)
    ]


def _training() -> tuple[Any, Any]:
    """A step of a perceptron with three layers, about a millisecond on a processor of 2020, and its state."""
    width, batch = 160, 64
    keys = jax.random.split(jax.random.key(0), 5)
    weights = [jax.random.normal(key, (width, width)) / width**0.5 for key in keys[:3]]
    inputs, wanted = (jax.random.normal(key, (batch, width)) for key in keys[3:])

    def loss(weights: Any) -> Any:
        values = inputs
        for each in weights:
            values = jnp.tanh(values @ each)
        return jnp.mean((values - wanted) ** 2)

    @jax.jit
    def step(weights: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(weights)
        return [each - 0.01 * slope for each, slope in zip(weights, slopes, strict=True)], value

    return step, weights


def _loop(step: Any, state: Any) -> list[int]:
    """The time at its start, and after each step."""
    ends = [clock()]
    for _ in range(STEPS):
        state, value = step(state)
        value.block_until_ready()  # as a loop that prints its loss
        ends.append(clock())
    return ends


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
