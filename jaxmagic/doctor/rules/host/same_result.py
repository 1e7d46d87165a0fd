"""Finds programs that compute the same in every call: without parameters, or with the same arrays in a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ....records.call_stack import Frame
from ....records.note import note
from ...record.evidence import Dispatch, Evidence
from ...record.finding import RuleFinding
from ...record.program import Program
from ..rewriting.list_items import changed_in_place
from ..rewriting.meanings import path_at, paths_in
from ..rewriting.replaced_calls import with_replaced_calls
from ..rewriting.syntax import file_of, first_line, last_name, parameters
from ..rule import is_worth_it, source_at
from .functions.inputs_inside import inputs_inside
from .functions.used_in_loop import loops_of
from .host_time import jitted_calls, programs_named
from .syntax import (
    Function,
    arguments_at,
    around,
    assigned,
    called_as,
    calls_of,
    comprehension_around,
    function_around,
    loop_around,
    site_of,
    tree_of,
    values_of,
)
from .wait import only_waits

#: Fewer calls per run are no finding.
_SEVERAL = 2

#: Parts of the names of primitives that do more than compute, or that compute something else in each call.
_NOT_PURE = "callback", "debug", "print", "ffi", "custom_call", "infeed", "outfeed", "rng_uniform", "effect", "ref"

#: What functions that make one array of JAX begin with.
_MAKING_ARRAYS = "jax.numpy.", "jax.random.", "jax.nn.", "jax.device_put"

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
        if call.count < _SEVERAL * runs or len(named) != 1 or not _is_pure(named[0]):
            continue
        site, called = site_of(call.name, named, evidence), called_as(call.name, named, evidence)
        same = () if not _takes_arguments(named[0]) else _same_arguments(site, called, named[0], evidence)
        if same is None:
            continue
        scale = min(1.0, evidence.run_ns * runs / max(evidence.profile.recorded_ns or 1, 1))
        cost_ns = min(call.busy_ns * scale / runs, evidence.run_ns) * (1 - runs / call.count)
        if cost_ns and is_worth_it(cost_ns, evidence):
            yield _finding(call, call.count // runs, named[0], site, same, cost_ns, evidence, rule)


def _is_pure(program: Program) -> bool:
    """Return whether a program of the user does nothing but compute."""
    equations = program.equations
    if program.location is None or program.module is None or equations is None:
        return False
    return not any(part in each.primitive for each in equations for part in _NOT_PURE)


def _takes_arguments(program: Program) -> bool:
    return program.module is None or bool(program.module.inputs) or program.executable.argument_bytes != 0


def _same_arguments(
    site: Frame | None, function: str, program: Program, evidence: Evidence
) -> tuple[str, ...] | None:
    """Return the arrays that a loop passes in each call, and does not change; ``None`` if any may be another one.

    A loop without another variable that it changes and reads, as in a benchmark, repeats the call on purpose.
    """
    loop = None if site is None else comprehension_around(site) or loop_around(site)
    if site is None or loop is None:
        return None
    if len(_calls_that_run(site, function, evidence)) != 1:
        return None
    given = arguments_at(site, function, program.arguments)
    names = [each.id for each in given.values() if isinstance(each, ast.Name)]
    same = tuple(each for each in names if _is_same(each, site, evidence) or _is_passed_again(each, site, evidence))
    fixed = [each for each in given.values() if isinstance(each, ast.Constant)]
    if not same or len(same) + len(fixed) < len(given) or not _varies(loop, site, function):
        return None
    return same


def _calls_that_run(site: Frame, function: str, evidence: Evidence) -> list[ast.Call]:
    """Return the calls of a function in the scope of a line, and in the user's functions that the code leads to.

    What a jitted function calls is a part of its program.
    """
    tree, scope = tree_of(site), function_around(site)
    programs = [each for each in evidence.programs or () if not each.eager]
    jitted = {file_of(each.location, evidence) for each in programs}
    led_to = {(each.function.file, each.function.line) for each in evidence.names if each.function is not None}
    found = []
    for call in calls_of(function, tree, site) if tree is not None else ():
        outer = [each for each in around(replace(site, line=call.lineno)) if isinstance(each, Function)]
        places = {(site.file, first_line(each)) for each in outer}
        if not places.isdisjoint(jitted):
            continue
        if not places.isdisjoint(led_to) or scope in outer or (scope is None and not outer):
            found.append(call)
    return found


def _is_same(name: str, site: Frame, evidence: Evidence) -> bool:
    """Return whether a variable is one array of JAX, which cannot change, in the whole scope or in its loops."""
    scope = function_around(site) or around(site)[0]
    if name not in assigned(scope):
        array = inputs_inside(site, evidence).get(name)
        return array is not None and array.kind == "jax array"
    loops = {id(each) for each in loops_of(site)}
    if any(name in assigned(each) for each in loops_of(site)) or not loops:
        return False
    paths = paths_in(scope, site.file, evidence.names)
    return all(_makes_array(each, scope, paths, evidence, frozenset([name])) for each in values_of(name, scope))


def _is_passed_again(name: str, site: Frame, evidence: Evidence) -> bool:
    """Return whether a variable is an array of NumPy that had the same values in all calls at a line.

    Nothing in its scope may change it in place, as far as the syntax tells.
    """
    scope = function_around(site) or around(site)[0]
    array = inputs_inside(site, evidence).get(name)
    if array is None or array.kind != "numpy array" or name in assigned(scope) | changed_in_place(scope):
        return False
    passed = [each for each in evidence.conversions if each.function and each.line == site]
    found = [each for each in passed if each.path == array.path]
    return bool(found) and all(each.same_values and each.count >= _SEVERAL for each in found)


def _makes_array(
    value: ast.expr | None, scope: ast.AST, paths: Mapping[str, str], evidence: Evidence, seen: frozenset[str]
) -> bool:
    """Return whether an expression is a call of a function of JAX, or of a jitted one with a single result.

    It may be a variable to which a scope assigns nothing else; those that were seen are looked at already.
    """
    if isinstance(value, ast.Name) and not (isinstance(scope, Function) and value.id in parameters(scope)):
        values = [] if value.id in seen else list(values_of(value.id, scope))
        return value.id in seen or (
            bool(values) and all(_makes_array(each, scope, paths, evidence, seen | {value.id}) for each in values)
        )
    if not isinstance(value, ast.Call):
        return False
    if path_at(value.func, paths).startswith(_MAKING_ARRAYS):
        return True
    programs = programs_named(last_name(value.func) or "", evidence)
    return bool(programs) and all(each.module is not None and len(each.module.outputs) == 1 for each in programs)


def _varies(loop: ast.AST, site: Frame, function: str) -> bool:
    """Return whether a loop reads another variable that it assigns, and does not wait where it calls the function."""
    statement = around(site)[-1]
    if only_waits(statement):
        return False
    plain = isinstance(statement, ast.Assign) and statement.value in calls_of(function, statement, site)
    result = assigned(statement) if plain else set()
    read = {each.id for each in ast.walk(loop) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    return bool((assigned(loop) - result) & read)


def _finding(
    call: Dispatch,
    count: int,
    program: Program,
    site: Frame | None,
    same: tuple[str, ...],
    cost_ns: float,
    evidence: Evidence,
    rule: str,
) -> RuleFinding:
    place = None if site is not None else file_of(program.location, evidence)
    line = Frame(function=call.name, file=place[0], line=place[1]) if place is not None else site
    random = any(each.primitive in _RANDOM for each in program.equations or ())
    busy_ns, size_bytes = call.busy_ns // call.count, program.executable.output_bytes or 0
    found = note("doctor.same_result", function=call.name, count=count, busy_ns=busy_ns)
    remedy = note("doctor.same_result_remedy", function=call.name, size_bytes=size_bytes)
    if same:
        names = ", ".join(same)
        found = note("doctor.same_arguments", function=call.name, names=names, count=count, busy_ns=busy_ns)
        remedy = note("doctor.same_arguments_remedy", function=call.name, size_bytes=size_bytes)
    return RuleFinding(
        rule=rule,
        found=found,
        line=program.location if site is None else site.location,
        source=source_at(line),
        evidence=(note("doctor.same_random"),) if random and not same else (),
        cost_ns=cost_ns,
        basis="estimated",
        remedy=remedy,
        code=None if site is None else _code(site, called_as(call.name, [program], evidence), bool(same)),
        applies_to=call.name,
    )


def _code(site: Frame, function: str, given: bool) -> str | None:
    """Move ``x = f()`` in front of a loop, if nothing else in the loop assigns or changes the variable.

    Where the call is a part of a statement, and is given arrays, its result gets a name of its own.
    """
    loop, statement = comprehension_around(site) or loop_around(site), around(site)[-1]
    if loop is None:
        return None
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Name(id=called), args=args, keywords=keywords) as call,
        ) if called == function and (given or not (args or keywords)) and isinstance(loop, ast.For | ast.While):
            others = [node for node in loop.body if site.line not in range(node.lineno, (node.end_lineno or 0) + 1)]
            if any(name in assigned(node) for node in others):
                return None
            return f"{name} = {ast.unparse(call)}  # before the loop, instead of in it"
    calls = calls_of(function, statement, site)
    if not given or len(calls) != 1 or hasattr(statement, "body"):
        return None
    name = f"{function}_result"
    changed = with_replaced_calls(statement, {calls[0]: ast.Name(name)})
    return f"{name} = {ast.unparse(calls[0])}  # before the loop\n{changed}  # in the loop"
