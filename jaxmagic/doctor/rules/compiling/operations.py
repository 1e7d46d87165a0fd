"""Makes one finding of those about the eager operations of one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...record.finding import RuleFinding

#: Remedies of eager operations: the advice is about the line that calls them.
_OF_EAGER = "doctor.recompile_one_size", "doctor.recompile_by_values"

#: The most names of operations that are listed.
_MOST_NAMES = 3


def operations_joined(findings: Sequence[RuleFinding]) -> list[RuleFinding]:
    """Return findings of which those with one remedy for eager operations of one line are joined, in their order."""
    joined: dict[object, list[RuleFinding]] = {}
    for number, each in enumerate(findings):
        of_eager = each.remedy is not None and each.remedy.kind in _OF_EAGER and each.line is not None
        key: object = (each.line, each.per, each.found.facts["cause"]) if of_eager else number
        joined.setdefault(key, []).append(each)
    return [_joined(each) if len(each) > 1 else each[0] for each in joined.values()]


def _joined(findings: Sequence[RuleFinding]) -> RuleFinding:
    """Return the costliest of several findings, for all of them."""
    costliest = sorted(findings, key=lambda each: -(each.cost_ns or 0))
    first, names = costliest[0], [str(each.found.facts["function"]) for each in costliest]
    programs = sum(int(each.found.facts["programs"]) for each in findings)
    facts = first.found.facts | {
        "function": ", ".join(names[:_MOST_NAMES]),
        "programs": programs,
        "operations": len(names),
    }
    return replace(
        first,
        found=replace(first.found, facts=facts),
        cost_ns=sum(each.cost_ns or 0 for each in findings),
        compiles=tuple(sorted({number for each in findings for number in each.compiles})),
    )
