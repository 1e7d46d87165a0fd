"""The verbs, for people without magics: each one captures, analyses, and returns or keeps a record."""

from __future__ import annotations

from .capture.fence import fence
from .capture.stopwatch import Stopwatch
from .errors import NotMeasured
from .model.history import History
from .model.timing import Timing
from .storage import load, save

__all__ = ["fence", "history", "last", "load", "save", "stopwatch"]

_history = History()


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
    return Stopwatch(fetch=fetch, record=_history.append)


def history() -> History:
    """The session's records, oldest first: of ``%jaxtime`` and of ``jaxmagic.stopwatch()``.

    Bounded to the last thousand, and without any array.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch():
    ...     pass
    >>> len(jaxmagic.history()) > 0
    True
    """
    return _history


def last() -> Timing:
    """The newest record of the session.

    Raises:
        NotMeasured: nothing has been measured yet.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch() as t:
    ...     pass
    >>> jaxmagic.last() is t.timing
    True
    """
    if not _history:
        raise NotMeasured("Nothing has been measured in this session yet. Run %jaxtime or jaxmagic.stopwatch().")
    return _history[-1]
