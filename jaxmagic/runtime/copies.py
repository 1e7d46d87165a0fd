"""Copies arrays regardless of the user's ``jax.transfer_guard``, and observes which ones JAX converts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from ..interrupts import interruptible, uninterrupted

_T = TypeVar("_T")


@uninterrupted
def unguarded(copy: Callable[..., _T], *arguments: Any) -> _T:
    """Call a function that copies arrays. Ctrl-C can interrupt the copy, but not the restoring of the guard.

    >>> import numpy as np
    >>> unguarded(np.asarray, 1.5)
    array(1.5)
    """
    import jax

    with jax.transfer_guard("allow"):
        return interruptible(copy)(*arguments)


def observe_conversions(notice: Callable[[Any, Any], None]) -> Callable[[], None] | None:
    """Call `notice` with each value that ``jnp.array`` or ``jnp.asarray`` converts as it is, and with the result.

    With another dtype, they convert what NumPy has made of it.

    Returns:
        A function that ends the observation; ``None`` if this JAX cannot be observed.
    """
    try:
        from jax._src.lax import lax

        stage: Callable[[Any], Any] = lax.stage
    except (ImportError, AttributeError):
        return None
    over = False

    @functools.wraps(stage)
    def noticed(value: Any, /) -> Any:
        __tracebackhide__ = True
        result = stage(value)
        if not over:
            with suppress(Exception):
                notice(value, result)
        return result

    def undo() -> None:
        nonlocal over
        over = True
        if lax.stage is noticed:  # another wrapper on top of this one keeps it
            lax.stage = stage

    lax.stage = noticed
    return undo
