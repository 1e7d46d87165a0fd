"""How long it takes to sum up a recording of the JAX profiler, beside xprof on the same file, and to make one."""

from __future__ import annotations

import gc
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns as clock
from typing import Any

import jax
import jax.numpy as jnp

import jaxmagic

#: What xprof makes of a recording of the CPU: its summary, and what its timeline shows.
TOOLS = ("overview_page", "trace_viewer")

#: Recordings of more events are summed up twice only: xprof takes minutes.
_LARGE = 1_000_000

#: Events of one pass through the loop.
_EVENTS = 20


def main(rounds: int, *sizes: int) -> list[dict[str, Any]]:
    """For each number of events: the times of the summary and of xprof's tools, in turns; what the file weighs."""
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            file = record(Path(folder), size)
            took: dict[str, list[int]] = {"jaxmagic": [], **{tool: [] for tool in TOOLS if _xprof() is not None}}
            for _ in range(rounds if size <= _LARGE else 2):
                for who in random.Random(len(took["jaxmagic"])).sample(list(took), len(took)):
                    gc.collect()
                    took[who].append(_summary(file) if who == "jaxmagic" else _peer(who, file))
            events = sum(each.count for each in jaxmagic.read_profile(file).operation_times)
            rows.append({"operations": events, "bytes": file.stat().st_size, "took_ns": took})
    return rows


def record(folder: Path, events: int) -> Path:
    """A loop of small operations."""

    @jax.jit
    def f(x: Any) -> Any:
        def body(_: Any, c: Any) -> Any:
            for _ in range(4):
                c = jnp.tanh(c @ x)
            return jnp.sort(c, axis=0)

        return jax.lax.fori_loop(0, events // _EVENTS, body, x)

    return record_of(folder, f)


def record_scopes(folder: Path, events: int) -> Path:
    """A loop of as many small operations in the scopes of a network with 24 blocks."""
    parts = [f"block_{block}/{part}" for block in range(24) for part in ("attention", "feed_forward")]
    layers = [f"{part}/layer_{layer}" for part in parts for layer in range(3)]

    @jax.jit
    def f(x: Any) -> Any:
        def body(_: Any, c: Any) -> Any:
            for layer in layers:
                with jax.named_scope(layer):
                    c = jnp.tanh(c @ x)
            return c

        return jax.lax.fori_loop(0, events // (4 * len(layers)), body, x)

    return record_of(folder, f)


def record_of(folder: Path, f: Callable[[Any], Any]) -> Path:
    """A call of a function of a small matrix, in the file that the profiler makes of it."""
    x = jnp.ones((4, 4))
    jax.block_until_ready(f(x))
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level, options.python_tracer_level = 2, 0
    with jax.profiler.trace(str(folder), profiler_options=options):
        jax.block_until_ready(f(x))
    (file,) = folder.rglob("*.xplane.pb")
    return file


def _summary(file: Path) -> int:
    """Lines, operations, scopes and devices."""
    started_ns = clock()
    profile = jaxmagic.read_profile(file)
    for each in (profile.lines, profile.operations, profile.scopes, profile.devices):
        each()
    return clock() - started_ns


def _peer(tool: str, file: Path) -> int:
    """It keeps what it has found beside the file, so each time it gets a copy."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(file, folder)
        started_ns = clock()
        _xprof().xspace_to_tool_data([copy], tool, {})
        return clock() - started_ns


def _xprof() -> Any:
    try:
        from xprof.convert import raw_to_tool_data
    except ImportError:
        return None
    return raw_to_tool_data


def slowdown(rounds: int, operations: int, size: int) -> dict[str, Any]:
    """A program of so many operations on matrices of a size, with and without the profiler, in turns."""
    x = jax.random.normal(jax.random.key(0), (size, size)) / size**0.5

    @jax.jit
    def f(x: Any) -> Any:
        return jax.lax.fori_loop(0, operations // 3, lambda _, c: jnp.tanh(c @ x), x)

    jax.block_until_ready(f(x))
    found: dict[str, list[int]] = {"bare": [], "recorded": [], "reading": []}
    count = 0
    for _ in range(rounds):
        for who in random.Random(len(found["bare"])).sample(["bare", "recorded"], 2):
            if who == "bare":
                started_ns = clock()
                jax.block_until_ready(f(x))
                found["bare"].append(clock() - started_ns)
            else:
                started_ns = clock()
                profile = jaxmagic.profile(f, x, cold=True)
                found["reading"].append(clock() - started_ns - profile.recorded_ns)
                found["recorded"].append(profile.recorded_ns)
                count = sum(each.count for each in profile.operation_times)
    return {"operations": count, "took_ns": found}


if __name__ == "__main__":
    what, *numbers = sys.argv[1:]
    print(json.dumps({"main": main, "slowdown": slowdown}[what](*map(int, numbers))))
