"""Finds copies that a program makes of its arguments because it must not write over them, and their time."""

from __future__ import annotations

from collections.abc import Collection

from ...xla.hlo import HloModule
from ..analysis.reused_memory import Parameter
from ..record.evidence import Evidence
from ..record.program import Program
from .rule import device_time


def copies_spared(
    evidence: Evidence, program: Program, module: HloModule, donated: Collection[Parameter]
) -> tuple[int, int]:
    """Return the bytes of some arguments that each call copies as they are, and the time of these copies in a run.

    The time is 0 if no run was recorded, or if the device spent none on them.
    """
    entry = {each: module.instructions[each] for each in module.computations.get(module.entry_computation_id, ())}
    parameters = {number: each.parameter_number for number, each in entry.items() if each.opcode == "parameter"}
    sizes = {each.number: each.size_bytes for each in donated}
    copied = {
        number: parameters[each.operand_ids[0]]
        for number, each in entry.items()
        if each.opcode == "copy" and parameters.get(each.operand_ids[0]) in sizes
    }
    size_bytes = sum(sizes[each] for each in {*copied.values()})
    profile = evidence.profile
    if profile is None or not profile.device_uses:
        return size_bytes, 0
    names = {name for name, number in module.instruction_ids.items() if number in copied}
    ran = [each for each in profile.operation_times if each.module == program.executable.name and each.name in names]
    return size_bytes, round(device_time(ran, evidence))
