"""Finds functions that compile again: in every run, or several times in the first one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...compilation.record.compilation import Compilation
from ...records.note import note
from ..record.evidence import Evidence
from ..record.finding import RuleFinding
from .rule import Rule, is_worth_it

#: Several programs of one function in the first run are worth a finding if they took this long.
_LEAST_FIRST_RUN_NS = 50_000_000

#: From how many programs of one function on.
_SEVERAL = 3

#: Causes that no call of the user's own can avoid.
_UNAVOIDABLE = ("first call", "ahead of time", "while tracing", "unknown")


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find what the last run compiled again, and what the first run compiled several times."""
    again = [each for each in evidence.last.compilations if _counts(each)] if evidence.repeated else []
    for (function, kind), group in _grouped(again).items():
        cost_ns = sum(each.total_ns for each in group)
        if is_worth_it(cost_ns, evidence):
            yield _finding(function, kind, group, cost_ns, every_run=True)
    recurring = {each.function for each in again}
    several = [each for each in evidence.first.compilations if _counts(each) and each.function not in recurring]
    for (function, kind), group in _grouped(several).items():
        cost_ns = sum(each.total_ns for each in group)
        if len(group) >= _SEVERAL and kind not in _UNAVOIDABLE and cost_ns >= _LEAST_FIRST_RUN_NS:
            yield _finding(function, kind, group, cost_ns, every_run=False)


def _counts(compilation: Compilation) -> bool:
    return compilation.compiled and compilation.thread is None


def _grouped(compilations: Sequence[Compilation]) -> dict[tuple[str, str], list[Compilation]]:
    groups: dict[tuple[str, str], list[Compilation]] = {}
    for each in compilations:
        groups.setdefault((each.function, each.cause.kind), []).append(each)
    return groups


def _finding(function: str, kind: str, group: list[Compilation], cost_ns: int, *, every_run: bool) -> RuleFinding:
    cause = group[-1].cause
    changes = [
        note(
            "doctor.recompile_difference", argument=each.cause.argument, now=each.cause.now, before=each.cause.before
        )
        for each in group[-3:]
        if each.cause.argument and each.cause.now and each.cause.before
    ]
    return RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.recompile",
            function=function,
            cause=kind,
            programs=len(group),
            every_run=int(every_run),
            reason=cause.reason,
        ),
        line=next((each.location for each in group if each.location), None),
        evidence=tuple(dict.fromkeys(changes)),
        cost_ns=float(cost_ns),
        basis="measured",
        per="run" if every_run else "first run",
        remedy=None if cause.remedy is None else note("doctor.recompile_remedy", remedy=cause.remedy),
    )


RULE = Rule(
    name="recompile",
    looks_for="functions that compile again and again",
    decides="Something compiles in a run after the first one, and that takes at least 2 % of the run; or one "
    f"function compiles at least {_SEVERAL} times in the first run for another reason than its first call, and that "
    f"takes at least {_LEAST_FIRST_RUN_NS // 10**6} ms. The cause is the one that %jaxtime reports.",
    source="https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching",
    look=look,
)
