"""From what XLA has serialized to a :class:`~jaxmagic.xla.program.Program` and its allocations."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from ..records.inside import inside, line_of
from .hlo_proto import element_of, read, text
from .lines.callers import Written, own_callers
from .lines.stacks import Stacks
from .literals import read_literal
from .program import (
    AssignedBuffer,
    Assignment,
    BufferAllocation,
    Computation,
    Index,
    Instruction,
    Kind,
    Part,
    Place,
    Program,
    Value,
)

_TUPLE = 13

#: Bytes of a pointer: a tuple's own buffer holds one for each of its parts.
_POINTER_BYTES = 8


def read_program(data: bytes, *, literals: bool = False) -> Program:
    """The scheduled module in a serialized ``HloModuleProto``.

    Args:
        data: it.
        literals: whether to read the numbers of constants as well.

    Raises:
        google.protobuf.message.DecodeError: it is none.
        ValueError: it has no entry computation, or no schedule.
    """
    module = read("HloModule", data)
    origins = _origins(module)
    order = {each.key: tuple(each.value.ids) for each in module.schedule.sequences}
    computations = {each.id: Computation(order.get(each.id, ()), each.root) for each in module.computations}
    first = computations.get(module.entry)
    if first is None or not first.order:
        raise ValueError("the module has no schedule: it is not what a compiler left")
    shapes: dict[bytes, tuple[Part, ...]] = {}
    instructions = {
        each.id: _instruction(each, origins[each.id], shapes)
        for computation in module.computations
        for each in computation.instructions
        if computations[computation.id].order
    }
    if any(number not in instructions for each in computations.values() for number in each.order):
        raise ValueError("the module's schedule names an instruction that is not there")
    found = {
        each.id: literal
        for computation in module.computations
        for each in computation.instructions
        if literals and each.id in instructions and (literal := read_literal(each.literal)) is not None
    }
    donated = {tuple(each.output): each.parameter for each in module.donated.entries}
    return Program(text(module.name), module.entry, computations, instructions, found, donated)


def read_assignment(data: bytes) -> Assignment:
    """The allocations in a serialized ``BufferAssignmentProto``.

    Raises:
        google.protobuf.message.DecodeError: it is none.
        ValueError: an allocation holds a value that is not there, or one of a negative size.
    """
    message = read("BufferAssignment", data)
    values = {each.id: Value(each.size, _place(each.defined_at)) for each in message.values}
    regions = tuple(map(_region, message.allocations))
    for region in regions:
        for each in region.assigned:
            if each.value not in values or min(each.offset_bytes, each.size_bytes, region.size_bytes) < 0:
                raise ValueError("an allocation holds a buffer that is not there, or one of a negative size")
    return Assignment(values, regions)


def _origins(module: Any) -> dict[int, tuple[str | None, str | None]]:
    """The user's line of each instruction, and the library function that it called, by the instruction's number."""
    stacks = Stacks(module.frames)
    messages = (each for computation in module.computations for each in computation.instructions)
    told = {each.id: Written(text(each.metadata.op_name), stacks.of(each.metadata)) for each in messages}
    own = own_callers(told)
    found: dict[int, tuple[str | None, str | None]] = {}  # by the stack, which many instructions share
    for each in own.values():
        if id(each.stack) not in found:
            line = line_of(each.stack)
            found[id(each.stack)] = None if line is None else line.location, inside(each.stack)
    return {number: found[id(each.stack)] for number, each in own.items()}


def _instruction(
    message: Any, origin: tuple[str | None, str | None], shapes: dict[bytes, tuple[Part, ...]]
) -> Instruction:
    key = message.shape.SerializeToString()
    parts = shapes.get(key)
    if parts is None:
        parts = shapes[key] = _parts(message.shape)
    return Instruction(
        name=text(message.name),
        opcode=text(message.opcode),
        shape=parts[0].shape,
        parts=parts,
        operands=tuple(message.operands),
        called=tuple(message.called),
        tuple_index=message.tuple_index,
        parameter=message.parameter,
        op_name=text(message.metadata.op_name),
        source=origin[0],
        inside=origin[1],
    )


def _parts(message: Any, index: Index = ()) -> tuple[Part, ...]:
    if message.element == _TUPLE:
        inner = [_parts(part, (*index, number)) for number, part in enumerate(message.parts)]
        words = f"({', '.join(parts[0].shape for parts in inner)})"
        own = Part(index, words, _POINTER_BYTES * len(inner))
        return (own, *(part for parts in inner for part in parts))
    name, bits = element_of(message.element)
    words = f"{name}[{','.join(map(str, message.dimensions))}]"
    return (Part(index, words, -(-prod(message.dimensions) * bits // 8)),)


def _place(message: Any) -> Place:
    return Place(message.instruction, tuple(message.index))


def _region(message: Any) -> BufferAllocation:
    return BufferAllocation(
        size_bytes=message.size,
        kind=_kind(message),
        aliased=message.is_parameter and message.maybe_live_out,
        parameter=message.parameter if message.is_parameter else None,
        space=message.space,
        assigned=tuple(_assigned(message.assigned)),
    )


def _kind(message: Any) -> Kind:
    if message.is_parameter:
        return "argument"
    if message.is_constant:
        return "constant"
    if message.is_thread_local:
        return "thread-local"
    return "output" if message.maybe_live_out else "temporary"


def _assigned(messages: Iterable[Any]) -> Iterable[AssignedBuffer]:
    for each in messages:
        yield AssignedBuffer(each.value, each.offset, each.size)
