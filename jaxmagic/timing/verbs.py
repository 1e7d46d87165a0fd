"""Provides ``stopwatch()``, which times a block."""

from __future__ import annotations

from ..progress.compiling_line import compiling_line
from ..runtime.given_arguments import over_a_block
from ..session.verbs import history
from .capture.stopwatch import Stopwatch


@over_a_block("no argument but fetch=", "with stopwatch() as t: f(x), or benchmark(f, x) to time a function")
def stopwatch(*, fetch: bool = False) -> Stopwatch:
    """Time a block and all the JAX work that it starts.

    The context manager waits for work in flight before the block begins, and at the end for everything: arrays
    wherever they were stored, work whose result was discarded, every local device, and callbacks. Exceptions of the
    block propagate; the record then has the times so far.

    Args:
        fetch: also time the copy of ``t.result`` to the host, as a separate figure.

    Returns:
        An object whose ``timing`` is a ``Timing`` once the block has ended. Set its ``result`` inside
        the block to separate waiting for that value from waiting for other work.

    Raises:
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax.numpy as jnp, jaxmagic
    >>> with jaxmagic.stopwatch() as t:
    ...     y = jnp.ones((100, 100)) @ jnp.ones((100, 100))
    >>> t.timing.wall_ns == t.timing.dispatch_ns + t.timing.wait_ns
    True
    """
    return Stopwatch(fetch=fetch, record=history().append, compiling=compiling_line())
