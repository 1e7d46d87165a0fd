"""Finds arrays that are reordered in memory for most of their use: transposes and copies that change the layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....profiling.record.profile import OperationTime
from ....records.note import note
from ....xla.hlo import HloModule
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from ..rule import Rule
from .dominant import dominant

#: Reordering dominates if it takes at least this share of a run for one line.
_LEAST_DOMINANT = 0.2

#: Instructions between an argument and its transpose that move no data.
_VIEWS = frozenset({"bitcast", "get-tuple-element", "opt-barrier"})


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the line for which arrays are reordered longest."""
    for each in dominant(evidence, _LEAST_DOMINANT, lambda operation, _: operation.category == "layout change"):
        arguments = _arguments(each.operations, each.program.module)
        largest = each.operations[0]
        yield RuleFinding(
            rule=RULE.name,
            found=note("doctor.reordered", function=each.function, share=each.time_ns / evidence.run_ns),
            line=each.line,
            source=each.source,
            evidence=(
                note(
                    "doctor.reordered_time",
                    operations=len(each.operations),
                    time_ns=each.time_ns,
                    name=largest.name,
                    shape=largest.shape,
                ),
            ),
            cost_ns=each.time_ns if arguments else None,
            basis="estimated" if arguments else None,
            remedy=note("doctor.reordered_argument", arguments=", ".join(arguments), function=each.function)
            if arguments
            else note("doctor.reordered_remedy"),
        )


def _arguments(operations: Sequence[OperationTime], module: HloModule | None) -> list[str]:
    """Return the names of the arguments that are reordered as they are passed, if all arrays are such arguments."""
    names: dict[str, None] = {}
    for each in operations:
        name = "" if module is None else _argument(module, each.name)
        if not name:
            return []
        names[name] = None
    return list(names)


def _argument(module: HloModule, name: str) -> str:
    number = module.instruction_ids.get(name)
    operands = () if number is None else module.instructions[number].operand_ids
    while len(operands) == 1:
        instruction = module.instructions[operands[0]]
        if instruction.opcode == "parameter" and operands[0] in module.computations[module.entry_computation_id]:
            position = instruction.parameter_number
            return module.inputs[position].name if position < len(module.inputs) else ""
        operands = instruction.operand_ids if instruction.opcode in _VIEWS else ()
    return ""


RULE = Rule(
    name="layout",
    looks_for="arrays that are reordered in memory, as for a product over an axis that is not the last one",
    decides=f"Transposes, and copies that change the layout, take at least {_LEAST_DOMINANT:.0%} of the run for one "
    "line. Their device time is the cost if they reorder arguments as these are passed. Otherwise the cost is "
    "unknown: XLA may have to reorder other arrays instead.",
    source="https://openxla.org/xprof/hlo_op_stats",
    look=look,
    needs=("programs", "profile"),
)
