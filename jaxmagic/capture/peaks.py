"""What the CPU can do, measured once: its rate of products, and that of its memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from .clock import now_ns
from .waiting import waiter_for

#: Matrices and vectors of these sizes: large enough that what surrounds the work does not count, and that vectors do
#: not fit into a cache.
_SIDE = 1024
_LENGTH = 2**24

#: The best of so many runs counts; what else the machine does makes others slower.
_RUNS = 7


class Peaks(NamedTuple):
    """What a device can do in a second.

    Attributes:
        flops: floating-point operations.
        bytes: bytes read and written.
    """

    flops: float
    bytes: float


@cache
def cpu_peaks() -> Peaks | None:
    """The peaks of this machine's CPU with ``float32``, as XLA reaches them; ``None`` if they cannot be measured.

    The first call takes some tenths of a second.
    """
    try:
        return _measured()
    except Exception:  # too little memory, or a backend that is not there: then nothing is compared with it
        return None


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

    with jax.default_device(jax.local_devices(backend="cpu")[0]), jax.disable_jit(False):
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
