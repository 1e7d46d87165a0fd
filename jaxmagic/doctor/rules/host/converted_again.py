"""Finds lines of a loop that convert the same NumPy array again in every round, as ``jnp.asarray(data)`` does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ....records.call_stack import Frame
from ....records.note import note
from ...record.evidence import Dispatch, Evidence
from ...record.finding import RuleFinding
from ..rewriting.list_items import changed_in_place
from ..rewriting.meanings import path_at, paths_in
from ..rewriting.syntax import parameters, stored
from ..rule import source_at
from .host_time import COPIES, SEVERAL, HostTime, best_run, matters, names_of_program
from .syntax import Function, around, assigned, function_around, loop_around

#: Less than this per run is no finding.
_LEAST_BYTES = 2**20

_CONVERTING = frozenset({"jax.numpy.array", "jax.numpy.asarray"})


class _Site(NamedTuple):
    """The only conversion in the statement of a line, of a variable that the loop does not assign."""

    line: Frame
    name: str
    call: ast.Call


def converted_again(rule: str, evidence: Evidence, time: HostTime) -> Iterator[RuleFinding]:
    """Find conversions whose programs had one shape, which is copied again in every round.

    Args:
        rule: the name of the rule.
        evidence: the observations of the runs.
        time: the time of the host.
    """
    for call in time.use.dispatches:
        programs = [each for each in evidence.programs or () if each.eager and call.name in names_of_program(each)]
        if call.name not in COPIES or call.count < SEVERAL or len(programs) != 1:
            continue
        line, size_bytes = programs[0].called_at, programs[0].executable.output_bytes
        site = None if line is None else _site(line, evidence)
        cost_ns = _cost_ns(call, evidence, time)
        if site is None or size_bytes is None or call.count * size_bytes < _LEAST_BYTES:
            continue
        if matters(cost_ns, evidence):
            yield RuleFinding(
                rule=rule,
                found=note(
                    "doctor.converted_again", name=site.name, count=call.count, size_bytes=call.count * size_bytes
                ),
                line=site.line.location,
                source=source_at(site.line),
                cost_ns=cost_ns,
                basis="estimated",
                remedy=note("doctor.transfer_once", names=site.name),
                code=_before_loop(site),
            )


def _cost_ns(call: Dispatch, evidence: Evidence, time: HostTime) -> float:
    """Return what all conversions but one take: the device copies, and is idle until it has the array.

    The rest of the run takes at least as long as the device works for it.
    """
    others_ns = sum(each.busy_ns for each in time.use.dispatches if each is not call)
    taken_ns = (call.busy_ns + call.exposed_ns + call.pending_ns) * time.scale
    return max(min(taken_ns, best_run(evidence).wall_ns - others_ns), 0.0) * (1 - 1 / call.count)


def _site(line: Frame, evidence: Evidence) -> _Site | None:
    loop, nodes = loop_around(line), around(line)
    if loop is None or not nodes:
        return None
    paths = paths_in(function_around(line) or nodes[0], line.file, evidence.names)
    calls = [each for each in ast.walk(nodes[-1]) if isinstance(each, ast.Call)]
    found = [each for each in calls if path_at(each.func, paths) in _CONVERTING]
    match found:
        case [ast.Call(args=[ast.Name(id=name), *_]) as call] if name not in assigned(loop) | changed_in_place(loop):
            return _Site(line, name, call)
    return None


def _before_loop(site: _Site) -> str | None:
    """Return the same conversion before the loop, if the variable belongs to this function or cell."""
    scope = function_around(site.line) or around(site.line)[0]
    own = stored(scope.body) | parameters(scope) if isinstance(scope, Function) else {site.name}
    return f"{site.name} = {ast.unparse(site.call)}  # before the loop" if site.name in own else None
