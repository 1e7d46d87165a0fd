"""Finds lines of a loop that convert the same NumPy array again in every round, as ``jnp.asarray(data)`` does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .....records.call_stack import Frame
from .....records.note import note
from ....record.evidence import Dispatch, Evidence
from ....record.finding import RuleFinding
from ....record.program import Program
from ...rewriting.list_items import changed_in_place
from ...rewriting.meanings import path_at, paths_in
from ...rewriting.replaced_calls import with_replaced_calls
from ...rewriting.syntax import parameters, stored
from ...rule import source_at
from ..functions.inputs_inside import inputs_inside
from ..host_time import COPIES, SEVERAL, HostTime, best_run, matters, names_of_program
from ..syntax import Comprehension, Function, Loop, around, assigned, function_around, loop_around
from .donated_copies import may_be_donated

#: Less than this per run is no finding.
_LEAST_BYTES = 2**20

CONVERTING = frozenset({"jax.numpy.array", "jax.numpy.asarray"})


class _Site(NamedTuple):
    """The only conversion in the statement of a line in a loop, which the loop does not change.

    Attributes:
        line: the line.
        name: the array.
        code: what converts it once, before the loops; ``None`` if it belongs to another function.
    """

    line: Frame
    name: str
    code: str | None


def converted_again(rule: str, evidence: Evidence, time: HostTime) -> Iterator[RuleFinding]:
    """Find conversions whose programs had one shape, which is copied again in every round.

    Args:
        rule: the name of the rule.
        evidence: the observations of the runs.
        time: the time of the host.
    """
    for call, programs in conversions(evidence, time):
        if len(programs) != 1:
            continue
        line, size_bytes = programs[0].called_at, programs[0].executable.output_bytes
        site = None if line is None else _site(line, evidence, _is_one(line, evidence))
        if site is None or size_bytes is None:
            continue
        share = _share(site.line, evidence)
        count = round(call.count * share)
        if count < SEVERAL or count * size_bytes < _LEAST_BYTES:
            continue
        cost_ns = conversions_ns(call, evidence, time) * share * (1 - 1 / count)
        if matters(cost_ns, evidence):
            yield RuleFinding(
                rule=rule,
                found=note(
                    "doctor.converted_again",
                    name=site.name,
                    count=count,
                    size_bytes=count * size_bytes,
                ),
                line=site.line.location,
                source=source_at(site.line),
                cost_ns=cost_ns,
                basis="estimated",
                remedy=note("doctor.converted_once", names=site.name),
                code=site.code,
            )


def conversions(evidence: Evidence, time: HostTime) -> Iterator[tuple[Dispatch, list[Program]]]:
    """Yield the calls with which JAX copies arrays of NumPy several times per run, and their programs."""
    for call in time.use.dispatches:
        if call.name in COPIES and call.count >= SEVERAL:
            programs = (each for each in evidence.programs or () if each.eager)
            yield call, [each for each in programs if call.name in names_of_program(each)]


def conversions_ns(call: Dispatch, evidence: Evidence, time: HostTime) -> float:
    """Return what the conversions take: the device copies, and is idle until it has the array.

    The rest of the run takes at least as long as the device works for it.
    """
    others_ns = sum(each.busy_ns for each in time.use.dispatches if each is not call)
    taken_ns = (call.busy_ns + call.exposed_ns + call.pending_ns) * time.scale
    return max(min(taken_ns, best_run(evidence).wall_ns - others_ns), 0.0)


def _share(line: Frame, evidence: Evidence) -> float:
    """Return the share of a line in all conversions, which have one shape; 1 if that is unknown."""
    converted = [each for each in evidence.conversions if not each.function]
    here = sum(each.count for each in converted if each.line == line)
    return here / sum(each.count for each in converted) if here else 1.0


def converted_before(line: Frame, evidence: Evidence, *, same_values: bool) -> str | None:
    """Return the conversion of a line before its loop, and the line with its result; ``None`` if there is none.

    Args:
        line: the line.
        evidence: the observations of the runs.
        same_values: whether nothing changes the values of the array meanwhile.
    """
    site = _site(line, evidence, same_values)
    return None if site is None else site.code


def _site(line: Frame, evidence: Evidence, same_values: bool) -> _Site | None:
    nodes = around(line)
    if not nodes:
        return None
    scope = function_around(line) or nodes[0]
    paths = paths_in(scope, line.file, evidence.names)
    calls = [each for each in ast.walk(nodes[-1]) if isinstance(each, ast.Call)]
    found = [each for each in calls if path_at(each.func, paths) in CONVERTING]
    loop = loop_of(found[0], line) if len(found) == 1 else None
    match found:
        case [ast.Call(args=[ast.Name(id=name), *_]) as call] if loop is not None and name not in assigned(
            loop
        ) | changed_in_place(loop):
            array = inputs_inside(line, evidence).get(name)
            if not may_be_donated(None if array is None else array.type, evidence):
                return _Site(line, name, _once_code(name, call, loop, nodes[-1], scope, same_values))
    return None


def loop_of(call: ast.Call, line: Frame) -> Loop | Comprehension | None:
    """Return the innermost comprehension that makes a call in the statement of a line again and again, or else loop.

    What a comprehension first goes over is computed once.
    """
    inside = [each for each in ast.walk(around(line)[-1]) if isinstance(each, Comprehension) and _has(each, call)]
    repeated = [each for each in inside if not _has(each.generators[0].iter, call)]
    return repeated[-1] if repeated else loop_around(line)


def _has(node: ast.AST, call: ast.Call) -> bool:
    return any(each is call for each in ast.walk(node))


def _is_one(line: Frame, evidence: Evidence) -> bool:
    """Return whether a line is known to convert one array, whose values nothing changes meanwhile."""
    converted = [each.same_values for each in evidence.conversions if each.line == line and not each.function]
    return converted == [True]


def _once_code(
    name: str, call: ast.Call, loop: ast.AST, statement: ast.AST, scope: ast.AST, is_one: bool
) -> str | None:
    """Return the same conversion before the loop, and the statement of the loop with its result.

    The result has another name if the loop also uses the array of NumPy, or if the function does not own the
    variable: then other code may change the array, and there is only code for one that is known to stay the same.
    There is none for a statement with a body.
    """
    is_own = not isinstance(scope, Function) or name in stored(scope.body) | parameters(scope)
    if not (is_own or is_one) or not isinstance(statement, ast.stmt) or hasattr(statement, "body"):
        return None
    uses = [each for each in ast.walk(loop) if isinstance(each, ast.Name) and each.id == name]
    converted = name if is_own and len(uses) == 1 else f"{name}_jax"
    if converted != name and any(isinstance(each, ast.Name) and each.id == converted for each in ast.walk(scope)):
        return None
    inside = with_replaced_calls(statement, {call: ast.Name(converted)})
    where = "" if isinstance(loop, Comprehension) else "  # in the loop"
    return f"{converted} = {ast.unparse(call)}  # before the loop\n{inside}{where}"
