"""Finds programs without parameters, which compute the same in every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....records.call_stack import Frame
from ....records.note import note
from ...record.evidence import Dispatch, Evidence
from ...record.finding import RuleFinding
from ...record.program import Program
from ..rewriting.syntax import file_of
from ..rule import is_worth_it, source_at
from .host_time import jitted_calls, programs_named
from .syntax import around, assigned, loop_around, site_of

#: Fewer calls per run are no finding.
_SEVERAL = 2

#: Parts of the names of primitives that do more than compute, or that compute something else in each call.
_NOT_PURE = "callback", "debug", "print", "ffi", "custom_call", "infeed", "outfeed", "rng_uniform", "effect", "ref"

#: Primitives that make random numbers of a key.
_RANDOM = frozenset({"random_bits", "threefry2x32", "rng_bit_generator"})


def same_results(evidence: Evidence, rule: str) -> Iterator[RuleFinding]:
    """Yield the jitted functions that are called several times per run, and whose result cannot change."""
    programs = evidence.programs or ()
    if evidence.host_use is None or evidence.profile is None or any(each.donated for each in programs):
        return  # an array that is donated has to be computed again
    runs = max(evidence.profile.runs or 1, 1)
    for call in jitted_calls(evidence, evidence.host_use):
        named = programs_named(call.name, evidence)
        if call.count < _SEVERAL * runs or len(named) != 1 or not _is_constant(named[0]):
            continue
        scale = min(1.0, evidence.run_ns * runs / max(evidence.profile.recorded_ns or 1, 1))
        cost_ns = min(call.busy_ns * scale * (1 - runs / call.count) / runs, evidence.run_ns)
        if cost_ns and is_worth_it(cost_ns, evidence):
            yield _finding(call, call.count // runs, named[0], cost_ns, evidence, rule)


def _is_constant(program: Program) -> bool:
    """Return whether a program of the user takes no arguments, and does nothing but compute."""
    module, equations = program.module, program.equations
    if program.location is None or module is None or module.inputs or program.executable.argument_bytes != 0:
        return False
    return equations is not None and not any(part in each.primitive for each in equations for part in _NOT_PURE)


def _finding(
    call: Dispatch, count: int, program: Program, cost_ns: float, evidence: Evidence, rule: str
) -> RuleFinding:
    site = site_of(call.name, [program], evidence)
    place = None if site is not None else file_of(program.location, evidence)
    line = Frame(function=call.name, file=place[0], line=place[1]) if place is not None else site
    random = any(each.primitive in _RANDOM for each in program.equations or ())
    return RuleFinding(
        rule=rule,
        found=note("doctor.same_result", function=call.name, count=count, busy_ns=call.busy_ns // call.count),
        line=program.location if site is None else site.location,
        source=source_at(line),
        evidence=(note("doctor.same_random"),) if random else (),
        cost_ns=cost_ns,
        basis="estimated",
        remedy=note("doctor.same_result_remedy", function=call.name, size_bytes=program.executable.output_bytes or 0),
        code=None if site is None else _code(site, call.name),
        applies_to=call.name,
    )


def _code(site: Frame, function: str) -> str | None:
    """Move ``x = f()`` in front of a loop, if nothing else in the loop assigns or changes the variable."""
    loop = loop_around(site)
    match around(site)[-1]:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Name(id=called), args=[], keywords=[]) as call,
        ) if called == function and loop is not None:
            others = [node for node in loop.body if site.line not in range(node.lineno, (node.end_lineno or 0) + 1)]
            if any(name in assigned(node) for node in others):
                return None
            return f"{name} = {ast.unparse(call)}  # before the loop, instead of in it"
    return None
