"""Finds jitted functions that get many numbers of Python or NumPy, each an argument of its own."""

from __future__ import annotations

from collections.abc import Iterator

from .....records.note import note
from ....record.evidence import Evidence
from ....record.finding import RuleFinding
from ...rewriting.syntax import source_of_location
from ...rule import source_at
from ..host_time import HostTime, jitted_calls, matters, programs_named
from ..syntax import site_of

#: Fewer numbers per call are no finding.
MANY_NUMBERS = 20

#: A call with one array takes about as long as this, on the host.
_CALL_NS = 30_000


def many_numbers(rule: str, evidence: Evidence, time: HostTime) -> Iterator[RuleFinding]:
    """Find calls that are given many numbers, which JAX converts and copies one by one.

    Args:
        rule: the name of the rule.
        evidence: the observations of the runs.
        time: the time of the host.
    """
    for call in jitted_calls(evidence, time.use):
        programs = programs_named(call.name, evidence)
        if len(programs) != 1 or programs[0].module is None:
            continue
        shapes = [each.shape for each in programs[0].module.inputs]
        scalars = sum(each.partition("{")[0].endswith("[]") for each in shapes)
        numbers = min(call.puts // call.count, scalars)
        idle_ns = call.exposed_ns * time.exposed_scale - call.count * _CALL_NS
        cost_ns = idle_ns * numbers / max(len(shapes), 1)
        if numbers < MANY_NUMBERS or not matters(cost_ns, evidence):
            continue
        line = site_of(call.name, programs, evidence)
        defined = programs[0].location
        yield RuleFinding(
            rule=rule,
            found=note("doctor.many_numbers", function=call.name, count=call.count, numbers=numbers),
            line=defined if line is None else line.location,
            source=source_of_location(defined, evidence) if line is None else source_at(line),
            cost_ns=cost_ns,
            basis="estimated",
            remedy=note("doctor.many_numbers_remedy", function=call.name),
        )
