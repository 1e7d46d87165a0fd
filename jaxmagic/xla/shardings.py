"""Reads the shardings of a compiled module's arguments and results, and the replica groups of its collectives."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from .hlo import Sharded
from .hlo_proto import TUPLE, subshapes, text

#: ``OpSharding.Type`` of replicated and of tiled arrays.
_REPLICATED, _TILED = 0, 3


def sharded(module: Any) -> tuple[tuple[Sharded, ...], tuple[Sharded, ...]]:
    """Return the arguments and the results of a module; both are empty if it has no entry computation.

    Args:
        module: an ``HloModule``.
    """
    entry = next((each for each in module.computations if each.id == module.entry_computation_id), None)
    if entry is None:
        return (), ()
    parameters = [each for each in entry.instructions if each.opcode == b"parameter"]
    parameters.sort(key=lambda each: each.parameter_number)
    root = next((each for each in entry.instructions if each.id == entry.root_id), None)
    whole = [] if root is None else [root.shape]
    shapes = list(root.shape.tuple_shapes) if root is not None and root.shape.element_type == TUPLE else whole
    output = module.spmd_output_sharding
    shardings = list(output.tuple_shardings) or ([output] if module.HasField("spmd_output_sharding") else [])
    names = [text(each.metadata.op_name) for each in parameters]
    inputs = _described(names, [each.shape for each in parameters], list(module.spmd_parameters_shardings))
    return inputs, _described([""] * len(shapes), shapes, shardings)


def _described(names: Sequence[str], shapes: Sequence[Any], shardings: Sequence[Any]) -> tuple[Sharded, ...]:
    """Describe each array; all shardings are unknown if their number differs from the number of shapes."""
    known = shardings if len(shardings) == len(shapes) else [None] * len(shapes)
    return tuple(
        Sharded(name=name, shape=subshapes(shape)[0].shape, pieces=_pieces(sharding, len(shape.dimensions)))
        for name, shape, sharding in zip(names, shapes, known, strict=True)
    )


def _pieces(sharding: Any, axes: int) -> tuple[int, ...] | None:
    """Return the number of shards along each axis; ``None`` if unknown."""
    if sharding is None:
        return None
    if sharding.HasField("named_sharding"):
        named = sharding.named_sharding
        sizes = [each.size for each in named.mesh.axes]
        pieces = [_size(each.axes, sizes) for each in named.dim_shardings]
        return None if None in pieces else tuple(each or 1 for each in (*pieces, *[1] * (axes - len(pieces))))
    if sharding.type == _REPLICATED:
        return (1,) * axes
    if sharding.type != _TILED:
        return None
    replicated = len(sharding.last_tile_dims) or int(sharding.replicate_on_last_tile_dim)  # trailing dimensions
    tiles = tuple(sharding.tile_assignment_dimensions)
    tiles = tiles[: len(tiles) - replicated]
    return tiles if len(tiles) == axes else None


def num_replica_groups(message: Any) -> int:
    """Return the number of replica groups of a collective instruction; 0 if unknown."""
    if message.HasField("mesh_axes_replica_group_list"):
        meshed = message.mesh_axes_replica_group_list
        sizes = [each.size for each in meshed.mesh.axes]
        group_size = _size(meshed.axes, sizes)
        return prod(sizes) // group_size if group_size else 0
    if message.HasField("iota_collective_device_list"):
        return int(message.iota_collective_device_list.num_replica_groups)
    if message.HasField("collective_device_list"):
        listed = message.collective_device_list
        return len(listed.replica_groups) or int(listed.iota_replica_group_list.num_replica_groups)
    return len(message.replica_groups)


def _size(axes: Sequence[Any], sizes: Sequence[int]) -> int | None:
    """Count the devices along some axes of a mesh; ``None`` for a sub-axis or an invalid axis."""
    if any(each.sub_axis_info or not 0 <= each.mesh_axis_index < len(sizes) for each in axes):
        return None
    return prod(sizes[each.mesh_axis_index] for each in axes)
