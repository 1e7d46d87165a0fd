"""From a program and its allocations to the memory map, the curve of live bytes and its peak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from types import MappingProxyType

from ...records.call_stack import Stack
from ...records.inside import inside, line_of
from ...xla.buffer_assignment import AssignedBuffer, BufferAllocation, BufferAssignment, Location
from ...xla.buffer_packing import minimal_live_ranges
from ...xla.hlo import HloInstruction, HloModule, ShapeIndex
from ...xla.live_ranges import LiveRange, Schedule, live_ranges
from ..record.memory_profile import Allocation, Buffer
from .disjoint import disjoint


def memory_map(
    module: HloModule,
    assignment: BufferAssignment,
    table: Schedule,
    captured: Mapping[int, tuple[str, ...]] = MappingProxyType({}),
    *,
    estimated: bool = False,
) -> tuple[Allocation, ...]:
    """The allocations with their buffers, each from when to when it holds its bytes, the largest first.

    No byte belongs to two buffers at one step, so what is held at a step never exceeds what is allocated.

    Args:
        module: the scheduled module.
        assignment: where its values lie.
        table: when each instruction runs.
        captured: names of the arrays that were built into it, by the numbers of instructions.
        estimated: whether the assignment is not the compiler's; what is live at a step is a lower bound then.
    """
    lives = live_ranges(module, (value.defined_at for value in assignment.logical_buffers.values()), table)
    if estimated:
        lives = minimal_live_ranges(module, table, lives)
    described = _Described(module, table, captured)
    end = len(table.order) - 1
    found = [
        _allocation(described, assignment, allocation, lives, end) for allocation in assignment.buffer_allocations
    ]
    return tuple(sorted(found, key=lambda each: -each.size_bytes))


class _Described:
    """Says what a buffer holds: what made it, for which line, and under which names it was built in."""

    def __init__(self, module: HloModule, table: Schedule, captured: Mapping[int, tuple[str, ...]]) -> None:
        self._instructions = module.instructions
        self._captured = captured
        self._users = _users_of_constants(module, table)
        self._lines: dict[int, tuple[str | None, str | None]] = {}  # by the stack, which many instructions share

    def buffer(self, location: Location, assigned: AssignedBuffer, life: LiveRange) -> Buffer | None:
        """The bytes that are `assigned` to what is made at a place; ``None`` where nothing is made there."""
        number, index = location
        maker = self._instructions.get(number)
        if maker is None:
            return None
        source, inside = self._line(self._users.get(number, maker).stack)
        return Buffer(
            offset_bytes=assigned.offset_bytes,
            size_bytes=assigned.size_bytes,
            first=life.first,
            last=life.last,
            instruction=maker.name,
            shape=_shape(maker, index),
            op_name=maker.op_name,
            source=source,
            captured=self._captured.get(number, ()),
            inside=inside,
        )

    def _line(self, stack: Stack) -> tuple[str | None, str | None]:
        """The user's line, and the function of a library that it called."""
        if id(stack) not in self._lines:
            line = line_of(stack)
            self._lines[id(stack)] = (None if line is None else line.location), inside(stack)
        return self._lines[id(stack)]


def _users_of_constants(module: HloModule, table: Schedule) -> dict[int, HloInstruction]:
    """For constants, which have no line of their own, the first instruction with a line that takes them."""
    found: dict[int, HloInstruction] = {}
    for number in table.order:
        user = module.instructions[number]
        for operand in user.operand_ids if user.stack else ():
            taken = module.instructions.get(operand)
            if taken is not None and taken.opcode == "constant" and not taken.stack:
                found.setdefault(operand, user)
    return found


def _allocation(
    described: _Described,
    assignment: BufferAssignment,
    allocation: BufferAllocation,
    lives: Mapping[Location, LiveRange],
    end: int,
) -> Allocation:
    # The caller's own memory, and what is built in, are there from the beginning to the end.
    throughout = allocation.kind == "constant" or (allocation.kind == "argument" and not allocation.aliased)
    buffers = []
    for each in allocation.assigned:
        made_at = assignment.logical_buffers[each.logical_buffer_id].defined_at
        life = LiveRange(0, end) if throughout else lives.get(made_at)
        buffer = None if life is None else described.buffer(made_at, each, life)
        if buffer is not None:
            buffers.append(buffer)
    return Allocation(
        kind=allocation.kind,
        size_bytes=allocation.size_bytes,
        aliased=allocation.aliased,
        space=allocation.color,
        buffers=disjoint(buffers),
    )


def _shape(maker: HloInstruction, path: ShapeIndex) -> str:
    return next((part.shape for part in maker.subshapes if part.shape_index == path), maker.shape)


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
