"""Finds updates of arrays outside of jit, each of which copies the whole array to change a part of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....profiling.record.profile import OperationTime
from ....records.call_stack import Frame
from ....records.note import note
from ...analysis.reused_memory import parameters_of
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from ...record.program import Program
from ..copied_arguments import copied_parameters
from ..host.host_time import SEVERAL
from ..host.syntax import around, function_around
from ..rewriting.syntax import last_name
from ..rule import device_time, is_worth_it, source_at

#: Programs of operations that change a part of an array.
_UPDATING = re.compile(r"jit_(scatter|dynamic_update)")

#: Smaller arrays are copied in little time.
_LEAST_BYTES = 2**20

#: The most other lines that are named.
_MOST_LINES = 3


class Update(NamedTuple):
    """An update that replaces an array: what the array is called, and what the code calls to update it."""

    array: str
    function: str


class _Copied(NamedTuple):
    """The copies of arrays of one type: the updates by their lines, the bytes of an array and the operations."""

    lines: dict[Frame, Update]
    size_bytes: int
    operations: tuple[OperationTime, ...]


def eager_updates(evidence: Evidence, rule: str) -> Iterator[RuleFinding]:
    """Yield a finding if updates outside of jit, which replace the array, copy it again and again."""
    groups = sorted(_copies(evidence), key=lambda each: -device_time(each.operations, evidence))
    copies = [one for each in groups for one in each.operations]
    runs = 1 if evidence.profile is None else evidence.profile.runs or 1
    count = sum(each.count for each in copies) // runs
    cost_ns = device_time(copies, evidence) if copies else 0.0
    if count < SEVERAL or not is_worth_it(cost_ns, evidence):
        return
    updates = {line: update for each in groups for line, update in each.lines.items()}
    sampled = dict.fromkeys(each.line for each in evidence.host or () if each.line and updated_at(each.line))
    files = {each.file for each in updates}
    first, *others = dict.fromkeys((*updates, *(each for each in sampled if each.file in files)))
    update = updates[first]
    yield RuleFinding(
        rule=rule,
        found=note(
            "doctor.eager_updates",
            array=update.array,
            count=count,
            size_bytes=max(each.size_bytes for each in groups),
            moved_bytes=sum(each.size_bytes * sum(one.count for one in each.operations) for each in groups) // runs,
        ),
        line=first.location,
        source=source_at(first),
        evidence=tuple(
            note("doctor.eager_updates_also", line=each.location, source=source_at(each) or "")
            for each in others[:_MOST_LINES]
        ),
        cost_ns=cost_ns,
        basis="estimated",
        remedy=note("doctor.eager_updates_remedy", array=update.array, function=update.function),
    )


def _copies(evidence: Evidence) -> Iterator[_Copied]:
    """Yield the copies of each type of array, if all lines that are known to update it replace it."""
    profile = evidence.profile
    if profile is None or not profile.device_uses:
        return
    found: dict[tuple[str, str, str, int], list[Program]] = {}
    for program in evidence.programs or ():
        if not program.eager or program.module is None or not _UPDATING.match(program.executable.name):
            continue
        module = program.module
        for number, each in copied_parameters(module, parameters_of(module)).items():
            key = program.executable.name, module.instructions[number].name, each.shape, each.size_bytes
            found.setdefault(key, []).append(program)
    for (module_name, name, shape, size_bytes), programs in found.items():
        known = [_updated_by(each) for each in programs]
        lines = dict(each for each in known if each is not None)
        copies = tuple(
            each
            for each in profile.operation_times
            if (each.module, each.name, each.shape) == (module_name, name, shape)
        )
        if size_bytes >= _LEAST_BYTES and None not in known and copies:
            yield _Copied(lines, size_bytes, copies)


def _updated_by(program: Program) -> tuple[Frame, Update] | None:
    """Return the update that ran a program first, with its line; ``None`` if it may not replace the array."""
    line = program.called_at
    update = None if line is None else updated_at(line) or _returned(program.called_from)
    return None if line is None or update is None else (line, update)


def _returned(lines: Sequence[Frame]) -> Update | None:
    """Return the update of a parameter in what a function returns, if its caller replaces the argument by that.

    That is ``return x.at[i].set(y)``, also for a part of ``x`` and inside of a container, called by ``x = f(x)``.
    """
    match [around(each)[-1] for each in lines[:2] if around(each)]:
        case [ast.Return(value=ast.expr() as value), ast.Assign(targets=[target], value=ast.Call() as call)]:
            given = [*call.args, *(each.value for each in call.keywords)]
            given += [call.func.value] if isinstance(call.func, ast.Attribute) else []
        case _:
            return None
    if ast.unparse(target) not in map(ast.unparse, given):
        return None
    function = function_around(lines[0])
    names = set() if function is None else {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    found = (_update("", each) for each in ast.walk(value) if isinstance(each, ast.Call))
    return next((each for each in found if each and re.split(r"\W", each.array)[0] in names), None)


def updated_at(line: Frame) -> Update | None:
    """Return which array the statement at a line replaces by an update of it: ``x = x.at[i].set(y)``.

    ``None`` if it does anything else.
    """
    match around(line)[-1:]:
        case [ast.Assign(targets=[target], value=ast.Call() as call)]:
            return _update(ast.unparse(target), call)
    return None


def _update(array: str, call: ast.Call) -> Update | None:
    """Return the update of an array that a call makes; of any array if no name is given."""
    match call.func:
        case ast.Attribute(value=ast.Subscript(value=ast.Attribute(value=updated, attr="at")), attr=method):
            if isinstance(updated, ast.Call):
                return _update(array, updated)
            first, function = ast.unparse(updated), method
        case _:
            first, function = ast.unparse(call.args[0]) if call.args else "", ast.unparse(call.func)
            if not (last_name(call.func) or "").startswith("dynamic_update"):
                return None
    return Update(first, function) if first and array in ("", first) else None
