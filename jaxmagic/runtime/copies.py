"""Copies of our own between the host and devices: the user's ``jax.transfer_guard`` is not meant for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..interrupts import interruptible, uninterrupted

_T = TypeVar("_T")


@uninterrupted
def unguarded(copy: Callable[..., _T], *arguments: Any) -> _T:
    """Call what copies arrays. Ctrl-C interrupts the copy, and not the end of the permission.

    >>> import numpy as np
    >>> unguarded(np.asarray, 1.5)
    array(1.5)
    """
    import jax

    with jax.transfer_guard("allow"):
        return interruptible(copy)(*arguments)
