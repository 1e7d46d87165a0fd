"""What is timed: computations whose size is turned until they take about as long as is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from statistics import quantiles
from time import perf_counter_ns as clock
from typing import Any

import jax
import jax.numpy as jnp


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A computation of any size.

    Attributes:
        make: the jitted function and its argument, for a size.
        power: by which power of the size its time grows, about.
        smallest: the least size that makes sense.
    """

    make: Callable[[int], tuple[Any, Any]]
    power: float
    smallest: int


def _matmul(size: int) -> tuple[Any, Any]:
    return jax.jit(lambda x: x @ x), jax.random.normal(jax.random.key(0), (size, size))


def _sort(size: int) -> tuple[Any, Any]:
    return jax.jit(jnp.sort), jax.random.normal(jax.random.key(0), (size,))


def _scan(size: int) -> tuple[Any, Any]:
    def step(carry: Any, _: None) -> tuple[Any, Any]:
        carry = jnp.tanh(carry) + 0.5
        return carry, carry.sum()

    return jax.jit(lambda x: jax.lax.scan(step, x, None, length=size)[1]), jnp.ones(256)


def _sharded(size: int) -> tuple[Any, Any]:
    """Rows over all devices, with a sum over them at the end: a program of several devices and a collective."""
    mesh = jax.make_mesh((jax.device_count(),), ("rows",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))

    def step(_: int, x: Any) -> Any:
        return jnp.tanh(x) + 0.5

    def function(x: Any) -> Any:
        return jax.lax.fori_loop(0, size, step, x).sum(0)

    return jax.jit(function), jax.device_put(jnp.ones((4 * jax.device_count(), 1024)), rows)


WORKLOADS: dict[str, Workload] = {
    "matmul": Workload(make=_matmul, power=3, smallest=8),
    "sort": Workload(make=_sort, power=1.1, smallest=8),
    "scan": Workload(make=_scan, power=1, smallest=1),
    "sharded": Workload(make=_sharded, power=1, smallest=1),
}


def calibrated(workload: Workload, target_ns: float) -> tuple[Any, Any, int]:
    """The function that takes the time closest to `target_ns` of those tried, its argument, and its size."""
    size = max(workload.smallest, 100)
    tried: dict[int, float] = {}
    while len(tried) < 12 and size not in tried:
        function, argument = workload.make(size)
        tried[size] = factor = target_ns / _usual_ns(function, argument)
        if 0.9 < factor < 1.1:
            break
        size = max(workload.smallest, round(size * min(max(factor, 1e-2), 1e2) ** (1 / workload.power)))
    best = min(tried, key=lambda each: abs(log(tried[each])))
    return *workload.make(best), best


def _usual_ns(function: Any, argument: Any) -> float:
    # The lower quartile, not the median: what else runs on the machine must not decide the size.
    times = []
    jax.block_until_ready(function(argument))
    until = clock() + 20_000_000
    while len(times) < 4 or clock() < until:
        start = clock()
        function(argument).block_until_ready()
        times.append(clock() - start)
    return quantiles(times, n=4)[0]
