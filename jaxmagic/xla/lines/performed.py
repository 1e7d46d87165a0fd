"""How often a line ran: which of its operations an instruction performs, and which instructions perform the same one.

A line in two unrolled layers is two instructions with one line and one path, and ran twice. What XLA computes again
in several fusions is one operation of the line: it takes the same values.
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

#: How far the values that an instruction takes are followed: beyond, each instruction is another one.
_DEEPEST = 6


class Performed(NamedTuple):
    """An operation of a line that an instruction performs.

    Attributes:
        opcode: what it does, in XLA's words.
        identity: the same for instructions that compute the same values.
        times: how often the instruction performs it when it runs.
    """

    opcode: str
    identity: Hashable
    times: int


def performed(module: HloModule, instruction: HloInstruction, origins: Origins) -> Mapping[Place, Performed]:
    """Return what an instruction performs of each of its places that have a line of their own.

    Of a fusion, a place counts once: a function of a library may be many instructions with one path.

    Args:
        module: in which it is.
        instruction: it.
        origins: of that module.
    """
    if instruction.one_kernel:
        parts = [(each, times) for each, times in parts_of_kernel(module, instruction) if work(module, each)]
    elif instruction.opcode == "fusion":
        parts = [(each, 1.0) for each, share in parts_of(module, instruction) if share and work(module, each)]
    else:
        parts = [(instruction, 1.0)]
    found: dict[Place, Performed] = {}
    for each, times in sorted(parts, key=lambda part: work(module, part[0])):
        number = origins.number(each)
        if each.stack and number is not None:
            made = Performed(each.opcode, _identity(module, origins.flow, number), max(round(times), 1))
            found[each.stack, each.op_name] = made
    return found


def _identity(module: HloModule, flow: Dataflow, number: int, depth: int = 0) -> Hashable:
    """Return what it does with which values; its number where these are too far away, or it takes none."""
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
