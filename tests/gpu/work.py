"""Work of a known length for checks on an accelerator; small enough for a CPU where they are only tried."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import perf_counter_ns as clock
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import SingleDeviceSharding

MS = 1e6
GIB = 2**30


class Row(NamedTuple):
    """What a check found.

    Attributes:
        check: its name.
        figure: what was measured, in words.
        expected: what should have been.
        holds: whether it was; ``None`` for a figure that is only to be known.
    """

    check: str
    figure: str
    expected: str
    holds: bool | None = None


class Work:
    """Products of square matrices, one behind the other.

    Args:
        side: of the matrices; 4,096 in ``bfloat16`` take about 0.19 ms on an H200.
        scale: all counts of repetitions are multiplied by it, and are 1 at least.
        recordings: the folder in which recordings are left.
    """

    def __init__(self, side: int = 4096, scale: float = 1.0, recordings: Path | None = None) -> None:
        self.side, self.scale, self._recordings = side, scale, recordings
        self.x = jnp.full((side, side), 1 / side, jnp.bfloat16)
        self._functions: dict[int, Callable[..., Any]] = {}

    def times(self, count: int) -> int:
        """So many repetitions."""
        return max(1, round(count * self.scale))

    def function(self, products: int) -> Callable[[Any], Any]:
        """A compiled function of so many products."""
        count = self.times(products)
        if count not in self._functions:

            def products_of(x: Any) -> Any:
                return jax.lax.fori_loop(0, count, lambda _, y: (y @ x).astype(x.dtype), x)

            self._functions[count] = jax.jit(products_of).lower(self.x).compile()
        return self._functions[count]

    def step(self, products: int) -> Callable[[Any], Any]:
        """A compiled step of so many products, which returns the next value and a number."""
        count = self.times(products)

        def next_of(x: Any) -> Any:
            y = jax.lax.fori_loop(0, count, lambda _, y: (y @ x).astype(x.dtype), x)
            return y, y[0, 0]

        compiled: Callable[[Any], Any] = jax.jit(next_of).lower(self.x).compile()
        return compiled

    def __call__(self, products: int) -> Any:
        """Start so many products."""
        return self.function(products)(self.x)

    def profile(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Profile a function, and keep the recording under a name."""
        import jaxmagic

        kept = {} if self._recordings is None else {"logdir": self._recordings, "label": name}
        return jaxmagic.profile(function, *arguments, **kept)

    def by_hand_ns(self, products: int, times: int = 20) -> float:
        """The median of runs that are waited for by hand."""
        run = self.function(products)
        found = []
        for _ in range(self.times(times)):
            start = clock()
            run(self.x).block_until_ready()
            found.append(clock() - start)
        return float(sorted(found)[len(found) // 2])

    def products_for(self, time_ns: float) -> int:
        """How many products take about so long."""
        count = 16
        each = self.by_hand_ns(count, 5) / self.times(count)
        return max(1, round(time_ns / each / self.scale))


def in_a_process(program: str, variables: Mapping[str, str] = MappingProxyType({})) -> str:
    """Run a program in a process of its own, and return what it printed, or the last line of its error."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | dict(variables), capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return done.stdout.strip()
    return (done.stderr.strip().splitlines() or ["nothing was said"])[-1]


def accelerator() -> Any:
    """The first device that is no CPU, or the first CPU where there is none."""
    others = [each for each in jax.devices() if each.platform != "cpu"]
    return (others or jax.devices("cpu"))[0]


def memory_of(device: Any, kind: str) -> SingleDeviceSharding | None:
    """Return the sharding for a memory of a device, such as ``"pinned_host"``; ``None`` without it, as on a CPU."""
    kinds = {each.kind for each in device.addressable_memories()} if device.platform != "cpu" else set[str]()
    return SingleDeviceSharding(device, memory_kind=kind) if kind in kinds else None


def median(run: Callable[[], object], times: int) -> float:
    """Return the median time of some runs, in nanoseconds."""
    found = []
    for _ in range(max(1, times)):
        start = clock()
        run()
        found.append(float(clock() - start))
    return quartiles(found)[1]


def quartiles(values: Iterator[float] | list[float]) -> tuple[float, float, float]:
    """The lower one, the median, and the upper one."""
    found = sorted(values)
    return found[len(found) // 4], found[len(found) // 2], found[3 * len(found) // 4]
