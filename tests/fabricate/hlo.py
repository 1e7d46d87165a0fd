"""Instructions and modules of XLA, as far as a test says what they are."""

from __future__ import annotations

from typing import Any

from jaxmagic.xla.hlo import HloInstruction, HloModule


def instruction(opcode: str, *operand_ids: int, elements: int = 10, **fields: Any) -> HloInstruction:
    """An instruction that gives an array of 4 bytes an element; all that is not said is empty."""
    values = {
        "name": opcode,
        "shape": f"f32[{elements}]",
        "size_bytes": 4 * elements,
        "operand_ids": operand_ids,
        "called_computation_ids": (),
        "custom_call_target": "",
        "flops": None,
        "num_replica_groups": 0,
        "op_name": "",
        "stack": (),
    }
    return HloInstruction(opcode=opcode, elements=elements, **(values | fields))


def module(*instructions: HloInstruction, name: str = "jit_f", **fields: Any) -> HloModule:
    """Instructions by their places, all in the computation 0 unless `computations` says otherwise."""
    values = {
        "computations": {0: tuple(range(len(instructions)))},
        "instruction_ids": {each.name: number for number, each in enumerate(instructions)},
    }
    return HloModule(name=name, instructions=dict(enumerate(instructions)), **(values | fields))
