"""Finds copies that a program makes of its arguments because it must not write over them, and their time."""

from __future__ import annotations

from collections.abc import Collection

from ...profiling.record.profile import OperationTime
from ...xla.hlo import HloModule
from ..analysis.reused_memory import Parameter
from ..record.evidence import Evidence
from ..record.program import Program
from .rule import device_time


def copied_parameters(module: HloModule, donated: Collection[Parameter]) -> dict[int, Parameter]:
    """Return the parameters that a program copies as they are, by the instructions that do so."""
    entry = {each: module.instructions[each] for each in module.computations.get(module.entry_computation_id, ())}
    given = {number: each.parameter_number for number, each in entry.items() if each.opcode == "parameter"}
    by_number = {each.number: each for each in donated}
    copies = ((number, given.get(each.operand_ids[0])) for number, each in entry.items() if each.opcode == "copy")
    return {number: by_number[of] for number, of in copies if of is not None and of in by_number}


def copies_spared(
    evidence: Evidence, program: Program, module: HloModule, donated: Collection[Parameter]
) -> tuple[int, int]:
    """Return the bytes of some arguments that each call copies as they are, and the time of these copies in a run.

    The time is 0 if no run was recorded, or if the device spent none on them.
    """
    copied = copied_parameters(module, donated)
    size_bytes = sum(each.size_bytes for each in {*copied.values()})
    names = {name for name, number in module.instruction_ids.items() if number in copied}
    ran = [each for each in _operations(evidence, program) if each.name in names]
    return size_bytes, round(device_time(ran, evidence)) if ran else 0


def calls_per_run(evidence: Evidence, program: Program) -> float:
    """Return how often a recorded run has called a program; 0 if no run was recorded."""
    runs = 1 if evidence.profile is None else evidence.profile.runs or 1
    return max((each.count / runs for each in _operations(evidence, program)), default=0.0)


def _operations(evidence: Evidence, program: Program) -> list[OperationTime]:
    """Return the operations of a program in the recorded run."""
    profile = evidence.profile
    if profile is None or not profile.device_uses:
        return []
    return [each for each in profile.operation_times if each.module == program.executable.name]
