"""Finds where the arguments of programs on several devices lie, and what has to move before each call."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ....runtime.around import is_a, is_exactly
from ....runtime.tracing import is_array
from ...record.placement import Placement
from ..changes import reach

#: Smaller arrays are left out, and so are further arrays of a program.
_LEAST_BYTES = 2**16
_MOST_ARRAYS = 1000


class Passed(NamedTuple):
    """An array that was passed to a program.

    Attributes:
        parameter: the number of the parameter.
        array: a weak reference to the array.
        needed: the sharding that the program takes.
        moved_bytes: the bytes that have to move.
    """

    parameter: int
    array: weakref.ref[Any]
    needed: Any
    moved_bytes: int


def passed_arrays(passed: Sequence[tuple[Any, Any]]) -> tuple[Passed, ...]:
    """Note the larger arrays that a program takes, weakly; its other arguments are left out."""
    return tuple(
        Passed(parameter, weakref.ref(value), needed, moved_bytes(value, needed))
        for parameter, (value, needed) in enumerate(passed[:_MOST_ARRAYS])
        if is_array(value) and value.nbytes >= _LEAST_BYTES
    )


def moved_bytes(array: Any, needed: Any, *, from_host: bool = False) -> int:
    """Return how many bytes devices lack of what a program takes, summed over all devices."""
    if not from_host and array.sharding.is_equivalent_to(needed, array.ndim):
        return 0
    has = {} if from_host else array.sharding.devices_indices_map(array.shape)
    lacking = 0
    for device, slices in needed.devices_indices_map(array.shape).items():
        there = [_bounds(each, size) for each, size in zip(slices, array.shape, strict=True)]
        lacking += prod(stop - start for start, stop in there)
        if device in has:
            own = [_bounds(each, size) for each, size in zip(has[device], array.shape, strict=True)]
            both = (min(a[1], b[1]) - max(a[0], b[0]) for a, b in zip(there, own, strict=True))
            lacking -= prod(max(each, 0) for each in both)
    return int(lacking * array.nbytes // max(array.size, 1))


def _bounds(part: slice, size: int) -> tuple[int, int]:
    start, stop, _ = part.indices(size)
    return start, stop


def described_placements(passed: Sequence[Passed], variables: Mapping[str, Any]) -> tuple[Placement, ...]:
    """Describe the arrays that some variables still lead to.

    Args:
        passed: the arrays that a program took.
        variables: the variables of the code, by name.
    """
    if not passed:
        return ()
    reached = list(reach(variables))
    arrays = (each for each in reached if is_array(each.value) or is_exactly(each.value, np.ndarray))
    paths = {id(each.value): each.path for each in arrays}
    placements = []
    for argument in passed:
        array = argument.array()
        if array is None or id(array) not in paths:
            continue
        mesh = _mesh_of(argument.needed)
        placements.append(
            Placement(
                parameter=argument.parameter,
                path=paths[id(array)],
                type=f"{array.dtype}[{','.join(map(str, array.shape))}]",
                size_bytes=int(array.nbytes),
                lies_on=len(array.sharding.device_set) if is_array(array) else 0,
                devices=len(argument.needed.device_set),
                moved_bytes=argument.moved_bytes,
                spec=_spec_of(argument.needed),
                sharding=_named_sharding(argument.needed, array.ndim, reached),
                mesh=None if mesh is None else _named_mesh(mesh, reached),
                mesh_axes=() if mesh is None else tuple((str(name), int(size)) for name, size in mesh.shape.items()),
            )
        )
    return tuple(placements)


def _mesh_of(sharding: Any) -> Any:
    """Return the mesh of a sharding; ``None`` if it has none that lists its devices."""
    import jax

    mesh = getattr(sharding, "mesh", None)
    return mesh if is_a(mesh, jax.sharding.Mesh) else None


def _spec_of(sharding: Any) -> str | None:
    """Return the entries of a ``PartitionSpec`` as Python source.

    >>> import jax, numpy as np
    >>> mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("data",))
    >>> _spec_of(jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(None, "data")))
    "None, 'data'"
    """
    spec = getattr(sharding, "spec", None)
    entries = () if spec is None else tuple(spec)
    plain = all(each is None or isinstance(each, (str, tuple)) for each in entries)
    return None if spec is None or not plain else ", ".join(map(repr, entries))


def _variables(reached: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    for each in reached:
        if len(each.steps) == 1 and each.path.isidentifier():
            yield each.path, each.value


def _named_sharding(needed: Any, axes: int, reached: Sequence[Any]) -> str | None:
    """Return an expression for a sharding: a variable, or the sharding of another array."""
    import jax

    for path, value in _variables(reached):
        if is_a(value, jax.sharding.Sharding) and _is_same(value, needed, axes):
            return path
    for path, value in _variables(reached):
        if is_array(value) and value.ndim == axes and _is_same(value.sharding, needed, axes):
            return f"{path}.sharding"
    return None


def _is_same(sharding: Any, needed: Any, axes: int) -> bool:
    with suppress(Exception):  # a sharding for other ranks
        return bool(sharding.is_equivalent_to(needed, axes))
    return False


def _named_mesh(mesh: Any, reached: Sequence[Any]) -> str | None:
    """Return an expression for a mesh: a variable, or the mesh of another array or sharding."""
    for path, value in _variables(reached):
        if _mesh_is(value, mesh):
            return path
    for path, value in _variables(reached):
        if _mesh_is(_mesh_of(value), mesh):
            return f"{path}.mesh"
        if is_array(value) and _mesh_is(_mesh_of(value.sharding), mesh):
            return f"{path}.sharding.mesh"
    return None


def _mesh_is(value: Any, mesh: Any) -> bool:
    return type(value) is type(mesh) and bool(value == mesh)
