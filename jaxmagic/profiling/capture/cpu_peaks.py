"""Measures the peak FLOP/s and the memory bandwidth of the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from ...compilation.capture.listeners import unheard
from ...interrupts import uninterrupted
from ...records.other_load import is_loaded
from ...runtime import private_api
from ...runtime.clock import now_ns
from ...runtime.machine_load import Load
from ...timing.capture.fence_queues import jit_enabled
from ...timing.capture.wait import waiter_for

#: Sizes of matrices and vectors: large enough to make the overhead negligible, and vectors do not fit into a cache.
_SIDE = 1024
_LENGTH = 2**24

#: The fastest of this many runs counts; other load makes runs slower.
_RUNS = 7

#: At most this many measurements are made in a session.
_MOST = 5


class Peaks(NamedTuple):
    """Peak rates of a device.

    Attributes:
        flops: peak FLOP/s.
        bytes: memory bandwidth in bytes/s, reads plus writes.
        quiet: whether the machine was idle otherwise during the measurement.
    """

    flops: float
    bytes: float
    quiet: bool = True


class _Known:
    """The highest rates that were measured in this session."""

    def __init__(self) -> None:
        self.flops = self.bytes = 0.0
        self.quiet = False
        self.times = 0

    def measure(self) -> None:
        load = Load()
        peaks = _measured()
        self.flops, self.bytes = max(self.flops, peaks.flops), max(self.bytes, peaks.bytes)
        self.quiet = self.quiet or not is_loaded(load.of_others(), os.cpu_count() or 1)
        self.times += 1


_known = _Known()


def cpu_peaks(reached: float = 0.0) -> Peaks | None:
    """Return the peak ``float32`` rates that XLA reaches on this CPU; ``None`` if they cannot be measured.

    A measurement takes some tenths of a second. It is made on the first call, and repeated a few times at most if the
    machine was busy then, or an operation was faster.

    Args:
        reached: the FLOP/s that an operation reached.
    """
    try:
        if not _known.times or (_known.times < _MOST and (not _known.quiet or reached > _known.flops)):
            _known.measure()
    except Exception:  # out of memory, or no CPU backend
        if not _known.times:
            return None
    return Peaks(_known.flops, _known.bytes, _known.quiet)


@uninterrupted  # so that JAX's flags are restored
def _measured() -> Peaks:
    import jax
    import jax.numpy as jnp

    # Programs with this prefix are recognized as ours and not shown.
    def jaxmagic_fence_products(x: Any) -> Any:
        return x @ x

    def jaxmagic_fence_copies(x: Any) -> Any:
        return x + 1

    def compiled(function: Callable[..., Any], *arguments: Any, **options: Any) -> Callable[..., Any]:
        made: Callable[..., Any] = jax.jit(function, **options).lower(*arguments).compile()
        return made

    cpu = jax.default_device(jax.local_devices(backend="cpu")[0])
    with cpu, unheard(), jit_enabled(), private_api.not_written_to_cache():
        matrix = compiled(lambda: jnp.full((_SIDE, _SIDE), 1e-3, jnp.float32))()
        vector = compiled(lambda: jnp.zeros(_LENGTH, jnp.float32))()
        products = compiled(jaxmagic_fence_products, matrix)
        copies = compiled(jaxmagic_fence_copies, vector, donate_argnums=0)  # in place: allocation takes time
        products_ns = _best(lambda _: products(matrix), matrix)
        copies_ns = _best(copies, vector)
    return Peaks(2e9 * _SIDE**3 / products_ns, 8e9 * _LENGTH / copies_ns)


def _best(run: Callable[[Any], Any], argument: Any) -> int:
    """Return the time of the fastest run; each run gets the result of the one before."""
    wait, times = waiter_for(argument), []
    for _ in range(_RUNS):
        started = now_ns()
        argument = run(argument)
        wait(argument)
        times.append(now_ns() - started)
    return min(times)
