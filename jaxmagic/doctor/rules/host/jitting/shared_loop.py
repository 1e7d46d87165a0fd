"""Says which findings are about the same loop, as each has the cost of its own remedy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .....records.call_stack import Frame
from .....records.note import note
from ....record.evidence import Evidence
from ....record.finding import RuleFinding
from ..syntax import loops_around

#: The rules whose remedies make one call of several.
_RULES = "not-jitted", "dispatch-bound"


def with_shared_loops(findings: Sequence[RuleFinding], evidence: Evidence) -> list[RuleFinding]:
    """Add a note to findings whose lines run in the same loop, also where it is around a call of their function."""
    loops = [_loops(each, evidence) if each.rule in _RULES and each.line is not None else [] for each in findings]
    told = []
    for number, finding in enumerate(findings):
        others = [at for at in range(len(findings)) if at != number and set(loops[at]) & set(loops[number])]
        if others:
            shared = next(each for each in loops[number] if any(each in loops[at] for at in others))
            rules = ", ".join(dict.fromkeys(_name(findings[at]) for at in others))
            finding = replace(
                finding, evidence=(*finding.evidence, note("doctor.same_loop", rules=rules, line=shared.location))
            )
        told.append(finding)
    return told


def _name(finding: RuleFinding) -> str:
    return f"{finding.rule} at {finding.line}"


def _loops(finding: RuleFinding, evidence: Evidence) -> list[Frame]:
    """Return the loops in which a finding's line runs, or the function that it is about, innermost first."""
    found: dict[Frame, None] = {}
    for program in evidence.programs or ():
        stack = [each for each in (program.called_at, *program.called_from) if each is not None]
        places = [number for number, each in enumerate(stack) if each.location == finding.line]
        first = 0 if program.location == finding.line else min(places, default=len(stack))
        for frame in stack[first:]:
            loops = (replace(frame, line=each.lineno, function="") for each in loops_around(frame)[::-1])
            found |= dict.fromkeys(loops)
    return list(found)
