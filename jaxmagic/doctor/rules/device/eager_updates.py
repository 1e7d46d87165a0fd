"""Finds updates of arrays outside of jit, each of which copies the whole array to change a part of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
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
from ..host.syntax import around
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
    """The copies of arrays of one type: their lines, their bytes and the operations."""

    lines: tuple[Frame, ...]
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
    lines = dict.fromkeys(line for each in groups for line in each.lines)
    sampled = dict.fromkeys(each.line for each in evidence.host or () if each.line and updated_at(each.line))
    first, *others = lines | dict.fromkeys(each for each in sampled if each.file in {line.file for line in lines})
    update = updated_at(first)
    assert update is not None
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
        lines = [each.called_at for each in programs]
        known = tuple(dict.fromkeys(each for each in lines if each is not None and updated_at(each) is not None))
        copies = tuple(
            each
            for each in profile.operation_times
            if (each.module, each.name, each.shape) == (module_name, name, shape)
        )
        if size_bytes >= _LEAST_BYTES and len(known) == len(dict.fromkeys(lines)) and copies:
            yield _Copied(known, size_bytes, copies)


def updated_at(line: Frame) -> Update | None:
    """Return which array the statement at a line replaces by an update of it: ``x = x.at[i].set(y)``.

    ``None`` if it does anything else.
    """
    match around(line)[-1:]:
        case [ast.Assign(targets=[target], value=ast.Call() as call)]:
            return _update(ast.unparse(target), call)
    return None


def _update(array: str, call: ast.Call) -> Update | None:
    match call.func:
        case ast.Attribute(value=ast.Subscript(value=ast.Attribute(value=updated, attr="at")), attr=method):
            if isinstance(updated, ast.Call):
                return _update(array, updated)
            return Update(array, method) if ast.unparse(updated) == array else None
    name = last_name(call.func) or ""
    if name.startswith("dynamic_update") and call.args and ast.unparse(call.args[0]) == array:
        return Update(array, ast.unparse(call.func))
    return None
