"""Work of a known length for checks on an accelerator; small enough for a CPU where they are only tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter_ns as clock
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


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
    """

    def __init__(self, side: int = 4096, scale: float = 1.0) -> None:
        self.side, self.scale = side, scale
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

    def __call__(self, products: int) -> Any:
        """Start so many products."""
        return self.function(products)(self.x)

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


def accelerator() -> Any:
    """The first device that is no CPU, or the first CPU where there is none."""
    others = [each for each in jax.devices() if each.platform != "cpu"]
    return (others or jax.devices("cpu"))[0]


def quartiles(values: Iterator[float] | list[float]) -> tuple[float, float, float]:
    """The lower one, the median, and the upper one."""
    found = sorted(values)
    return found[len(found) // 4], found[len(found) // 2], found[3 * len(found) // 4]
