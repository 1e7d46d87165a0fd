"""``stopwatch()``: how long a block takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..progress.compiling_line import compiling_line
from ..session.verbs import history
from .capture.stopwatch import Stopwatch

if TYPE_CHECKING:
    pass


def stopwatch(*, fetch: bool = False) -> Stopwatch:
    """A context manager that times a block and all the JAX work that it starts.

    It waits for what was in flight before the block begins, and at the end for everything: arrays wherever they
    were put, work whose result was thrown away, every local device, callbacks. The block's own exceptions come
    through; the times up to then are on the record.

    Args:
        fetch: also time the copy of ``t.result`` to the host, as a figure of its own.

    Returns:
        An object with ``timing``, a :class:`~jaxmagic.Timing` once the block has ended. Set its ``result``
        inside the block to tell waiting for that value apart from waiting for other work.

    Raises:
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax.numpy as jnp, jaxmagic
    >>> with jaxmagic.stopwatch() as t:
    ...     y = jnp.ones((100, 100)) @ jnp.ones((100, 100))
    >>> t.timing.wall_ns == t.timing.dispatch_ns + t.timing.wait_ns
    True
    """
    return Stopwatch(fetch=fetch, record=history().append, compiling=compiling_line())
