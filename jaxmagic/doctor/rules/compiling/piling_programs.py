"""Finds functions that compile in every run, too quickly to cost time, and whose programs pile up in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....records.note import note
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from ..rule import is_worth_it
from .every_run import compiled_in_every_run, kept_alive
from .operations import Operation, operations_joined
from .recompilations import Group
from .recompile import operation_of


def piling_programs(evidence: Evidence, rule: str) -> Iterator[RuleFinding]:
    """Find the functions whose programs stay alive, without those whose compile time is a finding already."""
    cheap = (group for group, cost_ns in compiled_in_every_run(evidence) if not is_worth_it(cost_ns, evidence))
    operations = (_operation(group, evidence, rule) for group in cheap)
    yield from operations_joined([each for each in operations if each is not None])


def _operation(group: Group, evidence: Evidence, rule: str) -> Operation | None:
    kept = kept_alive(group, evidence)
    if kept is None:
        return None
    operation = operation_of(group, evidence, 0.0, every_run=True)
    code_bytes = None if kept.code_bytes is None else kept.code_bytes * len(group.compilations) // kept.programs
    finding = replace(
        operation.finding,
        rule=rule,
        found=note("doctor.memory_programs", **operation.finding.found.facts),
        cost_ns=None,
        cost_bytes=code_bytes,
        basis=None if code_bytes is None else "measured",
        compiles=(),
    )
    return operation._replace(finding=finding)
