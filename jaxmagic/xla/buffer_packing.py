"""Packs the values of a program into allocations, for backends whose buffer assignment is not available.

Every value gets the lowest offset that is free while it is live; values that XLA has to keep in one buffer, such as
the states of a loop, share an offset. XLA's own assignment cannot reuse more memory, provided that an operand counts
as overwritten at its last use. The live bytes of a step are therefore a lower bound; the offsets are a guess.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .buffer_assignment import AssignedBuffer, BufferAllocation, BufferAssignment, Kind, Location, LogicalBuffer
from .hlo import HloModule, ShapeIndex
from .live_ranges import LiveRange, alias_groups, defined_parts, live_ranges
from .schedule import Schedule

#: Instructions whose computations use the program's memory; others, such as ``reduce``, use the stack of a thread.
_RUNS = frozenset({"while", "conditional", "call", "async-start"})


class _Group(NamedTuple):
    """The ids of values that share one buffer, and the size of the largest."""

    values: list[int]
    size_bytes: int


class _Home(NamedTuple):
    """The allocation that a value belongs to, by its argument number or its index in the result."""

    kind: Kind
    parameter: int | None = None
    result_index: ShapeIndex | None = None
    donated: bool = False


def packed(module: HloModule, schedule: Schedule) -> BufferAssignment:
    """Assign the values of a scheduled program: one allocation for each argument and output, one for the rest."""
    sizes = dict(_definitions(module, schedule))
    lives = live_ranges(module, sizes, schedule)
    values = {number: LogicalBuffer(size, place) for number, (place, size) in enumerate(sizes.items())}
    numbers = {place: number for number, place in enumerate(sizes)}
    homes: dict[_Home, list[_Group]] = {}
    for places in alias_groups(module, sizes, schedule):
        group = _Group(sorted(numbers[place] for place in places), max(sizes[place] for place in places))
        homes.setdefault(_home(module, places, lives), []).append(group)
    allocations = []
    for home, groups in homes.items():
        is_temporary = home.kind == "temporary"
        assigned = tuple(_first_fit(groups, values, lives) if is_temporary else _at_offset_0(groups, values))
        size = max(each.offset_bytes + each.size_bytes for each in assigned)
        allocations.append(BufferAllocation(size, home.kind, home.donated, home.parameter, 0, assigned))
    return BufferAssignment(values, tuple(allocations))


def minimal_live_ranges(
    module: HloModule, schedule: Schedule, lives: Mapping[Location, LiveRange]
) -> dict[Location, LiveRange]:
    """Shorten live ranges to the steps at which no compiler can reuse the memory of a value.

    At its last use an operand can be overwritten by the result. In the schedule the branches of a ``conditional``
    follow each other, but only one of them runs, so each can overwrite its operand even if a later branch reads it.
    """
    conditionals = []
    for number, step in schedule.steps.items():
        instruction = module.instructions[number]
        branches = instruction.called_computation_ids if instruction.opcode == "conditional" else ()
        if spans := [schedule.spans[branch] for branch in branches if branch in schedule.spans]:
            conditionals.append((min(span.first for span in spans), step))
    conditionals.sort()  # outer before inner
    minimal = {}
    for place, life in lives.items():
        last = next((start for start, end in conditionals if life.first < start <= life.last < end), life.last)
        shorter = life._replace(last=max(life.first, last - 1))
        minimal[place] = life if life.returned_at is not None else shorter
    return minimal


def _home(module: HloModule, places: set[Location], lives: Mapping[Location, LiveRange]) -> _Home:
    instructions = [module.instructions[place.instruction_id] for place in places]
    returned = min((index for place in places if (index := lives[place].returned_at) is not None), default=None)
    if returned is not None and returned in module.input_output_alias:
        return _Home("argument", module.input_output_alias[returned], donated=True)
    for instruction in instructions:
        if instruction.opcode == "parameter":
            number = instruction.parameter_number
            return _Home("argument", number, donated=number in module.input_output_alias.values())
    if all(instruction.opcode == "constant" for instruction in instructions):
        return _Home("constant", result_index=tuple(place.instruction_id for place in places))
    return _Home("temporary") if returned is None else _Home("output", result_index=returned)


def _definitions(module: HloModule, schedule: Schedule) -> Iterator[tuple[Location, int]]:
    """Yield the location and the size of each value that is defined."""
    pending, seen = [module.entry_computation_id], {module.entry_computation_id}
    while pending:
        computation = pending.pop()
        for number in module.schedule.get(computation, ()):
            instruction = module.instructions[number]
            if instruction.opcode in _RUNS:
                called = [at for at in instruction.called_computation_ids if at in schedule.spans and at not in seen]
                seen.update(called)
                pending += called
            if instruction.opcode != "parameter" or computation == module.entry_computation_id:
                for part in defined_parts(instruction):
                    yield Location(number, part.shape_index), part.size_bytes


def _at_offset_0(groups: list[_Group], values: Mapping[int, LogicalBuffer]) -> Iterator[AssignedBuffer]:
    for group in groups:
        for number in group.values:
            yield AssignedBuffer(number, 0, values[number].size_bytes)


def _first_fit(
    groups: list[_Group], values: Mapping[int, LogicalBuffer], lives: Mapping[Location, LiveRange]
) -> Iterator[AssignedBuffer]:
    """Give each group, in the order of their definitions, the lowest offset that is free while it is live."""

    def first(group: _Group) -> int:
        return min(lives[values[number].defined_at].first for number in group.values)

    held: list[tuple[int, int, int]] = []  # offset, end, last step; by offset
    for group in sorted(groups, key=lambda group: (first(group), -group.size_bytes)):
        begin = first(group)
        held = [stretch for stretch in held if stretch[2] > begin]
        offset = 0
        for low, high, _ in held:
            if low - offset >= group.size_bytes:
                break
            offset = max(offset, high)
        last = max(lives[values[number].defined_at].last for number in group.values)
        insort(held, (offset, offset + group.size_bytes, max(last, begin + 1)))
        for number in group.values:
            yield AssignedBuffer(number, offset, values[number].size_bytes)
