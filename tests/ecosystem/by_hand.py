"""The truth about a program from JAX's own public functions, without jaxmagic."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import jax

_COMPILED = "/jax/core/compile/backend_compile_duration"

#: Those who count now: JAX has no public function that takes one listener away.
_counting: list[Counter[str]] = []


def _listen(event: str, _: float, **facts: Any) -> None:
    if event == _COMPILED:
        for counter in _counting:
            counter[str(facts.get("fun_name", "?")).removeprefix("jit(").removesuffix(")")] += 1


@contextmanager
def compilations() -> Iterator[Counter[str]]:
    """Count what XLA compiles, by the name of the function."""
    if not _listening:
        jax.monitoring.register_event_duration_secs_listener(_listen)
        _listening.append(True)
    counter: Counter[str] = Counter()
    _counting.append(counter)
    try:
        yield counter
    finally:
        _counting.remove(counter)


_listening: list[bool] = []


def fastest_ns(run: Callable[[], object], least: int = 3, most_ns: int = 3 * 10**8) -> int:
    """The shortest time that a run takes until all arrays are there."""
    times: list[int] = []
    while len(times) < least or sum(times) < most_ns:
        start = time.perf_counter_ns()
        run()
        jax.block_until_ready(jax.live_arrays())
        times.append(time.perf_counter_ns() - start)
    return min(times)


class Memory(NamedTuple):
    """What a program needs of a device."""

    argument_bytes: int
    output_bytes: int
    temporary_bytes: int
    alias_bytes: int


def memory(stats: Any) -> Memory:
    """The numbers of ``compiled.memory_analysis()``."""
    return Memory(
        stats.argument_size_in_bytes, stats.output_size_in_bytes, stats.temp_size_in_bytes, stats.alias_size_in_bytes
    )


def loaded() -> set[tuple[str, Memory]]:
    """All programs that are loaded now, with what each needs."""
    found = jax.devices()[0].client.live_executables()
    return {(each.hlo_modules()[0].name, memory(each.get_compiled_memory_stats())) for each in found}


def held_bytes() -> dict[str, int]:
    """What arrays take of each device: JAX counts the shards of an array as arrays once they were accessed."""
    held: Counter[str] = Counter()
    met = set()
    for array in jax.live_arrays():
        for shard in array.addressable_shards:
            place = shard.device, shard.data.unsafe_buffer_pointer()
            if place not in met:
                met.add(place)
                held[f"{shard.device.platform}:{shard.device.id}"] += shard.data.nbytes
    return dict(held)


class Recorded(NamedTuple):
    """What a recording says of the first device.

    Attributes:
        busy_ns: how long the union of its events is.
        counts: how many events each operation of each program has.
    """

    busy_ns: float
    counts: Counter[tuple[str, str]]


def recorded(folder: Path) -> Recorded:
    """Read the recording that was kept in a folder."""
    (file,) = folder.rglob("*.xplane.pb")
    times: list[tuple[float, float]] = []
    counts: Counter[tuple[str, str]] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the module's own classes
        for plane in jax.profiler.ProfileData.from_file(str(file)).planes:
            for line in plane.lines if plane.name == "/host:CPU" else ():
                for event in line.events:
                    facts = dict(event.stats)
                    if "hlo_op" not in facts or facts.get("device_ordinal") or "fence" in facts["hlo_module"]:
                        continue
                    times.append((event.start_ns, event.start_ns + event.duration_ns))
                    counts[facts["hlo_module"], facts["hlo_op"]] += 1
    return Recorded(_union(times), counts)


def _union(times: list[tuple[float, float]]) -> float:
    total = end = 0.0
    for first, last in sorted(times):
        total += max(0.0, last - max(first, end))
        end = max(end, last)
    return total
