"""Counts the bytes that an instruction at least reads and writes.

A lookup reads only the rows it needs, not the whole table, and an update in place writes only the updated slice.
"""

from __future__ import annotations

from ..hlo import HloInstruction, HloModule
from .operand_utilization import in_place, instructions_of, read_by, results_of, updated


def bytes_accessed(module: HloModule, instruction: HloInstruction) -> int | None:
    """Return how many bytes one execution at least reads and writes, each once; ``None`` for loops and calls."""
    if instruction.opcode in ("while", "conditional", "call"):
        return None
    read = read_by(module, instruction, instruction.elements)
    taken = sum(_bytes_of(module.instructions.get(number), each) for number, each in read.items())
    return taken + _written_bytes(module, instruction)


def payload_bytes(module: HloModule, instruction: HloInstruction) -> int:
    """Return the bytes that one device sends to a collective or receives from it, whichever is more."""
    taken = sum(found.size_bytes for each in instruction.operand_ids if (found := module.instructions.get(each)))
    if instruction.opcode.endswith("-start"):  # its result contains its operands
        return max(taken, instruction.size_bytes - taken)
    return max(taken, instruction.size_bytes)


def _bytes_of(instruction: HloInstruction | None, elements: int) -> int:
    """Return the bytes of this many elements of an instruction's result."""
    if instruction is None or not instruction.elements:
        return 0
    return -(-instruction.size_bytes * min(elements, instruction.elements) // instruction.elements)


def _written_bytes(module: HloModule, instruction: HloInstruction) -> int:
    if instruction.opcode != "fusion":
        return _updated_bytes(module, instruction) or instruction.size_bytes
    inside = instructions_of(module, instruction)
    updates = in_place(inside)
    written = [
        _updated_bytes(module, inside[number]) if number in updates else inside[number].size_bytes
        for number in results_of(inside)
    ]
    return min(instruction.size_bytes, sum(written)) if written else instruction.size_bytes


def _updated_bytes(module: HloModule, instruction: HloInstruction) -> int:
    """Return how many bytes an update writes; 0 for other instructions."""
    if instruction.opcode == "dynamic-update-slice":
        updates = instruction.operand_ids[1:2]
    elif instruction.opcode == "scatter":
        updates = instruction.operand_ids[updated(instruction) + 1 :]
    else:
        return 0
    sizes = (found.size_bytes for each in updates if (found := module.instructions.get(each)))
    return min(instruction.size_bytes, sum(sizes))
