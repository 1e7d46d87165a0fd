"""What of a fusion its result needs: of a table that is scaled and then looked up in, the rows that are looked up.

In a fusion only that is computed and read, so it is followed from the result back to the operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..hlo import HloInstruction, HloModule

#: They read as much of their first operand as they give, and the others, which tell where, as a whole.
_LOOKS_UP = ("dynamic-slice", "gather", "slice")

#: They write a part of their first operand, and leave the rest as it is.
_UPDATES = ("dynamic-update-slice", "scatter")

#: They need of their operands as many elements as they give at most, whatever these are.
_ONE_BY_ONE = ("concatenate", "pad")

#: They need all of their operands for any part of what they give.
_NEEDS_ALL = ("dot", "convolution", "sort", "reduce-window", "select-and-scatter", "custom-call", "fft", "scan",
              "cholesky", "triangular-solve", "while", "conditional", "call", "rng-bit-generator", "map")  # fmt: skip

#: They take no memory of their own.
_SAME = ("bitcast", "reshape", "get-tuple-element")

#: How far fusions in fusions are looked into, and shapes that change; broken modules go round in circles.
_DEEPEST = 5

#: Instructions by their numbers.
Inside = Mapping[int, HloInstruction]


def instructions_of(module: HloModule, fusion: HloInstruction) -> Inside:
    """The instructions of a fusion, without those of fusions in it."""
    numbers = (each for called in fusion.called_computation_ids for each in module.computations.get(called, ()))
    return {number: module.instructions[number] for number in numbers}


def parts_of(
    module: HloModule, fusion: HloInstruction, wanted: int | None = None, depth: int = 0
) -> Iterator[tuple[HloInstruction, float]]:
    """The instructions of a fusion, and of fusions in it, with the share of each that is computed.

    Args:
        module: in which they are.
        fusion: it.
        wanted: how many elements of its result are; all if left out.
        depth: in how many other fusions it is.
    """
    inside = instructions_of(module, fusion)
    elements = _computed(module, inside, fusion, fusion.elements if wanted is None else wanted, depth)
    for number, each in inside.items():
        if each.opcode != "fusion":
            yield each, elements.get(number, 0) / each.elements if each.elements else 1.0
        elif depth < _DEEPEST:
            yield from parts_of(module, each, elements.get(number, 0), depth + 1)


def read_by(module: HloModule, instruction: HloInstruction, wanted: int, depth: int = 0) -> dict[int, int]:
    """Tell how many elements of each operand are read, by the numbers of the operands.

    Args:
        module: in which they are.
        instruction: what reads.
        wanted: how many elements of its result are.
        depth: in how many fusions it is.
    """
    if instruction.opcode == "fusion" and depth < _DEEPEST:
        inside = instructions_of(module, instruction)
        elements = _computed(module, inside, instruction, wanted, depth)
        read = {
            each.parameter_number: elements.get(at, 0) for at, each in inside.items() if each.opcode == "parameter"
        }
        parts = [read.get(at, _elements(module, number)) for at, number in enumerate(instruction.operand_ids)]
    else:
        parts = [_read_of(module, instruction, at, wanted) for at in range(len(instruction.operand_ids))]
    found: dict[int, int] = {}
    for number, each in zip(instruction.operand_ids, parts, strict=True):
        found[number] = min(found.get(number, 0) + each, _elements(module, number))
    return found


def updated(instruction: HloInstruction) -> int:
    """Tell how many of its first operands an update changes: a scatter may have several, each with its own update."""
    return max((len(instruction.operand_ids) - 1) // 2, 1) if instruction.opcode == "scatter" else 1


def results_of(inside: Inside) -> list[int]:
    """Return what the results of a fusion are made of, without tuples and changes of shape."""
    taken = {operand for each in inside.values() for operand in each.operand_ids}
    found, todo = [], [(number, 0) for number in inside if number not in taken]
    while todo:
        number, depth = todo.pop()
        each = inside[number]
        parts = [operand for operand in each.operand_ids if operand in inside]
        if depth < _DEEPEST and parts and (each.opcode == "tuple" or each.opcode in _SAME):
            todo += [(operand, depth + 1) for operand in (parts if each.opcode == "tuple" else parts[:1])]
        else:
            found.append(number)
    return found


def in_place(inside: Inside) -> set[int]:
    """The updates that a fusion gives of its own operands: what they leave as it is, is there already."""
    updates = (number for number in results_of(inside) if inside[number].opcode in _UPDATES)
    return {number for number in updates if _is_operand(inside, inside[number].operand_ids[:1])}


def _elements(module: HloModule, number: int) -> int:
    found = module.instructions.get(number)
    return 0 if found is None else found.elements


def _computed(module: HloModule, inside: Inside, fusion: HloInstruction, wanted: int, depth: int) -> dict[int, int]:
    """Tell how many elements of each instruction of a fusion are computed, or read if it is an operand."""
    taken = {operand for each in inside.values() for operand in each.operand_ids}
    whole = wanted >= fusion.elements
    found = {
        number: each.elements if whole else min(each.elements, wanted)
        for number, each in inside.items()
        if number not in taken
    }
    there = in_place(inside)
    for number in reversed(_in_order(inside)):
        each = inside[number]
        if each.opcode == "tuple":
            parts = {operand: _elements(module, operand) for operand in each.operand_ids}
        else:
            parts = read_by(module, each, found.get(number, 0), depth + 1)
        if each.opcode in _UPDATES and number not in there:
            parts |= dict.fromkeys(each.operand_ids[:1], found.get(number, 0))
        for operand, elements in parts.items():
            if operand in inside:
                found[operand] = min(found.get(operand, 0) + elements, inside[operand].elements)
    return found


def _read_of(module: HloModule, instruction: HloInstruction, at: int, wanted: int) -> int:
    """Return what is read of the operand with this place."""
    opcode, whole = instruction.opcode, _elements(module, instruction.operand_ids[at])
    if opcode in _LOOKS_UP:
        return whole if at else wanted
    if opcode in _UPDATES:
        return _read_before_update(module, instruction) if at < updated(instruction) else whole
    if opcode in _NEEDS_ALL or wanted >= instruction.elements:
        return whole
    if opcode in _ONE_BY_ONE:
        return wanted
    return -(-whole * wanted // instruction.elements)


def _read_before_update(module: HloModule, instruction: HloInstruction) -> int:
    """Count what has to be read before something is added to it: as many elements as the update has."""
    if instruction.opcode != "scatter":
        return 0
    combined = any(each.opcode != "parameter" for each in instructions_of(module, instruction).values())
    return _elements(module, instruction.operand_ids[-1]) if combined else 0


def _in_order(inside: Inside) -> list[int]:
    """Operands before what takes them; what goes round in a circle, as in a broken module, in any order."""
    done: dict[int, None] = {}
    for first in inside:
        todo, under_way = [first], set[int]()
        while todo:
            number = todo[-1]
            rest = [each for each in inside[number].operand_ids if each in inside and each not in done]
            if number in done or number in under_way or not rest:
                done.setdefault(todo.pop())
            else:
                under_way.add(number)
                todo += rest
    return list(done)


def _is_operand(inside: Inside, numbers: tuple[int, ...]) -> bool:
    """Tell whether it is an operand of the fusion, perhaps in another shape."""
    for _ in range(_DEEPEST):
        found = inside.get(numbers[0]) if numbers else None
        if found is None or found.opcode == "parameter":
            return found is not None
        numbers = found.operand_ids[:1] if found.opcode in _SAME else ()
    return False
