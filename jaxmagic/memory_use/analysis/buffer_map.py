"""From a program and its allocations to the memory map, the curve of live bytes and its peak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from types import MappingProxyType

from ...xla.buffer_packing import at_least
from ...xla.live_ranges import LiveRange, Timetable, lifetimes
from ...xla.program import Assignment, BufferAllocation, Index, Instruction, Place, Program
from ..record.memory_profile import Allocation, Buffer
from .disjoint import disjoint


def memory_map(
    program: Program,
    assignment: Assignment,
    table: Timetable,
    captured: Mapping[int, tuple[str, ...]] = MappingProxyType({}),
    *,
    estimated: bool = False,
) -> tuple[Allocation, ...]:
    """The allocations with their buffers, each from when to when it holds its bytes, the largest first.

    No byte belongs to two buffers at one step, so what is held at a step never exceeds what is allocated.

    Args:
        program: the scheduled module.
        assignment: where its values lie.
        table: when each instruction runs.
        captured: names of the arrays that were built into it, by the numbers of instructions.
        estimated: whether the assignment is not the compiler's; what is live at a step is a lower bound then.
    """
    lives = lifetimes(program, (value.made_at for value in assignment.values.values()), table)
    end = len(table.order) - 1
    if estimated:
        lives = at_least(program, table, lives)
    makers = dict(program.instructions)
    for number, user in _users_of_constants(program, table).items():
        makers[number] = makers[number]._replace(source=user.source, inside=user.inside)
    found = [_allocation(makers, assignment, region, lives, end, captured) for region in assignment.regions]
    return tuple(sorted(found, key=lambda each: -each.size_bytes))


def _users_of_constants(program: Program, table: Timetable) -> dict[int, Instruction]:
    """For constants, which have no line of their own, the first instruction with a line that takes them."""
    found: dict[int, Instruction] = {}
    for number in table.order:
        user = program.instructions[number]
        for operand in user.operands if user.source else ():
            taken = program.instructions.get(operand)
            if taken is not None and taken.opcode == "constant" and taken.source is None:
                found.setdefault(operand, user)
    return found


def _allocation(
    makers: Mapping[int, Instruction],
    assignment: Assignment,
    region: BufferAllocation,
    lives: Mapping[Place, LiveRange],
    end: int,
    captured: Mapping[int, tuple[str, ...]],
) -> Allocation:
    # The caller's own memory, and what is built in, are there from the beginning to the end.
    throughout = region.kind == "constant" or (region.kind == "argument" and not region.aliased)
    buffers = []
    for each in region.assigned:
        place = assignment.values[each.value].made_at
        life = LiveRange(0, end) if throughout else lives.get(place)
        maker = makers.get(place.instruction)
        if life is not None and maker is not None:
            buffers.append(
                Buffer(
                    offset_bytes=each.offset_bytes,
                    size_bytes=each.size_bytes,
                    first=life.first,
                    last=life.last,
                    instruction=maker.name,
                    shape=_shape(maker, place.part),
                    op_name=maker.op_name,
                    source=maker.source,
                    captured=captured.get(place.instruction, ()),
                    inside=maker.inside,
                )
            )
    return Allocation(
        kind=region.kind,
        size_bytes=region.size_bytes,
        aliased=region.aliased,
        space=region.space,
        buffers=disjoint(buffers),
    )


def _shape(maker: Instruction, path: Index) -> str:
    return next((part.shape for part in maker.parts if part.path == path), maker.shape)


def planned(allocations: Iterable[Allocation]) -> list[Allocation]:
    """Those that count: what is built into a program, or on the stack of a thread, is in no sum."""
    return [each for each in allocations if each.kind in ("argument", "output", "temporary")]


def held(allocation: Allocation) -> tuple[Buffer, ...]:
    """The buffers of an allocation, every byte once; records of earlier versions have values that share memory."""
    return disjoint(allocation.buffers)


def live_bytes(allocations: Iterable[Allocation], steps: int) -> list[int]:
    """Tell how many bytes hold something that is needed, at each step of the schedule."""
    change = [0] * (steps + 1)
    for allocation in planned(allocations):
        for buffer in held(allocation):
            change[buffer.first] += buffer.size_bytes
            change[buffer.last + 1] -= buffer.size_bytes
    return list(accumulate(change[:-1]))


def live_at(allocations: Iterable[Allocation], step: int) -> list[tuple[Allocation, Buffer]]:
    """Return what is needed at a step, the largest first; the sizes add up to :func:`live_bytes` there."""
    found = [
        (allocation, buffer)
        for allocation in planned(allocations)
        for buffer in held(allocation)
        if buffer.first <= step <= buffer.last
    ]
    return sorted(found, key=lambda each: -each[1].size_bytes)
