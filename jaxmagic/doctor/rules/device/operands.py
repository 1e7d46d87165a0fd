"""Follows the operands of an instruction to the argument that they are."""

from __future__ import annotations

from collections.abc import Iterator

from ....xla.hlo import HloModule, Sharded

#: Instructions between an argument and its use that move no data.
_VIEWS = frozenset({"bitcast", "get-tuple-element", "opt-barrier"})


def users_of(module: HloModule, source: int) -> Iterator[int]:
    """Yield the instructions that use an array, also by way of views."""
    for number, each in module.instructions.items():
        if source in each.operand_ids:
            yield from users_of(module, number) if each.opcode in _VIEWS else (number,)


def source_of(module: HloModule, number: int) -> int:
    """Return the instruction whose result another one takes, beyond views."""
    operands = module.instructions[number].operand_ids
    if len(operands) != 1:
        return number
    instruction = module.instructions[operands[0]]
    return source_of(module, operands[0]) if instruction.opcode in _VIEWS else operands[0]


def argument_of(module: HloModule, number: int) -> Sharded | None:
    """Return the argument that an instruction is; ``None`` if it is none, or unknown."""
    instruction = module.instructions[number]
    if instruction.opcode != "parameter" or number not in module.computations[module.entry_computation_id]:
        return None
    position = instruction.parameter_number
    return module.inputs[position] if position < len(module.inputs) else None
