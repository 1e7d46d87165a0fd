"""Identifies the operations of a line that an instruction performs, to count how often the line ran.

A line in two unrolled layers has two instructions with the same line and path, and ran twice. An operation that XLA
duplicates into several fusions ran once: the copies take the same values.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from ..costs.cost_analysis import work
from ..costs.kernel_parts import parts_of_kernel
from ..costs.operand_utilization import parts_of
from ..dataflow import Dataflow
from ..hlo import HloInstruction, HloModule
from .origins import Origins, Place

#: How far operands are followed to compare instructions; deeper ones count as different.
_DEEPEST = 6


class Performed(NamedTuple):
    """An operation of a line that an instruction performs.

    Attributes:
        opcode: its HLO opcode.
        identity: equal for instructions that compute the same values.
        times: how often one execution of the instruction performs it.
    """

    opcode: str
    identity: Hashable
    times: int


def performed(module: HloModule, instruction: HloInstruction, origins: Origins) -> Mapping[Place, Performed]:
    """Return the operation that an instruction performs for each of its places with a recorded line.

    Each place of a fusion counts once, because one library function may be many instructions with the same path.

    Args:
        module: the module.
        instruction: the instruction.
        origins: the origins of the module's instructions.
    """
    if instruction.one_kernel:
        parts = [(each, times) for each, times in parts_of_kernel(module, instruction) if work(module, each)]
    elif instruction.opcode == "fusion":
        parts = [(each, 1.0) for each, share in parts_of(module, instruction) if share and work(module, each)]
    else:
        parts = [(instruction, 1.0)]
    operations: dict[Place, Performed] = {}
    for part, times in sorted(parts, key=lambda part: work(module, part[0])):
        number = origins.number(part)
        if part.stack and number is not None:
            operation = Performed(part.opcode, _identity(module, origins.flow, number), max(round(times), 1))
            operations[part.stack, part.op_name] = operation
    return operations


def _identity(module: HloModule, flow: Dataflow, number: int, depth: int = 0) -> Hashable:
    """Describe an instruction by its opcode, shape and operands; by its id if it takes none or they are too deep."""
    instruction = module.instructions.get(number)
    operands = flow.operands(number)
    if instruction is None:
        return number
    if instruction.opcode in ("constant", "iota"):
        return instruction.opcode, instruction.shape
    if not operands or depth > _DEEPEST:
        return number
    if instruction.opcode in ("parameter", "bitcast"):
        return _identity(module, flow, operands[0], depth + 1)
    taken = tuple(_identity(module, flow, each, depth + 1) for each in operands)
    return instruction.opcode, instruction.shape, taken
