"""Finds sorts of an array that is the same in every call of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....records.call_stack import Frame, owner
from ....records.note import note
from ....xla.hlo import HloInstruction, HloModule
from ...record.evidence import Dispatch, Evidence
from ...record.finding import RuleFinding
from ...record.program import Program
from ..rule import device_time, is_worth_it, source_at
from .functions.inputs_inside import inputs_inside
from .host_time import SEVERAL, jitted_calls, programs_named
from .syntax import arguments_at, around, assigned, function_around, loop_around, site_of

#: Instructions whose results do not only depend on their operands, or that do more than compute them.
_IMPURE = frozenset({"custom-call", "rng", "infeed", "outfeed", "recv", "send", "after-all", "while", "conditional"})

#: At most this many instructions before a sort are followed.
_MOST_BEFORE = 100


def repeated_sorts(program: Program, module: HloModule, evidence: Evidence, rule: str) -> Iterator[RuleFinding]:
    """Yield the sorts of a program whose operands are the same arguments in every call of a Python loop."""
    calls = [] if evidence.host_use is None else jitted_calls(evidence, evidence.host_use)
    call = next((each for each in calls if each.name == program.function and each.count >= SEVERAL), None)
    if call is None or len(programs_named(call.name, evidence)) != 1:
        return
    site = site_of(call.name, [program], evidence)
    if site is None or loop_around(site) is None:
        return
    same = _unchanged(site, call.name, program, evidence)
    by_argument: dict[str, list[HloInstruction]] = {}
    for number in module.computations.get(module.entry_computation_id, ()):
        if module.instructions[number].opcode == "sort":
            argument, *others = _arguments(module, number) or [""]
            if argument in same and not others:
                by_argument.setdefault(argument, []).append(module.instructions[number])
    for argument, sorts in by_argument.items():
        line = owner(sorts[0].stack) or site  # older compilers record the innermost call only, which is JAX's own
        yield from _finding(sorts, argument, same[argument], line, call, program, evidence, rule)


def _finding(
    sorts: list[HloInstruction],
    argument: str,
    array: str,
    line: Frame,
    call: Dispatch,
    program: Program,
    evidence: Evidence,
    rule: str,
) -> Iterator[RuleFinding]:
    profile = evidence.profile
    assert profile is not None
    names = {each.name for each in sorts}
    sorting = [
        each for each in profile.operation_times if each.module == program.executable.name and each.name in names
    ]
    sort_ns = device_time(sorting, evidence)
    cost_ns = min(sort_ns * (1 - 1 / call.count), evidence.run_ns)
    if not cost_ns or not is_worth_it(cost_ns, evidence):
        return
    yield RuleFinding(
        rule=rule,
        found=note("doctor.repeated_sort", array=array, function=call.name, count=call.count),
        line=line.location,
        source=source_at(line),
        evidence=(note("doctor.repeated_sort_time", sort_ns=sort_ns, sorts=len(sorts)),),
        cost_ns=cost_ns,
        basis="measured",
        remedy=note("doctor.repeated_sort_remedy", array=array, function=call.name),
        applies_to=argument,
    )


def _arguments(module: HloModule, number: int) -> list[str]:
    """Return the names of the arguments that an instruction depends on; empty if it depends on anything else."""
    pending, met = [number], {number}
    names: dict[str, None] = {}
    while pending:
        instruction = module.instructions[pending.pop()]
        inside = [
            module.instructions[one].opcode
            for each in instruction.called_computation_ids
            for one in module.computations.get(each, ())
        ]
        if len(met) > _MOST_BEFORE or not _IMPURE.isdisjoint({instruction.opcode, *inside}):
            return []
        if instruction.opcode == "parameter":
            position = instruction.parameter_number
            name = module.inputs[position].name if position < len(module.inputs) else ""
            if not name:
                return []
            names[name] = None
        fresh = [each for each in instruction.operand_ids if each not in met]
        met.update(fresh)
        pending += fresh
    return list(names)


def _unchanged(site: Frame, function: str, program: Program, evidence: Evidence) -> dict[str, str]:
    """Return what each call passes for arguments that the loop does not change, by the names of the arguments."""
    scope = function_around(site) or around(site)[0]
    changed = assigned(scope)
    given = arguments_at(site, function, program.arguments)
    inputs = inputs_inside(site, evidence)
    arrays = {name for name, each in inputs.items() if each.kind == "jax array"}  # NumPy's may change in place
    return {
        name: value.id
        for name, value in given.items()
        if isinstance(value, ast.Name) and value.id in arrays and value.id not in changed
    }
