"""Tells waits in a loop from those of one call, which reads the results of a loop after it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from .....records.call_stack import Frame
from ....record.evidence import Evidence, HostWait
from ...rewriting.meanings import path_at, paths_in
from ...rewriting.syntax import last_name, tree_of_code
from ..syntax import Function, around, function_around

#: Functions in which JAX waits, one array after the other, when a list of arrays is read.
_DEVICE_GET = "device_get"
_READ_BY_NUMPY = "__array__", "__buffer__"


def is_single_read(wait: HostWait, evidence: Evidence) -> bool:
    """Return whether the waits of a line are those of a single call, as ``jax.device_get(losses)`` after a loop.

    The line has to run once, as far as the syntax tells: it and the calls that lead to it are in no loop.

    Args:
        wait: the waits of a line.
        evidence: the code, and what its names stand for.
    """
    if wait.library or not wait.stack or wait.function not in (_DEVICE_GET, *_READ_BY_NUMPY):
        return False
    line = wait.stack[0]
    nodes = around(line)
    paths = paths_in(function_around(line) or nodes[0], line.file, evidence.names) if nodes else {}

    def reads(call: ast.Call) -> bool:
        if not call.lineno <= line.line <= (call.end_lineno or 0):
            return False
        if wait.function == _DEVICE_GET:
            return last_name(call.func) == _DEVICE_GET
        return path_at(call.func, paths).startswith("numpy.")

    return _runs_once(_scope(line, evidence), reads) and all(
        _runs_once(_scope(outer, evidence), _calling(inner.function), single=True)
        for inner, outer in pairwise(wait.stack)
    )


def is_in_loop(wait: HostWait, evidence: Evidence) -> bool:
    """Return whether a loop of the user's calls the function that has the line of a wait, directly or not."""
    return any(
        any(_calls(_scope(outer, evidence), _calling(inner.function), repeated=True))
        for inner, outer in pairwise(wait.stack)
    )


def _calling(function: str) -> Callable[[ast.Call], bool]:
    return lambda call: last_name(call.func) == function


def _scope(line: Frame, evidence: Evidence) -> Sequence[ast.AST]:
    """Return what runs in the same function as a line; the code, if the line is a magic."""
    nodes = around(line)
    if not nodes:
        return []
    if isinstance(nodes[-1], ast.Pass):
        return tree_of_code(evidence.code).body
    if line.function == "<lambda>":
        lambdas = (each for each in ast.walk(nodes[-1]) if isinstance(each, ast.Lambda))
        return [each.body for each in lambdas if each.lineno <= line.line <= (each.end_lineno or 0)]
    scope = function_around(line) or nodes[0]
    return scope.body if isinstance(scope, Function | ast.Module) else []


def _runs_once(scope: Sequence[ast.AST], wanted: Callable[[ast.Call], bool], *, single: bool = False) -> bool:
    """Return whether the calls that are wanted run once, each time that a scope runs: there are some, or one."""
    once, again = list(_calls(scope, wanted)), list(_calls(scope, wanted, repeated=True))
    return bool(once) and not again and not (single and len(once) > 1)


def _calls(
    scope: Sequence[ast.AST], wanted: Callable[[ast.Call], bool], *, repeated: bool = False, inside: bool = False
) -> Iterator[ast.Call]:
    """Yield the calls that are wanted in a scope, outside of its loops or, if `repeated`, inside."""
    for node in scope:
        if isinstance(node, ast.Call) and inside == repeated and wanted(node):
            yield node
        again = _repeated(node)
        for child in ast.iter_child_nodes(node):
            yield from _calls([child], wanted, repeated=repeated, inside=inside or child in again)


def _repeated(node: ast.AST) -> Sequence[ast.AST]:
    """Return the parts of a node that may run several times, or later, when it runs."""
    match node:
        case ast.For() | ast.AsyncFor():
            return node.body
        case ast.While():
            return [node.test, *node.body]
        case ast.DictComp():
            return [node.key, node.value, *node.generators[1:]]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return [node.elt, *node.generators[1:]]
        case ast.comprehension():
            return node.ifs
        case ast.Lambda() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return list(ast.iter_child_nodes(node))
    return []
