"""Finds arrays of NumPy that jitted functions are given again and again, with the same values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from .....records.call_stack import Frame
from .....records.names import listed
from .....records.note import note
from ....analysis.program_names import name_in_xla
from ....analysis.written_paths import root_of
from ....record.conversion import Conversion
from ....record.evidence import Dispatch, Evidence
from ....record.finding import RuleFinding
from ...rule import source_at
from ..functions.used_in_loop import used_otherwise
from ..host_time import SEVERAL, HostTime, copying_ns, jitted_calls, programs_named
from ..syntax import around, assigned, called_as, calls_of, loop_around
from .cost import CopyCost, cost_of_copies
from .donated_copies import passed_may_be_donated
from .passed_whole import put_once

#: Less than this per run is no finding.
_LEAST_BYTES = 2**20

#: At most so many arrays are named.
_MOST_NAMES = 3


def passed_unchanged(rule: str, evidence: Evidence, time: HostTime, told: Collection[str]) -> Iterator[RuleFinding]:
    """Find lines that pass the same arrays again and again, whatever they write to do so.

    Args:
        rule: the name of the rule.
        evidence: the observations of the runs.
        time: the time of the host.
        told: the functions of which another finding tells what they are given.
    """
    for call in jitted_calls(evidence, time.use):
        given = [each for each in evidence.conversions if name_in_xla(each.function) == name_in_xla(call.name)]
        if call.name in told or call.count < SEVERAL or call.puts < call.count or not given:
            continue
        all_bytes = sum(each.count * each.size_bytes for each in given)
        all_ns = min(copying_ns(call, all_bytes) * time.scale, time.idle_ns)
        for line in dict.fromkeys(each.line for each in given):
            found = [each for each in given if each.line == line and _is_same(each, evidence)]
            spared_bytes = sum((each.count - 1) * each.size_bytes for each in found)
            share = spared_bytes / all_bytes
            cost = cost_of_copies(all_ns * share, call.copied_ns * share, evidence)
            if spared_bytes >= _LEAST_BYTES and cost is not None:
                yield _finding(rule, line, call, found, cost, evidence)


def _is_same(passed: Conversion, evidence: Evidence) -> bool:
    return passed.same_values and passed.count >= SEVERAL and not passed_may_be_donated(passed, evidence)


def _finding(
    rule: str, line: Frame, call: Dispatch, found: Sequence[Conversion], cost: CopyCost, evidence: Evidence
) -> RuleFinding:
    called = called_as(call.name, programs_named(call.name, evidence), evidence)
    paths = [each.path for each in found]
    names = listed(paths, _MOST_NAMES) if all(paths) and len(paths) <= _MOST_NAMES else ""
    return RuleFinding(
        rule=rule,
        found=note(
            "doctor.passed_unchanged",
            function=called,
            names=names,
            arrays=len(found),
            count=max(each.count for each in found),
            size_bytes=sum(each.count * each.size_bytes for each in found),
        ),
        line=line.location,
        source=source_at(line),
        evidence=cost.evidence,
        cost_ns=cost.cost_ns,
        basis=cost.basis,
        remedy=note("doctor.passed_once", names=names, arrays=len(found)),
        code=_code(line, called, paths, evidence) if names else None,
    )


def _code(line: Frame, called: str, paths: Sequence[str], evidence: Evidence) -> str | None:
    """Return what copies the arrays once, if the loop does nothing with their variables but pass them."""
    loop, roots = loop_around(line), {root_of(each) for each in paths}
    if loop is None or not calls_of(called, around(line)[-1], line) or roots & assigned(loop):
        return None
    return None if used_otherwise(roots, called, line) else put_once(paths, line, evidence)
