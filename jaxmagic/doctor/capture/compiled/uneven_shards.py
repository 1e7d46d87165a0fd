"""Finds where a program shards an axis over devices that do not divide it, so that some hold padding."""

from __future__ import annotations

from itertools import islice
from math import prod
from typing import Any

from ....records.call_stack import Frame
from ....runtime.around import is_a
from ....runtime.tracing import line_of
from ...record.placement import UnevenShards
from ..frames import known
from .products import equations

#: The most equations that are looked at.
_MOST_EQUATIONS = 100_000


def uneven_shards(jaxpr: Any) -> tuple[UnevenShards, ...]:
    """Return the axes that sharding constraints in a jaxpr divide unevenly; none if this JAX does not show them."""
    try:
        constraints = (
            each for each in islice(equations(jaxpr), _MOST_EQUATIONS) if each.primitive.name == "sharding_constraint"
        )
        return tuple(dict.fromkeys(uneven for each in constraints for uneven in _uneven(each)))
    except Exception:
        return ()


def _uneven(equation: Any) -> list[UnevenShards]:
    import jax

    sharding, array = equation.params["sharding"], equation.invars[0].aval
    if not is_a(sharding, jax.sharding.NamedSharding):
        return []
    pieces = [_pieces(entry, dict(sharding.mesh.shape)) for entry in (*sharding.spec, *[None] * array.ndim)]
    pieces = pieces[: array.ndim]
    line = line_of(equation)
    return [
        UnevenShards(
            line=None if line is None else known(Frame(function=line[0], file=line[1], line=line[2])),
            type=f"{array.dtype}[{','.join(map(str, array.shape))}]",
            axis=axis,
            size=size,
            pieces=count,
            size_bytes=array.size * array.dtype.itemsize * count // prod(pieces),
        )
        for axis, (size, count) in enumerate(zip(array.shape, pieces, strict=True))
        if size % count
    ]


def _pieces(entry: Any, mesh: dict[str, int]) -> int:
    """Return into how many pieces an entry of a ``PartitionSpec`` divides an axis."""
    names = entry if type(entry) is tuple else (entry,)
    return prod(mesh[each] for each in names if type(each) is str)
