"""Waits for the value of one call, as quickly as its type allows.

For short calls, finding the arrays in a value takes longer than waiting for them. So the way to wait is chosen once,
from the first value, and later values are assumed to be alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime.around import inherits
from .result_arrays import find_arrays


def waiter_for(value: Any) -> Callable[[Any], object]:
    """Return the quickest way to wait for values like this one, which also waits for other values."""
    import jax

    kind = type(value)
    if inherits(kind, jax.Array):
        return lambda each: each.block_until_ready() if type(each) is kind else search_and_wait(each)
    if not find_arrays(value).arrays:
        # Searching a long list every time would take longer than making it. If warm calls leave work behind, the
        # runner keeps the fence, which waits for that work.
        return lambda each: None if type(each) is kind else search_and_wait(each)
    if _is_plain_tree(value):
        return jax.block_until_ready
    return search_and_wait


def search_and_wait(value: Any) -> None:
    """Wait for the arrays found in `value`, without running user code."""
    wait_for_all(find_arrays(value).arrays)


def wait_for_all(arrays: list[Any]) -> None:
    """Wait for `arrays`, and raise the error of a computation that failed.

    A single array is waited for by its own method, because :func:`jax.block_until_ready` flattens a tree first, which
    takes 20 to 30 µs when its caches are cold.
    """
    import jax

    if len(arrays) == 1:
        arrays[0].block_until_ready()
    elif arrays:
        jax.block_until_ready(arrays)


def _is_plain_tree(value: Any) -> bool:
    """Return whether ``jax.block_until_ready`` finds every array in `value` and terminates."""
    import jax

    try:
        leaves = jax.tree.leaves(value)
    except Exception:  # a list that holds itself, a registered type that raises
        return False
    kinds = (jax.Array, int, float, complex, str)
    return all(any(inherits(type(leaf), kind) for kind in kinds) for leaf in leaves)


def has_failed(array: Any) -> bool:
    """Return whether the program that was to compute an array has failed: the array then has no memory.

    Waits for nothing: an array that is being computed has not failed yet. A deleted one must not be asked, and a
    failed one not for its address, which ends the process or never returns.
    """
    try:
        ready = array.is_ready()
    except Exception:
        return False
    try:
        if ready:
            array.block_until_ready()
    except Exception:
        return True
    return False
