"""How much of its memory an instruction reads and writes at least: rows that are looked up, and not the whole table.

What is left as it is does not count either: an update of a slice is written where the operand lies.
"""

from __future__ import annotations

from ..hlo import HloInstruction, HloModule
from .operand_utilization import in_place, instructions_of, read_by, results_of, updated


def bytes_accessed(module: HloModule, instruction: HloInstruction) -> int | None:
    """Tell how many bytes one run reads and writes at least, each once; ``None`` for loops and calls."""
    if instruction.opcode in ("while", "conditional", "call"):
        return None
    read = read_by(module, instruction, instruction.elements)
    taken = sum(_bytes_of(module.instructions.get(number), each) for number, each in read.items())
    return taken + _written_bytes(module, instruction)


def payload_bytes(module: HloModule, instruction: HloInstruction) -> int:
    """Return what one device puts into an exchange or gets out of it, the larger of the two."""
    taken = sum(found.size_bytes for each in instruction.operand_ids if (found := module.instructions.get(each)))
    if instruction.opcode.endswith("-start"):  # its result holds what it takes as well
        return max(taken, instruction.size_bytes - taken)
    return max(taken, instruction.size_bytes)


def _bytes_of(instruction: HloInstruction | None, elements: int) -> int:
    """Return the bytes of so many elements of what an instruction gives."""
    if instruction is None or not instruction.elements:
        return 0
    return -(-instruction.size_bytes * min(elements, instruction.elements) // instruction.elements)


def _written_bytes(module: HloModule, instruction: HloInstruction) -> int:
    if instruction.opcode != "fusion":
        return _updated_bytes(module, instruction) or instruction.size_bytes
    inside = instructions_of(module, instruction)
    there = in_place(inside)
    written = [
        _updated_bytes(module, inside[each]) if each in there else inside[each].size_bytes
        for each in results_of(inside)
    ]
    return min(instruction.size_bytes, sum(written)) if written else instruction.size_bytes


def _updated_bytes(module: HloModule, instruction: HloInstruction) -> int:
    """Tell how much an update writes; 0 for what is none."""
    if instruction.opcode == "dynamic-update-slice":
        updates = instruction.operand_ids[1:2]
    elif instruction.opcode == "scatter":
        updates = instruction.operand_ids[updated(instruction) + 1 :]
    else:
        return 0
    sizes = (found.size_bytes for each in updates if (found := module.instructions.get(each)))
    return min(instruction.size_bytes, sum(sizes))
