"""Adds what earlier measurements compiled, so that findings do not depend on which values the session has seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...record.evidence import Evidence
from .every_run import always_compiled
from .recompilations import Group, counts, grouped, programs_of

#: The kind of causes that earlier measurements may have spared a run.
_VALUES = "static value"


def with_earlier(groups: Sequence[Group], evidence: Evidence) -> Iterator[Group]:
    """Yield groups of the first run, and those for static values with what earlier measurements compiled as well.

    A program counts if it ran in this run. Which of them that were is unknown, so the last ones count, as many as
    ran; the first of them is needed anyway.
    """
    always = always_compiled(evidence)
    before = [each for each in evidence.earlier if counts(each) and each.cause.kind == _VALUES and not each.eager]
    earlier = {each.same_function: each for each in grouped(before) if each.same_function not in always}
    for group in groups:
        known = earlier.pop(group.same_function, None) if group.kind == _VALUES else None
        yield group if known is None else _joined(known, group, evidence)
    for known in earlier.values():
        joined = _joined(known, known._replace(compilations=[]), evidence)
        if joined.compilations:
            yield joined


def _joined(earlier: Group, group: Group, evidence: Evidence) -> Group:
    """Return a group with the earlier compilations of programs that ran in the first run, before its own."""
    unseen = max(len(programs_of(earlier, evidence)) - 1 - len(group.compilations), 0)
    added = earlier.compilations[-unseen:] if unseen else []
    return group._replace(compilations=[*added, *group.compilations], earlier=len(added))
