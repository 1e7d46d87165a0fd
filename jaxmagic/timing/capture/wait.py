"""Waiting for the value of one call, as quickly as its kind allows.

Where calls are short, to look for the arrays of a value takes longer than to wait for them. So how to wait is decided
once, on the first value, and the others are assumed to be like it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime.around import inherits
from .result_arrays import find_arrays


def waiter_for(value: Any) -> Callable[[Any], object]:
    """The quickest way to wait for values like this one; others are waited for, too."""
    import jax

    kind = type(value)
    if inherits(kind, jax.Array):
        return lambda each: each.block_until_ready() if type(each) is kind else search_and_wait(each)
    if not find_arrays(value).arrays:
        # To look through a long list each time would take longer than to make it. What such values start is seen, and
        # waited for, by the fence that the runner keeps where warm calls leave work behind.
        return lambda each: None if type(each) is kind else search_and_wait(each)
    if _is_plain_tree(value):
        return jax.block_until_ready
    return search_and_wait


def search_and_wait(value: Any) -> None:
    """Wait for the arrays that are found in `value`, without running any code of the user's."""
    wait_for_all(find_arrays(value).arrays)


def wait_for_all(arrays: list[Any]) -> None:
    """Wait for `arrays`, and raise what failed.

    A single one is waited for by its own method: :func:`jax.block_until_ready` would first look for the arrays of a
    tree, which takes 20 to 30 µs where it has not run for a while.
    """
    import jax

    if len(arrays) == 1:
        arrays[0].block_until_ready()
    elif arrays:
        jax.block_until_ready(arrays)


def _is_plain_tree(value: Any) -> bool:
    """Tell whether JAX's own wait finds every array in it, and ends."""
    import jax

    try:
        leaves = jax.tree.leaves(value)
    except Exception:  # a list that holds itself, a registered type that raises
        return False
    kinds = (jax.Array, int, float, complex, str)
    return all(any(inherits(type(leaf), kind) for kind in kinds) for leaf in leaves)
