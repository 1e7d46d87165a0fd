"""Makes the memory map of a program, and the curve of its live bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from types import MappingProxyType

from ...records.call_stack import Stack
from ...records.inside import inside, line_of
from ...xla.buffer_assignment import AssignedBuffer, BufferAllocation, BufferAssignment, Location
from ...xla.buffer_packing import minimal_live_ranges
from ...xla.hlo import HloInstruction, HloModule, ShapeIndex
from ...xla.literals import LEAST_BYTES
from ...xla.live_ranges import LiveRange, live_ranges
from ...xla.schedule import Schedule
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
    """Make the allocations of a program, with the live range of each buffer, largest first.

    No byte belongs to two buffers at one step, so the live bytes never exceed what is allocated.

    Args:
        module: the scheduled module.
        assignment: its buffer assignment.
        table: its flattened schedule.
        captured: names of captured constants, by the ids of their instructions.
        estimated: whether the assignment is not the compiler's; live bytes at a step are a lower bound then.
    """
    lives = live_ranges(module, (value.defined_at for value in assignment.logical_buffers.values()), table)
    if estimated:
        lives = minimal_live_ranges(module, table, lives)
    described = _Described(module, table, captured)
    end = len(table.order) - 1
    allocations = (_allocation(described, assignment, each, lives, end) for each in assignment.buffer_allocations)
    every = *allocations, *_constants_in_fusions(described, module, end)
    return tuple(sorted(every, key=lambda each: -each.size_bytes))


class _Described:
    """Describes buffers: the defining instruction, its source line, and the names of captured constants."""

    def __init__(self, module: HloModule, table: Schedule, captured: Mapping[int, tuple[str, ...]]) -> None:
        self._instructions = module.instructions
        self._captured = captured
        self._users = _users_of_constants(module, table)
        self._lines: dict[int, tuple[str | None, str | None]] = {}  # by stack, which many instructions share

    def buffer(self, location: Location, assigned: AssignedBuffer, life: LiveRange) -> Buffer | None:
        """Make the buffer of a value that is defined at a location; ``None`` if no instruction is known there."""
        number, index = location
        definer = self._instructions.get(number)
        if definer is None:
            return None
        source, inside = self._line(self._users.get(number, definer).stack)
        return Buffer(
            offset_bytes=assigned.offset_bytes,
            size_bytes=assigned.size_bytes,
            first=life.first,
            last=life.last,
            instruction=definer.name,
            shape=_shape(definer, index),
            op_name=definer.op_name,
            source=source,
            captured=self._captured.get(number, ()),
            inside=inside,
        )

    def _line(self, stack: Stack) -> tuple[str | None, str | None]:
        """Return the user's line, and the library function that it called."""
        if id(stack) not in self._lines:
            line = line_of(stack)
            self._lines[id(stack)] = (None if line is None else line.location), inside(stack)
        return self._lines[id(stack)]


def _users_of_constants(module: HloModule, table: Schedule) -> dict[int, HloInstruction]:
    """Find the first instruction with a source line that uses each constant, which has none of its own."""
    users: dict[int, HloInstruction] = {}
    for number in (*table.order, *_in_fusions(module)):
        user = module.instructions[number]
        for operand_id in user.operand_ids if user.stack else ():
            operand = module.instructions.get(operand_id)
            if operand is not None and operand.opcode == "constant" and not operand.stack:
                users.setdefault(operand_id, user)
    return users


def _in_fusions(module: HloModule) -> Iterator[int]:
    """Yield the instructions of computations without a schedule, which are compiled into the instruction around."""
    for computation, numbers in module.computations.items():
        if computation not in module.schedule:
            yield from numbers


def _constants_in_fusions(described: _Described, module: HloModule, end: int) -> Iterator[Allocation]:
    """Yield the large constants in fusions, such as the weights of a product that XLA leaves to a library.

    The program holds them, but no buffer assignment lists them.
    """
    for number in _in_fusions(module):
        constant = module.instructions[number]
        size_bytes = constant.size_bytes
        if constant.opcode == "constant" and size_bytes >= LEAST_BYTES:
            assigned, life = AssignedBuffer(number, 0, size_bytes), LiveRange(0, end)
            buffer = described.buffer(Location(number, ()), assigned, life)
            held = () if buffer is None else (buffer,)
            yield Allocation(kind="constant", size_bytes=size_bytes, aliased=False, space=0, buffers=held)


def _allocation(
    described: _Described,
    assignment: BufferAssignment,
    allocation: BufferAllocation,
    lives: Mapping[Location, LiveRange],
    end: int,
) -> Allocation:
    # Memory of the caller and of constants is live from the beginning to the end.
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


def _shape(definer: HloInstruction, path: ShapeIndex) -> str:
    return next((part.shape for part in definer.subshapes if part.shape_index == path), definer.shape)


def planned(allocations: Iterable[Allocation]) -> list[Allocation]:
    """Return the allocations that are in the sums: neither constants nor thread-local ones."""
    return [each for each in allocations if each.kind in ("argument", "output", "temporary")]


def held(allocation: Allocation) -> tuple[Buffer, ...]:
    """Return the buffers of an allocation, each byte once: in records of earlier versions values share memory."""
    return disjoint(allocation.buffers)


def live_bytes(allocations: Iterable[Allocation], steps: int) -> list[int]:
    """Return the live bytes at each step of the schedule."""
    change = [0] * (steps + 1)
    for allocation in planned(allocations):
        for buffer in held(allocation):
            change[buffer.first] += buffer.size_bytes
            change[buffer.last + 1] -= buffer.size_bytes
    return list(accumulate(change[:-1]))


def live_at(allocations: Iterable[Allocation], step: int) -> list[tuple[Allocation, Buffer]]:
    """Return the live buffers at a step, largest first; their sizes add up to :func:`live_bytes` there."""
    live = [
        (allocation, buffer)
        for allocation in planned(allocations)
        for buffer in held(allocation)
        if buffer.first <= step <= buffer.last
    ]
    return sorted(live, key=lambda each: -each[1].size_bytes)
