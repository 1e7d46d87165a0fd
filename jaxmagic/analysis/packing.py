"""Where the buffers of a program might lie, where the compiler does not say.

Every value gets the first stretch that is free as long as it is needed. XLA's own assignment shares more (an output
written over an operand) and wastes some (alignment), so what follows is an estimate, and has to be called that.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator

from ..model.program import Assigned, Assignment, Index, Kind, Place, Program, Region, Value
from .lifetimes import Lifetime, Timetable, lifetimes

#: Instructions that make nothing of their own, except a table of pointers.
_MAKE_NOTHING = frozenset({"get-tuple-element", "bitcast", "while", "conditional", "call", "opt-barrier", "domain"})


def packed(program: Program, table: Timetable) -> Assignment:
    """Allocations for the values of a scheduled program: one for each argument and output, one for the rest."""
    made = dict(_made(program, table))
    lives = lifetimes(program, made, table)
    values = {number: Value(size, place) for number, (place, size) in enumerate(made.items())}
    regions: list[Region] = []
    returned: dict[Index, list[Assigned]] = {}
    temporary: list[tuple[int, int, Lifetime]] = []
    for number, value in values.items():
        maker, life = program.instructions[value.made_at.instruction], lives[value.made_at]
        whole = Assigned(number, 0, value.size_bytes)
        if maker.opcode == "parameter":
            regions.append(Region(value.size_bytes, "argument", False, maker.parameter, 0, (whole,)))
        elif maker.opcode == "constant":
            regions.append(Region(value.size_bytes, "constant", False, None, 0, (whole,)))
        elif life.returned_at is not None:
            returned.setdefault(life.returned_at, []).append(whole)  # several: what a loop makes of what it was given
        else:
            temporary.append((number, value.size_bytes, life))
    regions += [_region("output", each) for each in returned.values()]
    if temporary:
        regions.append(_region("temporary", list(_first_fit(temporary))))
    return Assignment(values, tuple(regions))


def _region(kind: Kind, assigned: list[Assigned]) -> Region:
    size = max(each.offset_bytes + each.size_bytes for each in assigned)
    return Region(size, kind, False, None, 0, tuple(assigned))


def _made(program: Program, table: Timetable) -> Iterator[tuple[Place, int]]:
    """Where values are made, and how large they are."""
    inside = {
        parameter
        for number, computation in program.computations.items()
        if number != program.entry
        for parameter in computation.order
        if program.instructions[parameter].opcode == "parameter"
    }
    for number in table.order:
        maker = program.instructions[number]
        if maker.opcode in _MAKE_NOTHING or number in inside:
            continue
        for part in maker.parts[:1] if maker.opcode == "tuple" else maker.parts:
            yield Place(number, part.path), part.size_bytes


def _first_fit(wanted: list[tuple[int, int, Lifetime]]) -> Iterator[Assigned]:
    """The lowest stretch that is free meanwhile, for one after the other as they are made."""
    held: list[tuple[int, int, int]] = []  # offset, end, last step; by offset
    for number, size, life in sorted(wanted, key=lambda each: (each[2].first, -each[1])):
        held = [each for each in held if each[2] >= life.first]
        offset = 0
        for begin, end, _ in held:
            if begin - offset >= size:
                break
            offset = max(offset, end)
        insort(held, (offset, offset + size, life.last))
        yield Assigned(number, offset, size)
