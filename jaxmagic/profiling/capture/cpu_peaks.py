"""What the CPU can do, measured in a quiet moment: its rate of products, and that of its memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from ...compilation.capture.compile_log import unheard
from ...interrupts import uninterrupted
from ...records.other_load import is_loaded
from ...runtime import private_api
from ...runtime.clock import now_ns
from ...runtime.machine_load import Load
from ...timing.capture.fence_queues import jit_enabled
from ...timing.capture.wait import waiter_for

#: Matrices and vectors of these sizes: large enough that what surrounds the work does not count, and that vectors do
#: not fit into a cache.
_SIDE = 1024
_LENGTH = 2**24

#: The best of so many runs counts; what else the machine does makes others slower.
_RUNS = 7


#: So often it is measured in a session at most.
_MOST = 5


class Peaks(NamedTuple):
    """What a device can do in a second.

    Attributes:
        flops: floating-point operations.
        bytes: bytes read and written.
        quiet: whether nothing else kept the machine busy while this was measured.
    """

    flops: float
    bytes: float
    quiet: bool = True


class _Known:
    """What has been measured in this session: the most of it counts."""

    def __init__(self) -> None:
        self.flops = self.bytes = 0.0
        self.quiet = False
        self.times = 0

    def measure(self) -> None:
        load = Load()
        found = _measured()
        self.flops, self.bytes = max(self.flops, found.flops), max(self.bytes, found.bytes)
        self.quiet = self.quiet or not is_loaded(load.of_others(), os.cpu_count() or 1)
        self.times += 1


_known = _Known()


def cpu_peaks(reached: float = 0.0) -> Peaks | None:
    """The peaks of this machine's CPU with ``float32``, as XLA reaches them; ``None`` if they cannot be measured.

    Measuring takes some tenths of a second. It is done when first asked, and again, a few times at most, where other
    processes kept the machine busy then, or something was faster.

    Args:
        reached: the floating-point operations in a second that something was seen to do.
    """
    try:
        if not _known.times or (_known.times < _MOST and (not _known.quiet or reached > _known.flops)):
            _known.measure()
    except Exception:  # too little memory, or a backend that is not there: then nothing is compared with it
        if not _known.times:
            return None
    return Peaks(_known.flops, _known.bytes, _known.quiet)


@uninterrupted  # or flags of JAX would not come back
def _measured() -> Peaks:
    import jax
    import jax.numpy as jnp

    # Programs with this name are known as ours, and not shown.
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
        copies = compiled(
            jaxmagic_fence_copies, vector, donate_argnums=0
        )  # in place: new memory takes time of its own
        products_ns = _best(lambda _: products(matrix), matrix)
        copies_ns = _best(copies, vector)
    return Peaks(2e9 * _SIDE**3 / products_ns, 8e9 * _LENGTH / copies_ns)


def _best(run: Callable[[Any], Any], argument: Any) -> int:
    """The shortest run; each takes what the one before has given."""
    wait, times = waiter_for(argument), []
    for _ in range(_RUNS):
        started = now_ns()
        argument = run(argument)
        wait(argument)
        times.append(now_ns() - started)
    return min(times)
