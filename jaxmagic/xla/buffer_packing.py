"""What a program needs at least at each step, where the compiler does not say where its buffers lie.

Every value gets the first stretch that is free as long as it is needed, and values that XLA has to keep in one place,
such as the states of a loop, get one stretch. XLA's own assignment can share no more than that, if an operand counts
as written over at its last use. So what is live at a step is a lower bound; where it lies is a guess.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .buffer_assignment import AssignedBuffer, BufferAllocation, BufferAssignment, Kind, Location, LogicalBuffer
from .hlo import HloModule, ShapeIndex
from .live_ranges import LiveRange, Schedule, alias_groups, defined_parts, live_ranges

#: Instructions that run other computations in the program's memory; others, as ``reduce``, on the stack of a thread.
_RUNS = frozenset({"while", "conditional", "call", "async-start"})


class _Group(NamedTuple):
    """Numbers of values that lie in one place, and how many bytes the largest of them takes."""

    values: list[int]
    size_bytes: int


class _Home(NamedTuple):
    """The allocation that a value belongs to: which argument or which part of the result, where it is one."""

    kind: Kind
    parameter: int | None = None
    part: ShapeIndex | None = None
    donated: bool = False


def packed(module: HloModule, table: Schedule) -> BufferAssignment:
    """Allocations for the values of a scheduled program: one for each argument and output, one for the rest."""
    made = dict(_made(module, table))
    lives = live_ranges(module, made, table)
    values = {number: LogicalBuffer(size, place) for number, (place, size) in enumerate(made.items())}
    numbers = {place: number for number, place in enumerate(made)}
    homes: dict[_Home, list[_Group]] = {}
    for places in alias_groups(module, made, table):
        group = _Group(sorted(numbers[place] for place in places), max(made[place] for place in places))
        homes.setdefault(_home(module, places, lives), []).append(group)
    regions = []
    for home, groups in homes.items():
        alone = home.kind == "temporary"
        assigned = tuple(_first_fit(groups, values, lives) if alone else _one_place(groups, values))
        size = max(each.offset_bytes + each.size_bytes for each in assigned)
        regions.append(BufferAllocation(size, home.kind, home.donated, home.parameter, 0, assigned))
    return BufferAssignment(values, tuple(regions))


def minimal_live_ranges(
    module: HloModule, table: Schedule, lives: Mapping[Location, LiveRange]
) -> dict[Location, LiveRange]:
    """The steps at which no other value can lie in the place of a value, whatever the compiler has done.

    A result can be written over an operand at its last use. The schedule has all branches one behind the other, but
    only one of them runs: each can write over what it was given, though another one reads it.
    """
    starts = []
    for number, step in table.steps.items():
        maker = module.instructions[number]
        branches = maker.called_computation_ids if maker.opcode == "conditional" else ()
        if spans := [table.spans[at] for at in branches if at in table.spans]:
            starts.append((min(span.first for span in spans), step))
    starts.sort()  # outer ones before those inside of them
    found = {}
    for place, life in lives.items():
        last = next((start for start, end in starts if life.first < start <= life.last < end), life.last)
        shorter = life._replace(last=max(life.first, last - 1))
        found[place] = life if life.returned_at is not None else shorter
    return found


def _home(module: HloModule, places: set[Location], lives: Mapping[Location, LiveRange]) -> _Home:
    makers = {place: module.instructions[place.instruction_id] for place in places}
    returned = min((at for place in places if (at := lives[place].returned_at) is not None), default=None)
    if returned is not None and returned in module.input_output_alias:
        return _Home("argument", module.input_output_alias[returned], donated=True)
    for maker in makers.values():
        if maker.opcode == "parameter":
            number = maker.parameter_number
            return _Home("argument", number, donated=number in module.input_output_alias.values())
    if all(maker.opcode == "constant" for maker in makers.values()):
        return _Home("constant", part=tuple(place.instruction_id for place in places))
    return _Home("temporary") if returned is None else _Home("output", part=returned)


def _made(module: HloModule, table: Schedule) -> Iterator[tuple[Location, int]]:
    """Find where values are made, and how large they are."""
    pending, met = [module.entry_computation_id], {module.entry_computation_id}
    while pending:
        computation = pending.pop()
        for number in module.schedule.get(computation, ()):
            maker = module.instructions[number]
            if maker.opcode in _RUNS:
                further = [each for each in maker.called_computation_ids if each in table.spans and each not in met]
                met.update(further)
                pending += further
            if maker.opcode != "parameter" or computation == module.entry_computation_id:
                for part in defined_parts(maker):
                    yield Location(number, part.shape_index), part.size_bytes


def _one_place(groups: list[_Group], values: Mapping[int, LogicalBuffer]) -> Iterator[AssignedBuffer]:
    for group in groups:
        for number in group.values:
            yield AssignedBuffer(number, 0, values[number].size_bytes)


def _first_fit(
    groups: list[_Group], values: Mapping[int, LogicalBuffer], lives: Mapping[Location, LiveRange]
) -> Iterator[AssignedBuffer]:
    """The lowest stretch that is free meanwhile, for one after the other as they are made."""

    def first(group: _Group) -> int:
        return min(lives[values[number].defined_at].first for number in group.values)

    held: list[tuple[int, int, int]] = []  # offset, end, last step; by offset
    for group in sorted(groups, key=lambda group: (first(group), -group.size_bytes)):
        begin = first(group)
        held = [each for each in held if each[2] > begin]
        offset = 0
        for low, high, _ in held:
            if low - offset >= group.size_bytes:
                break
            offset = max(offset, high)
        last = max(lives[values[number].defined_at].last for number in group.values)
        insort(held, (offset, offset + group.size_bytes, max(last, begin + 1)))
        for number in group.values:
            yield AssignedBuffer(number, offset, values[number].size_bytes)
