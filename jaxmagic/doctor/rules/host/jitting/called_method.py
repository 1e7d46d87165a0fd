"""Finds the method of an object, such as one of a library, that a loop calls, and that could be jitted as it is."""

from __future__ import annotations

import ast

from .....records.call_stack import Frame
from .....records.note import Note, note
from ....record.evidence import Evidence
from ...rewriting.syntax import stored, tree_of
from ..syntax import around, function_around, loop_around, own_nodes


def method_remedy(line: Frame | None, evidence: Evidence) -> Note | None:
    """Return the advice to jit the method that a line in a loop calls; ``None`` if it calls none, or several.

    Nor may another line in a loop lead to operations under ``jax.vmap`` or the like. The method of another object is
    another function: where the function around the loop makes the object, jit compiles for each.
    """
    called = "" if line is None else method_in_loop(line)
    others = [
        at
        for each in evidence.programs or ()
        if each.transformed and line not in (at := each.called_at, *each.called_from)
    ]
    if line is None or not called or any(at is not None and loop_around(at) is not None for at in others):
        return None
    function, owner = function_around(line), called.partition(".")[0]
    anew = function is not None and owner in stored(function.body)
    return note("doctor.not_jitted_method", called=called, anew=int(anew))


def calls_at(line: Frame) -> list[ast.Call]:
    """Return the calls that are written at a line, in its statement."""
    nodes = (each for node in around(line)[-1:] for each in (node, *own_nodes(node)))
    calls = (each for each in nodes if isinstance(each, ast.Call))
    return [each for each in calls if each.lineno <= line.line <= (each.end_lineno or each.lineno)]


def method_in_loop(line: Frame) -> str:
    """Return the only call at a line in a loop, if it is the method of a variable; empty if not.

    The loop does not assign the variable, which is no module.
    """
    loop, calls = loop_around(line), calls_at(line)
    if loop is None or len(calls) != 1 or not isinstance(function := calls[0].func, ast.Attribute):
        return ""
    owner = function.value
    nodes = [*ast.walk(tree_of(line.file) or ast.Module([], []))]
    modules = {
        (each.asname or each.name).partition(".")[0]
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in node.names
    }
    fixed = isinstance(owner, ast.Name) and owner.id not in modules | stored([loop])
    return ast.unparse(function) if fixed else ""
