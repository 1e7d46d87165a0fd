"""Finds leaves of outputs that hold rounding alone, such as a gradient that is zero but for rounding."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from .....runtime.around import is_a
from .....runtime.tracing import is_array

#: Rounding shrinks from float32 to float64 by about 5e8; what shrinks by less is no rounding alone.
_SHRINKS = 1e5


class Outputs(NamedTuple):
    """The outputs of a function without its remedy, and with it."""

    before: Any
    after: Any


def small_leaves(outputs: Outputs) -> dict[str, float]:
    """Return the leaves that may be rounding beside the others, by their paths, with the largest value in each.

    Their values are at most the square root of the machine epsilon, as a share of the largest value in any leaf.
    """
    sizes = _sizes(outputs)
    largest = max((size for size, _ in sizes.values()), default=0.0)
    return {path: size for path, (size, eps) in sizes.items() if 0 < size <= eps**0.5 * largest}


def rounding_alone(small: dict[str, float], wide: Outputs) -> dict[str, float]:
    """Return those of some leaves that are rounding, since 64-bit types make them so much smaller.

    Args:
        small: the largest value in each leaf, by their paths.
        wide: the outputs with 64-bit types.

    Returns:
        The largest value in each with 64-bit types.
    """
    sizes = _sizes(wide)
    return {
        path: sizes[path][0] for path, size in small.items() if path in sizes and sizes[path][0] * _SHRINKS <= size
    }


def largest_value(outputs: Outputs) -> float:
    """Return the largest magnitude of all leaves with rounding."""
    return max((size for size, _ in _sizes(outputs).values()), default=0.0)


def without(outputs: Outputs, paths: Collection[str]) -> Outputs:
    """Return outputs without some leaves."""
    import jax

    def kept(path: Any, leaf: Any) -> Any:
        return None if jax.tree_util.keystr(path) in paths else leaf

    return Outputs(*(jax.tree_util.tree_map_with_path(kept, each) for each in outputs))


def _sizes(outputs: Outputs) -> dict[str, tuple[float, float]]:
    """Return the largest magnitude and the machine epsilon of each leaf of finite floats, in both outputs."""
    import jax

    found: dict[str, tuple[float, float]] = {}
    other: set[str] = set()
    for tree in outputs:
        for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
            name = jax.tree_util.keystr(path)
            is_float = (is_array(leaf) or is_a(leaf, (np.ndarray, np.generic))) and jax.dtypes.issubdtype(
                leaf.dtype, np.inexact
            )
            size = float(np.max(np.abs(np.asarray(leaf)), initial=0.0)) if is_float else np.inf
            if not np.isfinite(size):
                other.add(name)
                continue
            before, coarsest = found.get(name, (0.0, 0.0))
            found[name] = max(size, before), max(float(jax.numpy.finfo(leaf.dtype).eps), coarsest)
    return {name: each for name, each in found.items() if name not in other}
