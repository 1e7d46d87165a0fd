"""Computes operand utilization: how many elements a fusion computes and reads (cf. XLA's ``HloCostAnalysis``).

A fusion computes only the elements that its result needs: of a table that is scaled and then indexed, only the rows
looked up. The number of elements is followed from the result back to the operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..hlo import HloInstruction, HloModule

#: Read as many elements of the first operand as they return, and all of the others, which are indices.
_LOOKS_UP = ("dynamic-slice", "gather", "slice")

#: Overwrite a part of the first operand and leave the rest unchanged.
_UPDATES = ("dynamic-update-slice", "scatter")

#: Read at most as many elements of each operand as they return.
_ONE_BY_ONE = ("concatenate", "pad")

#: Need all of their operands for any part of their result.
_NEEDS_ALL = ("dot", "convolution", "sort", "reduce-window", "select-and-scatter", "custom-call", "fft", "scan",
              "cholesky", "triangular-solve", "while", "conditional", "call", "rng-bit-generator", "map")  # fmt: skip

#: Have no memory of their own.
_SAME = ("bitcast", "reshape", "get-tuple-element")

#: The longest chain of nested fusions or reshapes that is followed; malformed modules may contain cycles.
_DEEPEST = 5

#: The instructions of a fusion, by id.
Inside = Mapping[int, HloInstruction]


def instructions_of(module: HloModule, fusion: HloInstruction) -> Inside:
    """Return the instructions of a fusion, without those of nested fusions."""
    numbers = (each for called in fusion.called_computation_ids for each in module.computations.get(called, ()))
    return {number: module.instructions[number] for number in numbers}


def elements_of(module: HloModule, number: int) -> int:
    """Return the number of elements of an instruction's result; 0 for an unknown instruction."""
    instruction = module.instructions.get(number)
    return 0 if instruction is None else instruction.elements


def parts_of(
    module: HloModule, fusion: HloInstruction, wanted: int | None = None, depth: int = 0
) -> Iterator[tuple[HloInstruction, float]]:
    """Yield the instructions of a fusion and of nested fusions, each with the share of its elements that is computed.

    Args:
        module: the module.
        fusion: the fusion.
        wanted: how many elements of its result are needed; all if left out.
        depth: how many fusions it is nested in.
    """
    inside = instructions_of(module, fusion)
    elements = _computed(module, inside, fusion, fusion.elements if wanted is None else wanted, depth)
    for number, each in inside.items():
        if each.opcode != "fusion":
            yield each, elements.get(number, 0) / each.elements if each.elements else 1.0
        elif depth < _DEEPEST:
            yield from parts_of(module, each, elements.get(number, 0), depth + 1)


def read_by(module: HloModule, instruction: HloInstruction, wanted: int, depth: int = 0) -> dict[int, int]:
    """Return how many elements of each operand are read, by the id of the operand.

    Args:
        module: the module.
        instruction: the instruction that reads.
        wanted: how many elements of its result are needed.
        depth: how many fusions it is nested in.
    """
    if instruction.opcode == "fusion" and depth < _DEEPEST:
        inside = instructions_of(module, instruction)
        elements = _computed(module, inside, instruction, wanted, depth)
        read = {
            each.parameter_number: elements.get(at, 0) for at, each in inside.items() if each.opcode == "parameter"
        }
        parts = [read.get(at, elements_of(module, number)) for at, number in enumerate(instruction.operand_ids)]
    else:
        parts = [_read_of(module, instruction, at, wanted) for at in range(len(instruction.operand_ids))]
    totals: dict[int, int] = {}
    for number, elements_read in zip(instruction.operand_ids, parts, strict=True):
        totals[number] = min(totals.get(number, 0) + elements_read, elements_of(module, number))
    return totals


def updated(instruction: HloInstruction) -> int:
    """Return how many of its first operands an update changes: a scatter may have several, each with an update."""
    return max((len(instruction.operand_ids) - 1) // 2, 1) if instruction.opcode == "scatter" else 1


def results_of(inside: Inside) -> list[int]:
    """Return the instructions that compute the results of a fusion, looking through tuples and reshapes."""
    taken = {operand for each in inside.values() for operand in each.operand_ids}
    found, todo = [], [(number, 0) for number in inside if number not in taken]
    while todo:
        number, depth = todo.pop()
        opcode = inside[number].opcode
        parts = [operand for operand in inside[number].operand_ids if operand in inside]
        if depth < _DEEPEST and parts and (opcode == "tuple" or opcode in _SAME):
            todo += [(operand, depth + 1) for operand in (parts if opcode == "tuple" else parts[:1])]
        else:
            found.append(number)
    return found


def in_place(inside: Inside) -> set[int]:
    """Return the updates that a fusion makes in place, because it returns its own operand with a part changed."""
    updates = (number for number in results_of(inside) if inside[number].opcode in _UPDATES)
    return {number for number in updates if _is_operand(inside, inside[number].operand_ids[:1])}


def _computed(module: HloModule, inside: Inside, fusion: HloInstruction, wanted: int, depth: int) -> dict[int, int]:
    """Return how many elements of each instruction of a fusion are computed, or read in the case of a parameter."""
    taken = {operand for each in inside.values() for operand in each.operand_ids}
    whole = wanted >= fusion.elements
    computed = {
        number: each.elements if whole else min(each.elements, wanted)
        for number, each in inside.items()
        if number not in taken
    }
    updated_in_place = in_place(inside)
    for number in reversed(_in_order(inside)):
        instruction = inside[number]
        if instruction.opcode == "tuple":
            parts = {operand: elements_of(module, operand) for operand in instruction.operand_ids}
        else:
            parts = read_by(module, instruction, computed.get(number, 0), depth + 1)
        if instruction.opcode in _UPDATES and number not in updated_in_place:
            parts |= dict.fromkeys(instruction.operand_ids[:1], computed.get(number, 0))
        for operand, elements in parts.items():
            if operand in inside:
                computed[operand] = min(computed.get(operand, 0) + elements, inside[operand].elements)
    return computed


def _read_of(module: HloModule, instruction: HloInstruction, at: int, wanted: int) -> int:
    """Return how many elements of the operand at position `at` are read."""
    opcode, whole = instruction.opcode, elements_of(module, instruction.operand_ids[at])
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
    """Count the elements that have to be read because the update is combined with them."""
    if instruction.opcode != "scatter":
        return 0
    combined = any(each.opcode != "parameter" for each in instructions_of(module, instruction).values())
    return elements_of(module, instruction.operand_ids[-1]) if combined else 0


def _in_order(inside: Inside) -> list[int]:
    """Sort operands before their users; the order within cycles of a malformed module is arbitrary."""
    done: dict[int, None] = {}
    for first in inside:
        pending, visited = [first], set[int]()
        while pending:
            number = pending[-1]
            rest = [operand for operand in inside[number].operand_ids if operand in inside and operand not in done]
            if number in done or number in visited or not rest:
                done.setdefault(pending.pop())
            else:
                visited.add(number)
                pending += rest
    return list(done)


def _is_operand(inside: Inside, numbers: tuple[int, ...]) -> bool:
    """Return whether the first of these instructions is an operand of the fusion, perhaps reshaped."""
    for _ in range(_DEEPEST):
        instruction = inside.get(numbers[0]) if numbers else None
        if instruction is None or instruction.opcode == "parameter":
            return instruction is not None
        numbers = instruction.operand_ids[:1] if instruction.opcode in _SAME else ()
    return False
