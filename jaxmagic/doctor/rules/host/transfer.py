"""Finds NumPy arrays that are copied to the device in every call of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .... import units
from ....records.call_stack import Frame
from ....records.note import note
from ...record.evidence import Dispatch, Evidence, Input
from ...record.finding import RuleFinding
from ..rule import LEAST_IDLE, Rule, source_at
from .host_time import LEAST_NS, SEVERAL, host_time, jitted_calls, matters, programs_named
from .syntax import around, assigned, calls_of, function_around, is_comprehended, loop_around, site_of

#: Less than this per run is no finding.
_LEAST_BYTES = 2**20

#: A program may begin this long after its call on the CPU, where a thread has to wake up, without any copy.
_WAKES_NS = 100_000


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find calls in a loop that are given the same NumPy arrays again and again."""
    time = host_time(evidence)
    if time is None:
        return
    for call in jitted_calls(evidence, time.use):
        if call.count < SEVERAL or call.puts < call.count:
            continue
        for line, arrays in _given(call, evidence):
            moved_bytes = call.count * sum(each.size_bytes for each in arrays)
            late_ns = max(call.pending_ns - call.count * _WAKES_NS, 0) + call.put_ns
            cost_ns = min(late_ns * time.scale, time.late_ns)
            if moved_bytes < _LEAST_BYTES or not matters(cost_ns, evidence):
                continue
            names = list(dict.fromkeys(each.path for each in arrays))
            yield RuleFinding(
                rule=RULE.name,
                found=note(
                    "doctor.transfer",
                    names=", ".join(names),
                    function=call.name,
                    count=call.count,
                    size_bytes=moved_bytes,
                ),
                line=line.location,
                source=source_at(line),
                cost_ns=cost_ns,
                basis="estimated",
                remedy=note("doctor.transfer_once", names=", ".join(names)),
                code="\n".join(f"{each} = jax.device_put({each})" for each in names),
            )


def _given(call: Dispatch, evidence: Evidence) -> Iterator[tuple[Frame, list[Input]]]:
    """Yield the line that calls a function in a loop, and the NumPy arrays that it always gives to it."""
    line = site_of(call.name, programs_named(call.name, evidence), evidence)
    if line is None or not (loop_around(line) or is_comprehended(line, call.name)):
        return
    scope = function_around(line) or around(line)[0]
    changed = assigned(scope)
    shapes = {
        each.shape.partition("[")[2]
        for program in programs_named(call.name, evidence)
        if program.module is not None
        for each in program.module.inputs
    }
    found: dict[str, Input] = {}
    for node in calls_of(call.name, around(line)[-1], line):
        given = {ast.unparse(each) for each in (*node.args, *(each.value for each in node.keywords))}
        for each in evidence.inputs:
            root = each.path.partition("[")[0].partition(".")[0]
            same = each.path in given and root not in changed
            if each.kind == "numpy array" and same and each.type.partition("[")[2] in shapes:
                found[each.path] = each
    if found:
        yield line, list(found.values())


RULE = Rule(
    name="transfer",
    looks_for="NumPy arrays that every call in a loop copies to the device",
    decides=f"Reports NumPy arrays that a loop passes to a jitted function at least {SEVERAL} times, if that copies "
    f"at least 1 MiB per run, and the device is idle for at least {units.percent(LEAST_IDLE)} of the run, and at "
    f"least {units.time(LEAST_NS)}, until these calls have them.",
    source="https://docs.jax.dev/en/latest/faq.html",
    look=look,
    needs=("programs", "profile"),
)
