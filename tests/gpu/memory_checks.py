"""Checks 11 and 12: memory beside the figures of XLA and the device, and settings that leave no memory.

They run on a CPU as well, which shows that they run, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from work import GIB, Row, Work, accelerator, in_a_process, memory_of

import jaxmagic


def memory(work: Work) -> Iterator[Row]:
    """The map beside what XLA says, and the peak beside what the device says."""
    side = max(8, int((8 * GIB * work.scale / 4) ** 0.5))

    @jax.jit
    def hungry(x: Any) -> Any:
        return jnp.sum(jnp.sort(x[:, None] * x[None, :], axis=0))

    x, device = jnp.ones(side), accelerator()
    program = jaxmagic.memory_requirement(hungry, x)
    by_xla = hungry.lower(x).compile().memory_analysis()
    told = program.temporary_bytes, program.argument_bytes, program.output_bytes
    wanted = by_xla.temp_size_in_bytes, by_xla.argument_size_in_bytes, by_xla.output_size_in_bytes
    yield Row("11. map", f"{told}", f"{wanted}", told == wanted)
    yield from _on_the_host(x, device)
    stats = device.memory_stats() or {}
    if "peak_bytes_in_use" not in stats:
        yield Row("11. peak", "memory_stats() has no peak", "a peak")
        return
    hungry(x).block_until_ready()
    rose = device.memory_stats()["peak_bytes_in_use"] - stats["peak_bytes_in_use"]
    needed = program.temporary_bytes or 0
    figure = f"rose by {rose / GIB:.2f} GiB for temporaries of {needed / GIB:.2f}"
    near = 0.9 * needed <= rose <= 1.05 * (program.peak_bytes or 0)
    yield Row("11. peak", figure, "the temporaries, and at most the output besides", near)
    timeline = jaxmagic.memory(hungry, jnp.ones(side // 4)).timeline
    for name in timeline.device_peak_bytes or {}:
        peak = timeline.window_peak(name)
        words = (
            "unknown" if peak is None else f"{'' if peak.exact else 'at least '}{peak.at_least_bytes / GIB:.3f} GiB"
        )
        yield Row(f"11. smaller run, {name}", words, "at least", peak is not None and not peak.exact)


def _on_the_host(x: Any, device: Any) -> Iterator[Row]:
    """Whether a program whose result lies in the host's memory has bytes there (R6)."""
    pinned = memory_of(device, "pinned_host")
    if pinned is None:
        yield Row("11. pinned_host", "no pinned memory here", "bytes on the host")
        return
    found = jaxmagic.memory_requirement(jax.jit(lambda x: 2 * x, out_shardings=pinned), x).host_output_bytes
    yield Row("11. pinned_host", f"{found} bytes on the host", f"{x.nbytes}", found == x.nbytes)


_HOSTILE = """
import jax, jax.numpy as jnp, numpy as np, jaxmagic
if {full}:
    device = jax.devices()[0]
    held = []
    for size in (2**28, 2**20, 256):  # JAX waits for ten seconds before each fails
        try:
            while len(held) < 100_000:
                held.append(jax.device_put(np.zeros(size, np.uint8), device).block_until_ready())
        except Exception:
            pass
if {mesh}:
    jax.set_mesh(jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,)))
with jaxmagic.stopwatch() as t:
    ran = 1 + 1
assert ran == 2
print("ran;", "; ".join(map(str, t.timing.notes)) or "no note")
"""


def hostile(work: Work) -> Iterator[Row]:
    """The code always runs, whatever the fence meets."""
    has_memory = accelerator().platform != "cpu"
    cases: dict[str, tuple[dict[str, str], bool, bool]] = {
        "allocator platform": ({"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"}, False, False),
        "allocator cuda_async": ({"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async"}, False, False),
        "no preallocation": ({"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, False, False),
        "memory filled": ({"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.1"}, has_memory, False),
        "set_mesh first": ({}, False, hasattr(jax, "set_mesh")),
    }
    for name, (variables, full, mesh) in cases.items():
        program = _HOSTILE.format(full=full, mesh=mesh)
        said = in_a_process(program, variables)
        ran, noted = said.startswith("ran"), "no note" not in said
        yield Row(f"12. {name}", said, "ran" + ", with a note" * full, ran and (noted or not full))
