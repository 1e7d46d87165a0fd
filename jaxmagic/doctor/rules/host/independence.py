"""Tells from the syntax whether the calls of a function need the results of each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....records.call_stack import Frame
from ...record.evidence import Evidence
from ..rewriting.loops.loop_end import end_of
from ..rewriting.syntax import last_name, tree_run
from .dependencies import carried_by, derived_from, given_with, names_read, targets_of
from .syntax import Comprehension, Function, Loop, around, calls_of, function_around, loop_around, loops_around


class Independent(NamedTuple):
    """Calls that do not need the results of each other.

    Attributes:
        loops: the loops of statements that make them, innermost first.
        within: the loop of which each pass makes such calls, while those of different passes may need each other.
        caller: the same of each call of a function; empty if it is called once, or the calls are those of a pass.
    """

    loops: Sequence[Loop] = ()
    within: Loop | None = None
    caller: str = ""


def independent_calls(line: Frame, function: str, evidence: Evidence) -> Independent | None:
    """Return which calls of a function at a line do not need the result of an earlier one; ``None`` if these do.

    Args:
        line: the line.
        function: the name of the function.
        evidence: the code, which tells whether the function around the line is called once.
    """
    if not is_independent(line, function):
        return None
    statement, call = around(line)[-1], _call_at(line, function)
    assert call is not None
    loops = loops_around(line)[::-1]
    found = [] if _is_elementwise_in(statement, call) else loops[:1]
    for loop in loops[len(found) :]:
        if not isinstance(loop, ast.For) or end_of(loop) != "count" or not _has_own_passes(loop, call, line):
            return Independent(found, within=loop)
        found.append(loop)
    caller = _caller(line, statement, call)
    return Independent(found, caller="" if caller is None or _runs_once(caller, line, evidence) else caller)


def is_independent(line: Frame, function: str) -> bool:
    """Return whether the calls of a function in a loop around a line do not need the result of an earlier one.

    They do not if they stand in a comprehension, in a lambda that is passed to ``map`` or ``np.vectorize``, or in a
    loop that counts or goes over values, and their arguments are not computed from anything that the loop computes
    with them, nor carried from round to round: those of all rounds are not known before the loop. Loops around that
    one may do so.
    """
    call, loop = _call_at(line, function), loop_around(line)
    if call is None:
        return False
    if _is_elementwise_in(around(line)[-1], call):
        return True
    return isinstance(loop, ast.For) and _has_own_passes(loop, call, line)


def _call_at(line: Frame, function: str) -> ast.Call | None:
    """Return the only call of a function on a line."""
    calls = [call for node in around(line)[-1:] for call in calls_of(function, node, line)]
    return calls[0] if len(calls) == 1 else None


def _has_own_passes(loop: ast.For, call: ast.Call, line: Frame) -> bool:
    """Return whether no pass of a loop needs what a call in it returned in an earlier pass, as names tell."""
    nodes = around(line)
    statement = nodes[-1]
    inside = nodes[nodes.index(loop) :]
    results = targets_of(statement, [call]) | given_with(statement, {call})
    derived = derived_from(loop, results, objects=True, blocks=True)
    needed = {name for each in (call, *_deciding(inside, call)) for name in names_read(each)}
    return not (derived | carried_by(loop)) & needed


def _deciding(nodes: Sequence[ast.AST], call: ast.Call) -> Iterator[ast.expr]:
    """Yield what decides how often, and with which items, some nodes around a call make it."""
    for node in (*nodes, *(each for each in ast.walk(nodes[-1]) if _has(each, call))):
        match node:
            case ast.For(iter=items):
                yield items
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield test
            case ast.ListComp(generators=parts) | ast.SetComp(generators=parts) | ast.DictComp(generators=parts):
                yield from (one for each in parts for one in (each.iter, *each.ifs))
            case ast.GeneratorExp(generators=parts):
                yield from (one for each in parts for one in (each.iter, *each.ifs))
            case ast.Call(args=[ast.Lambda() as mapped, *items]) if _has(mapped, call):
                yield from items


def _caller(line: Frame, statement: ast.AST, call: ast.Call) -> str | None:
    """Return the name of the function that makes a call when it is called; ``None`` if the cell or file does."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            is_map = any(_has(each, call) and last_name(each.func) == "map" for each in _calls(value))
            if not is_map and any(isinstance(each, ast.Lambda) and _has(each, call) for each in ast.walk(value)):
                return name
    function = function_around(line)
    return None if function is None else function.name


def _calls(node: ast.AST) -> list[ast.Call]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Call)]


def _runs_once(name: str, line: Frame, evidence: Evidence) -> bool:
    """Return whether a function is called once per run, as the calls in the code and the files that ran tell."""
    tree, seen = tree_run(line.file, evidence), set[str]()
    while name not in seen:
        seen.add(name)
        sites = {
            (scope, ast.unparse(call), looped)
            for scope, call, looped in _calls_in(tree, "", looped=False)
            if last_name(call.func) == name
        }
        if len(sites) != 1:
            return False
        ((name, _, looped),) = sites
        if looped or not name:
            return not looped
    return False


def _calls_in(node: ast.AST, scope: str, *, looped: bool) -> Iterator[tuple[str, ast.Call, bool]]:
    """Yield the calls inside a node, with the name of the function around each and whether a loop in it makes it."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.Call):
            yield scope, each, looped
        if isinstance(each, Function):
            yield from _calls_in(each, each.name, looped=False)
        else:
            inside = looped or isinstance(each, Loop | Comprehension | ast.Lambda)
            yield from _calls_in(each, scope, looped=inside)


def mapped_axes(line: Frame, function: str, loops: Sequence[Loop] | None = None) -> str:
    """Return the ``in_axes`` of ``jax.vmap`` for the calls at a line, such as ``"(None, 0)"``.

    An argument is the same in all calls if it reads nothing that the loops or the lambda around them assign, and
    calls nothing. The axes are empty if all arguments vary, and if they cannot be written.

    Args:
        line: the line.
        function: the name of the function.
        loops: the loops of statements that make the calls; the innermost one if left out.
    """
    call = _call_at(line, function)
    if call is None or call.keywords or any(isinstance(each, ast.Starred) for each in call.args):
        return ""
    scopes = [each for each in ast.walk(around(line)[-1]) if isinstance(each, _BINDING) and _has(each, call)]
    if loops is None:
        loops = loops_around(line)[-1:]
    stored = {
        each.id if isinstance(each, ast.Name) else each.arg
        for scope in (*scopes, *loops)
        for each in ast.walk(scope)
        if isinstance(each, ast.arg) or (isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    }
    axes = ["0" if _varies(each, stored) else "None" for each in call.args]
    return f"({', '.join(axes)})" if {"0", "None"} <= set(axes) else ""


class PairAxes(NamedTuple):
    """The ``in_axes`` of two ``jax.vmap`` around each other; empty where all arguments vary."""

    inner: str
    outer: str


def pair_axes(line: Frame, function: str, evidence: Evidence) -> PairAxes | None:
    """Return how to map a function that two loops inside each other call for each pair of their items.

    ``None`` if a call needs the result of another, if the items of the inner loop depend on the outer one, or if an
    argument is computed from both: then the syntax shows no arrays to map over.

    Args:
        line: the line.
        function: the name of the function.
        evidence: the code.
    """
    call, independent = _call_at(line, function), independent_calls(line, function, evidence)
    if call is None or call.keywords or independent is None or independent.within is not None:
        return None
    nodes = [each for each in ast.walk(around(line)[-1]) if isinstance(each, _LISTS) and _has(each.elt, call)]
    parts = [part for each in nodes for part in each.generators]
    loops = [each for each in loops_around(line) if isinstance(each, ast.For)]
    scopes = [*((each.target, each.iter) for each in loops), *((each.target, each.iter) for each in parts)]
    if len(scopes) != 2 or any(part.ifs for part in parts):
        return None
    outer, inner = (_stored(target) for target, _ in scopes)
    computed = {name for each in loops for name in _stored(each)} - outer - inner
    reads = [names_read(each) for each in call.args]
    mixed = any(each & computed or (each & outer and each & inner) for each in reads)
    opaque = any(isinstance(each, ast.Starred | ast.Call) for given in call.args for each in ast.walk(given))
    if mixed or opaque or outer & inner or names_read(scopes[1][1]) & outer:
        return None
    axes = [["0" if each & names else "None" for each in reads] for names in (inner, outer)]
    if any("0" not in each for each in axes):
        return None
    return PairAxes(*(f"({', '.join(each)})" if "None" in each else "" for each in axes))


def _stored(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


#: Comprehensions that keep all results in order.
_LISTS = ast.ListComp | ast.GeneratorExp

#: Expressions that assign variables anew for each call inside of them.
_BINDING = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.Lambda


def _has(node: ast.AST, call: ast.Call) -> bool:
    return any(each is call for each in ast.walk(node))


def _varies(argument: ast.expr, stored: set[str]) -> bool:
    return bool(names_read(argument) & stored) or any(isinstance(each, ast.Call) for each in ast.walk(argument))


def _is_elementwise_in(statement: ast.AST, call: ast.Call) -> bool:
    """Return whether a comprehension, or the like, in a statement makes a call without what another one returned."""
    return any(_is_elementwise(each, call) for each in ast.walk(statement))


def _is_elementwise(node: ast.AST, call: ast.Call) -> bool:
    """Return whether a node is a comprehension, or a call of ``map`` or ``vectorize``, that makes the call."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return _is_in(call, node.elt)
    if not isinstance(node, ast.Call) or last_name(node.func) not in ("map", "vectorize") or not node.args:
        return False
    mapped = node.args[0]
    return isinstance(mapped, ast.Lambda) and _is_in(call, mapped.body)


def _is_in(call: ast.Call, body: ast.expr) -> bool:
    """Return whether an expression makes a call, whose arguments do not depend on what becomes of its result."""
    changed = {each.target.id for each in ast.walk(body) if isinstance(each, ast.NamedExpr)}
    changed |= given_with(body, {call})
    return _has(body, call) and not changed & names_read(call)
