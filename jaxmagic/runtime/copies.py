"""Copy between host and devices regardless of the user's ``jax.transfer_guard``, which is not meant for jaxmagic."""

from __future__ import annotations

from collections.abc import Callable
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
