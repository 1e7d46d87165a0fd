"""Finds replicated arguments of which each device reads only its own part."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...xla.dataflow import Dataflow
from ...xla.hlo import HloModule

#: Instructions through which the number of a device leads to the beginning of its part.
_ARITHMETIC = frozenset(
    {"add", "bitcast", "clamp", "compare", "convert", "copy", "divide", "dynamic-slice", "maximum", "minimum"}
    | {"multiply", "remainder", "reshape", "select", "subtract", "broadcast"}
)

#: The longest way from the number of a device that is followed.
_LONGEST = 20


class DeviceSlice(NamedTuple):
    """The part of an argument that each device reads.

    Attributes:
        axis: the axis along which the parts lie.
        pieces: the number of parts.
    """

    axis: int
    pieces: int


def sliced_parameters(module: HloModule) -> dict[int, DeviceSlice]:
    """Return the parameters of which each device reads only the part that belongs to its number.

    XLA's partitioner reads these with a ``dynamic-slice`` that begins where ``partition-id`` says.
    """
    flow = Dataflow(module)
    found = {}
    for number in module.computations.get(module.entry_computation_id, ()):
        parameter = module.instructions[number]
        if parameter.opcode != "parameter":
            continue
        users = flow.users(number)
        parts = {_part(module, flow, parameter.shape, user) for user in users}
        if len(parts) == 1 and (part := parts.pop()) is not None:
            found[parameter.parameter_number] = part
    return found


def _part(module: HloModule, flow: Dataflow, whole: str, number: int) -> DeviceSlice | None:
    """Return the part of a parameter that an instruction reads; ``None`` if it is not the part of a device."""
    user = module.instructions[number]
    if user.opcode != "dynamic-slice":
        return None
    sizes, part = _sizes(whole), _sizes(user.shape)
    axes = [axis for axis, (size, taken) in enumerate(zip(sizes, part, strict=False)) if size != taken]
    if len(sizes) != len(part) or len(axes) != 1 or not part[axes[0]] or sizes[axes[0]] % part[axes[0]]:
        return None
    axis = axes[0]
    start = user.operand_ids[1 + axis : 2 + axis]
    if not start or not _is_of_device(module, flow, start[0], {number}):
        return None
    return DeviceSlice(axis, sizes[axis] // part[axis])


def _is_of_device(module: HloModule, flow: Dataflow, number: int, met: set[int]) -> bool:
    """Return whether a value is computed from the number of the device and constants alone."""
    pending, is_of_device = [number], False
    while pending:
        current = pending.pop()
        opcode = module.instructions[current].opcode
        if opcode == "partition-id":
            is_of_device = True
            continue
        operands = flow.operands(current)
        known = opcode in _ARITHMETIC or opcode in ("constant", "fusion") or (opcode == "parameter" and operands)
        if not known or len(met) > _LONGEST:
            return False
        fresh = [each for each in operands if each not in met]
        met.update(fresh)
        pending += fresh
    return is_of_device


def _sizes(shape: str) -> list[int]:
    return [int(each) for each in re.findall(r"\d+", shape.partition("[")[2])]
