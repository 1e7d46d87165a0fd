"""Makes one finding of those about eager operations that the same array of varying size reaches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from ....records.call_stack import Frame
from ....records.note import Note, note
from ...record.finding import RuleFinding
from ..host.syntax import function_around
from ..rule import source_at
from .recompilations import Group

_Cost = TypeVar("_Cost", int, float)

#: The remedy of the line that makes the size.
_BY_VALUES = "doctor.recompile_by_values"

#: Remedies of eager operations: the advice is about the line that calls them, or makes what they get.
_OF_EAGER = "doctor.recompile_one_size", _BY_VALUES

#: The most names of operations that are listed, and lines besides that of the finding.
_MOST_NAMES = 3
_MOST_LINES = 3


class Operation(NamedTuple):
    """A finding, and what tells whether it has the cause of another one.

    Attributes:
        finding: the finding.
        lines: the user's lines that first ran programs of the function.
        sizes: the sizes of its arguments that are not those of all programs.
    """

    finding: RuleFinding
    lines: Sequence[Frame] = ()
    sizes: frozenset[str] = frozenset()

    @property
    def function(self) -> tuple[str, str, int] | None:
        """The function around most of the lines; ``None`` if none is known."""
        scopes = Counter(
            (line.file, line.function, getattr(function_around(line), "lineno", 0)) for line in self.lines
        )
        return scopes.most_common(1)[0][0] if scopes else None


def varying_sizes(group: Group) -> frozenset[str]:
    """Return the sizes in the types of a group's arguments that differ between its programs."""
    causes = [each.cause for each in group.compilations]
    types = {text for each in causes for text in (each.now, each.before) if text}
    sizes = [frozenset(re.findall(r"\d+", shape)) for text in types for shape in re.findall(r"\[([\d,]*)\]", text)]
    return frozenset[str]().union(*sizes) - frozenset.intersection(*sizes) if sizes else frozenset()


def operations_joined(found: Sequence[Operation]) -> list[RuleFinding]:
    """Return findings of which those about eager operations with one cause are joined, in their order.

    The same sizes reach them in one function, whatever the line: the cause is the line that makes the size.
    """
    joined: list[list[Operation]] = []
    for each in found:
        same = next((others for others in joined if any(_has_cause_of(other, each) for other in others)), None)
        if same is None:
            joined.append([each])
        else:
            same.append(each)
    return [_joined(each) if len(each) > 1 else each[0].finding for each in joined]


def _has_cause_of(one: Operation, other: Operation) -> bool:
    first, second = one.finding, other.finding
    return (
        all(each.remedy is not None and each.remedy.kind in _OF_EAGER for each in (first, second))
        and first.per == second.per
        and first.found.facts["cause"] == second.found.facts["cause"]
        and one.function is not None
        and one.function == other.function
        and 2 * len(one.sizes & other.sizes) >= max(min(len(one.sizes), len(other.sizes)), 1)
    )


def _joined(operations: Sequence[Operation]) -> RuleFinding:
    """Return the finding about the line that makes the size, or else the costliest one, for all of them."""
    findings = sorted((each.finding for each in operations), key=lambda each: -(each.cost_ns or 0))
    names = [str(each.found.facts["function"]) for each in findings]
    first = min(findings, key=lambda each: (each.remedy is None or each.remedy.kind != _BY_VALUES, each.line is None))
    facts = first.found.facts | {
        "function": ", ".join(names[:_MOST_NAMES]),
        "programs": sum(int(each.found.facts["programs"]) for each in findings),
        "operations": len(names),
    }
    return replace(
        first,
        found=replace(first.found, facts=facts),
        evidence=(*first.evidence, *_other_lines(first.line, operations)),
        cost_ns=_sum(each.cost_ns for each in findings),
        cost_bytes=_sum(each.cost_bytes for each in findings),
        compiles=tuple(sorted({number for each in findings for number in each.compiles})),
    )


def _sum(costs: Iterable[_Cost | None]) -> _Cost | None:
    """Return the sum of what is known; ``None`` if nothing is."""
    known = [each for each in costs if each is not None]
    return sum(known[1:], known[0]) if known else None


def _other_lines(shown: str | None, operations: Sequence[Operation]) -> Iterator[Note]:
    """Name the other lines that operations of one cause are called at."""
    lines = sorted({line for each in operations if len(set(each.lines)) == 1 for line in each.lines})
    others = [each for each in lines if each.location != shown]
    for line in others[:_MOST_LINES]:
        yield note("doctor.recompile_also", line=line.location, source=source_at(line) or "")
