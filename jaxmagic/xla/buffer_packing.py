"""What a program needs at least at each step, where the compiler does not say where its buffers lie.

Every value gets the first stretch that is free as long as it is needed, and values that XLA has to keep in one place,
such as the states of a loop, get one stretch. XLA's own assignment can share no more than that, if an operand counts
as written over at its last use. So what is live at a step is a lower bound; where it lies is a guess.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .live_ranges import LiveRange, Timetable, lifetimes, own_parts, sharing
from .program import AssignedBuffer, Assignment, BufferAllocation, Index, Kind, Place, Program, Value

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
    part: Index | None = None
    donated: bool = False


def packed(program: Program, table: Timetable) -> Assignment:
    """Allocations for the values of a scheduled program: one for each argument and output, one for the rest."""
    made = dict(_made(program, table))
    lives = lifetimes(program, made, table)
    values = {number: Value(size, place) for number, (place, size) in enumerate(made.items())}
    numbers = {place: number for number, place in enumerate(made)}
    homes: dict[_Home, list[_Group]] = {}
    for places in sharing(program, made, table):
        group = _Group(sorted(numbers[place] for place in places), max(made[place] for place in places))
        homes.setdefault(_home(program, places, lives), []).append(group)
    regions = []
    for home, groups in homes.items():
        alone = home.kind == "temporary"
        assigned = tuple(_first_fit(groups, values, lives) if alone else _one_place(groups, values))
        size = max(each.offset_bytes + each.size_bytes for each in assigned)
        regions.append(BufferAllocation(size, home.kind, home.donated, home.parameter, 0, assigned))
    return Assignment(values, tuple(regions))


def at_least(program: Program, table: Timetable, lives: Mapping[Place, LiveRange]) -> dict[Place, LiveRange]:
    """The steps at which no other value can lie in the place of a value, whatever the compiler has done.

    A result can be written over an operand at its last use. The schedule has all branches one behind the other, but
    only one of them runs: each can write over what it was given, though another one reads it.
    """
    starts = []
    for number, step in table.steps.items():
        maker = program.instructions[number]
        if maker.opcode == "conditional" and (spans := [table.spans[at] for at in maker.called if at in table.spans]):
            starts.append((min(span.first for span in spans), step))
    starts.sort()  # outer ones before those inside of them
    found = {}
    for place, life in lives.items():
        last = next((start for start, end in starts if life.first < start <= life.last < end), life.last)
        shorter = life._replace(last=max(life.first, last - 1))
        found[place] = life if life.returned_at is not None else shorter
    return found


def _home(program: Program, places: set[Place], lives: Mapping[Place, LiveRange]) -> _Home:
    makers = {place: program.instructions[place.instruction] for place in places}
    returned = min((at for place in places if (at := lives[place].returned_at) is not None), default=None)
    if returned is not None and returned in program.donated:
        return _Home("argument", program.donated[returned], donated=True)
    for maker in makers.values():
        if maker.opcode == "parameter":
            return _Home("argument", maker.parameter, donated=maker.parameter in program.donated.values())
    if all(maker.opcode == "constant" for maker in makers.values()):
        return _Home("constant", part=tuple(place.instruction for place in places))
    return _Home("temporary") if returned is None else _Home("output", part=returned)


def _made(program: Program, table: Timetable) -> Iterator[tuple[Place, int]]:
    """Find where values are made, and how large they are."""
    pending, met = [program.entry], {program.entry}
    while pending:
        computation = pending.pop()
        for number in program.computations[computation].order:
            maker = program.instructions[number]
            if maker.opcode in _RUNS:
                further = [called for called in maker.called if called in table.spans and called not in met]
                met.update(further)
                pending += further
            if maker.opcode != "parameter" or computation == program.entry:
                for part in own_parts(maker):
                    yield Place(number, part.path), part.size_bytes


def _one_place(groups: list[_Group], values: Mapping[int, Value]) -> Iterator[AssignedBuffer]:
    for group in groups:
        for number in group.values:
            yield AssignedBuffer(number, 0, values[number].size_bytes)


def _first_fit(
    groups: list[_Group], values: Mapping[int, Value], lives: Mapping[Place, LiveRange]
) -> Iterator[AssignedBuffer]:
    """The lowest stretch that is free meanwhile, for one after the other as they are made."""

    def first(group: _Group) -> int:
        return min(lives[values[number].made_at].first for number in group.values)

    held: list[tuple[int, int, int]] = []  # offset, end, last step; by offset
    for group in sorted(groups, key=lambda group: (first(group), -group.size_bytes)):
        begin = first(group)
        held = [each for each in held if each[2] > begin]
        offset = 0
        for low, high, _ in held:
            if low - offset >= group.size_bytes:
                break
            offset = max(offset, high)
        last = max(lives[values[number].made_at].last for number in group.values)
        insort(held, (offset, offset + group.size_bytes, max(last, begin + 1)))
        for number in group.values:
            yield AssignedBuffer(number, offset, values[number].size_bytes)
