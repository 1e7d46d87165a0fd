"""How a compiled module divides its arrays among devices, and which devices exchange data with each other."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from .hlo import Sharded
from .hlo_proto import shape_of, text

#: XLA's numbers for shardings: each device has all, or they are in the words of axes and tiles.
_REPLICATED, _TILED = 0, 3

#: Its number for the type of a tuple.
_TUPLE = 13


def sharded(module: Any, entry: Any) -> tuple[tuple[Sharded, ...], tuple[Sharded, ...]]:
    """Return what a module takes and gives.

    Args:
        module: an ``HloModule``.
        entry: its entry computation.
    """
    parameters = [each for each in entry.instructions if each.opcode == b"parameter"]
    parameters.sort(key=lambda each: each.parameter)
    root = next((each for each in entry.instructions if each.id == entry.root), None)
    whole = [] if root is None else [root.shape]
    shapes = list(root.shape.parts) if root is not None and root.shape.element == _TUPLE else whole
    given = list(module.outputs.parts) or ([module.outputs] if module.HasField("outputs") else [])
    names = [text(each.metadata.op_name) for each in parameters]
    inputs = _described(names, [each.shape for each in parameters], list(module.inputs))
    return inputs, _described([""] * len(shapes), shapes, given)


def _described(names: Sequence[str], shapes: Sequence[Any], shardings: Sequence[Any]) -> tuple[Sharded, ...]:
    """One for each shape; where there is not one sharding for each, none is known."""
    known = shardings if len(shardings) == len(shapes) else [None] * len(shapes)
    return tuple(
        Sharded(name=name, shape=shape_of(shape)[0], pieces=_pieces(each, len(shape.dimensions)))
        for name, shape, each in zip(names, shapes, known, strict=True)
    )


def _pieces(sharding: Any, axes: int) -> tuple[int, ...] | None:
    """Into how many pieces each axis is divided; ``None`` if that is not known."""
    if sharding is None:
        return None
    if sharding.HasField("named"):
        sizes = [each.size for each in sharding.named.mesh.axes]
        found = [_size(each.axes, sizes) for each in sharding.named.dimensions]
        return None if None in found else tuple(each or 1 for each in (*found, *[1] * (axes - len(found))))
    if sharding.type == _REPLICATED:
        return (1,) * axes
    if sharding.type != _TILED:
        return None
    beyond = len(sharding.last_types) or int(sharding.last_replicated)  # of devices that have the same
    tiles = tuple(sharding.tiles)[: len(sharding.tiles) - beyond]
    return tiles if len(tiles) == axes else None


def groups_of(message: Any) -> int:
    """Among how many groups of devices a collective instruction exchanges; 0 if that is not known."""
    if message.HasField("meshed"):
        sizes = [each.size for each in message.meshed.mesh.axes]
        together = _size(message.meshed.axes, sizes)
        return prod(sizes) // together if together else 0
    if message.HasField("listed"):
        return len(message.listed.lists) or int(message.listed.iota.count)
    return len(message.groups)


def _size(axes: Sequence[Any], sizes: Sequence[int]) -> int | None:
    """Tell how many devices lie along some axes of a mesh; ``None`` where a part of one is meant, or a broken one."""
    if any(each.part or not 0 <= each.axis < len(sizes) for each in axes):
        return None
    return prod(sizes[each.axis] for each in axes)
