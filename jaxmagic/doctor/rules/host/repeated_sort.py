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
from ..rewriting.syntax import last_name, parameters
from ..rule import device_time, is_worth_it, source_at
from .functions.inputs_inside import inputs_inside
from .host_time import SEVERAL, jitted_calls, programs_named
from .syntax import (
    arguments_at,
    around,
    assigned,
    called_as,
    calls_of,
    function_around,
    is_comprehended,
    loop_around,
    site_of,
)

#: Instructions whose results do not only depend on their operands, or that do more than compute them.
_IMPURE = frozenset({"custom-call", "rng", "infeed", "outfeed", "recv", "send", "after-all", "while", "conditional"})

#: The functions of JAX that only sort.
_SORTING = frozenset({"argsort", "lexsort", "sort"})

#: At most this many instructions before a sort are followed.
_MOST_BEFORE = 100


def repeated_sorts(program: Program, module: HloModule, evidence: Evidence, rule: str) -> Iterator[RuleFinding]:
    """Yield the sorts of a program whose operands are the same arguments in every call of a Python loop."""
    calls = [] if evidence.host_use is None else jitted_calls(evidence, evidence.host_use)
    call = next((each for each in calls if each.name == program.function and each.count >= SEVERAL), None)
    if call is None or len(programs_named(call.name, evidence)) != 1:
        return
    called = called_as(call.name, [program], evidence)
    site = site_of(call.name, [program], evidence) or _mapped(called, program, evidence)
    if site is None or not _repeats(site, called):
        return
    same = _unchanged(site, called, program, evidence)
    by_argument: dict[str, list[HloInstruction]] = {}
    for number in module.computations.get(module.entry_computation_id, ()):
        if module.instructions[number].opcode == "sort":
            argument, *others = _arguments(module, number) or [""]
            if argument in same and not others:
                by_argument.setdefault(argument, []).append(module.instructions[number])
    for argument, sorts in by_argument.items():
        line = owner(sorts[0].stack) or site  # older compilers record the innermost call only, which is JAX's own
        yield from _finding(sorts, argument, same[argument], line, call, program, evidence, rule)


def _repeats(site: Frame, function: str) -> bool:
    """Return whether a line calls a function in a loop, a comprehension, or for each item with ``map``."""
    return loop_around(site) is not None or is_comprehended(site, function) or bool(_mapping(site, function))


def _mapped(function: str, program: Program, evidence: Evidence) -> Frame | None:
    """Return the only line that calls a function in a lambda that ``map`` calls."""
    lines = {each.line for each in evidence.host or ()} | {program.called_at}
    found = {each for each in lines if each is not None and _mapping(each, function)}
    return found.pop() if len(found) == 1 else None


def _mapping(line: Frame, function: str) -> list[ast.Lambda]:
    """Return the lambdas in the statement of a line that call a function, and which ``map`` calls for each item."""
    calls = [each for node in around(line)[-1:] for each in ast.walk(node) if isinstance(each, ast.Call)]
    given = [each.args[0] for each in calls if last_name(each.func) == "map" and each.args]
    return [each for each in given if isinstance(each, ast.Lambda) and calls_of(function, each, line)]


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
        remedy=note("doctor.repeated_sort_remedy", array=array, function=call.name, within=_within(sorts[0], line)),
        applies_to=argument,
    )


def _within(sort: HloInstruction, line: Frame) -> str:
    """Return the function of JAX that sorts by itself, as the line writes it: ``"jnp.quantile"``; else nothing."""
    inside = {each[4:-1] for each in sort.op_name.split("/")[1:] if each.startswith("jit(")} - _SORTING
    calls = [each for node in around(line)[-1:] for each in ast.walk(node) if isinstance(each, ast.Call)]
    return next((ast.unparse(each.func) for each in calls if last_name(each.func) in inside), "")


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
    changed = assigned(scope) | {each for one in _mapping(site, function) for each in parameters(one)}
    given = arguments_at(site, function, program.arguments)
    inputs = inputs_inside(site, evidence)
    arrays = {name for name, each in inputs.items() if each.kind == "jax array"}  # NumPy's may change in place
    return {
        name: value.id
        for name, value in given.items()
        if isinstance(value, ast.Name) and value.id in arrays and value.id not in changed
    }
