"""A program that takes long to compile, in new processes with and without JAX's persistent cache.

``python -m tests.doctor.slow_cache FILE [FOLDER]`` runs it once, with the cache in the folder if there is one, prints
how long the call took in nanoseconds, and saves the result.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmagic.doctor.record.finding import Verified

from .slow import Program, found_by, normal

#: Pairs of processes: the range of six ratios covers their median with a confidence of 97 %.
_PAIRS = 6

#: The length of the sequence: a parallel scan over it is a program of some hundred operations.
_LENGTH = 4096


@found_by("compile-time", budget_s=150.0)
def cache_off() -> Program:
    def combine(first: Any, second: Any) -> Any:
        a, b = first
        c, d = second
        return c @ a, jnp.einsum("tij,tj->ti", c, b) + d

    @jax.jit
    def gradient(w: Any, x: Any) -> Any:
        def loss(w: Any) -> Any:
            transitions = jnp.broadcast_to(0.3 * jnp.tanh(w), (len(x), *w.shape))
            states = jax.lax.associative_scan(combine, (transitions, x))[1]
            return (jnp.tanh(states) ** 2).mean()

        return jax.grad(loss)(w)

    return gradient, (normal(2, 2), normal(_LENGTH, 2))


def in_new_processes() -> Verified:
    """Measure first calls in pairs of new processes: one without the cache, and one that finds the program in it."""
    with TemporaryDirectory() as folder:
        cache, results = Path(folder, "cache"), [Path(folder, f"{name}.npy") for name in ("before", "after")]
        _call_in_process(results[0], cache)  # which fills it
        times = [(_call_in_process(results[0]), _call_in_process(results[1], cache)) for _ in range(_PAIRS)]
        before, after = map(np.load, results)
    ratios = sorted(without / with_cache for without, with_cache in times)
    return Verified(
        before_ns=median([each[0] for each in times]),
        after_ns=median([each[1] for each in times]),
        speedup=median(ratios),
        low=ratios[0],
        high=ratios[-1],
        outputs_agree=bool(np.allclose(before, after)),
    )


def _call_in_process(result: Path, cache: Path | None = None) -> int:
    command = [sys.executable, "-m", "tests.doctor.slow_cache", str(result), *([str(cache)] if cache else [])]
    environment = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    made = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return int(made.stdout.split()[-1])


def main(result: str, cache: str = "") -> None:
    """Call the program once."""
    if cache:
        jax.config.update("jax_compilation_cache_dir", cache)
    run, arguments = cache_off()
    jax.block_until_ready(
        jax.jit(jnp.dot)(arguments[0], arguments[0])
    )  # what JAX imports and sets up once does not count
    begin = perf_counter_ns()
    value = jax.block_until_ready(run(*arguments))
    print(perf_counter_ns() - begin)
    np.save(result, value)


if __name__ == "__main__":
    main(*sys.argv[1:])
