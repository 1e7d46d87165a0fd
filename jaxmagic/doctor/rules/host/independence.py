"""Tells from the syntax whether the calls of a function need the results of each other."""

from __future__ import annotations

import ast

from ....records.call_stack import Frame
from ..rewriting.syntax import last_name
from .dependencies import carried_by, derived_from, given_with, names_read, targets_of
from .syntax import around, calls_of, loop_around


def is_independent(line: Frame, function: str) -> bool:
    """Return whether the calls of a function at a line do not need the result of an earlier one, as names tell.

    They do not if they stand in a comprehension, in a lambda that is passed to ``map`` or ``np.vectorize``, or in a
    loop that counts or goes over values, and their arguments are not computed from anything that the loop computes
    with them, nor carried from round to round: those of all rounds are not known before the loop.
    """
    nodes = around(line)
    calls = [call for node in nodes[-1:] for call in calls_of(function, node, line)]
    if len(calls) != 1:
        return False
    (call,) = calls
    statement = nodes[-1]
    if any(_is_elementwise(each, call) for each in ast.walk(statement)):
        return True
    loop = loop_around(line)
    if not isinstance(loop, ast.For):
        return False
    derived = derived_from(loop, targets_of(statement, [call]) | given_with(statement, {call}), objects=True)
    return not (derived | carried_by(loop)) & {name for each in (call, loop.iter) for name in names_read(each)}


def mapped_axes(line: Frame, function: str) -> str:
    """Return the ``in_axes`` of ``jax.vmap`` for the calls at a line, such as ``"(None, 0)"``.

    An argument is the same in all calls if it reads nothing that the loop or the lambda around them assigns, and
    calls nothing. The axes are empty if all arguments vary, and if they cannot be written.
    """
    nodes = around(line)
    calls = [call for node in nodes[-1:] for call in calls_of(function, node, line)]
    if len(calls) != 1 or calls[0].keywords or any(isinstance(each, ast.Starred) for each in calls[0].args):
        return ""
    (call,) = calls
    scopes = [each for each in ast.walk(nodes[-1]) if isinstance(each, _BINDING) and _has(each, call)]
    loop = loop_around(line)
    stored = {
        each.id if isinstance(each, ast.Name) else each.arg
        for scope in (*scopes, *([] if loop is None else [loop]))
        for each in ast.walk(scope)
        if isinstance(each, ast.arg) or (isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    }
    axes = ["0" if _varies(each, stored) else "None" for each in call.args]
    return f"({', '.join(axes)})" if {"0", "None"} <= set(axes) else ""


#: Expressions that assign variables anew for each call inside of them.
_BINDING = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.Lambda


def _has(node: ast.AST, call: ast.Call) -> bool:
    return any(each is call for each in ast.walk(node))


def _varies(argument: ast.expr, stored: set[str]) -> bool:
    return bool(names_read(argument) & stored) or any(isinstance(each, ast.Call) for each in ast.walk(argument))


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
