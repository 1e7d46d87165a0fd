"""Tells from the syntax whether a value that the code waits for decides what runs next."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ....records.call_stack import Frame
from ..rewriting.syntax import last_name
from .syntax import Function, around, assigned, function_around, loop_around

#: The functions that people call to read an array, by JAX's function that waits.
_READS = {
    "__float__": ("float",),
    "__int__": ("int", "round"),
    "__bool__": ("bool",),
    "__index__": ("int", "range"),
    "__complex__": ("complex",),
    "__array__": ("asarray", "array"),
    "__format__": ("format",),
    "__str__": ("print", "str"),
    "__repr__": ("print", "repr"),
}

#: Calls that read an array, whatever JAX's function is: each has one of these names.
_READ_ALWAYS = ("float", "int", "item", "tolist", "device_get", "asarray", "print", "str")

#: Methods of arrays that wait.
_METHODS = "item", "tolist", "block_until"

#: How surely an expression is the one that waits.
_UNSURE, _LIKELY, _SURE = 1, 2, 3


class _Parts(NamedTuple):
    """The expressions of a line: those that conditions consist of, and all others."""

    conditions: list[ast.expr]
    others: list[ast.AST]


def decides(line: Frame, function: str) -> bool:
    """Return whether the value for which the code waits at a line takes part in a condition.

    It does if the expression that waits is part of a condition on this line, or if a condition in the loop reads
    what it is assigned to, directly or through other variables.

    Args:
        line: the line that waits.
        function: the function of JAX that waits, such as ``"__float__"``.
    """
    nodes = around(line)
    if not nodes:
        return False
    parts = _parts(nodes, line.line)
    counters = _counters(nodes)
    inside = max((_certainty(each, function, counters) for each in parts.conditions), default=0)
    outside = max((_certainty(each, function, set()) for each in parts.others), default=0)
    if function == "__bool__" and outside < _SURE:
        return True  # Python asks for the truth of an array only in a condition, or in bool()
    if inside and inside >= outside:
        return True
    return bool(_read_by_conditions(line, nodes, function))


def is_independent(line: Frame, function: str) -> bool:
    """Return whether the calls of a function at a line do not need the result of an earlier one, as names tell.

    They do not if they stand in a comprehension, in a lambda that is passed to ``map`` or ``np.vectorize``, or in a
    loop that counts or goes over values, and their arguments are not computed from anything that the loop computes
    with them.
    """
    nodes = around(line)
    calls = [
        call
        for node in nodes[-1:]
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and last_name(call.func) == function
    ]
    if len(calls) != 1:
        return False
    (call,) = calls
    statement = nodes[-1]
    if any(_is_elementwise(each, call) for each in ast.walk(statement)):
        return True
    loop = loop_around(line)
    if not isinstance(loop, ast.For):
        return False
    derived = _derived(loop, _targets(statement, [call]) | _given(statement, {call}), objects=True)
    return not derived & {name for each in (call, loop.iter) for name in _names(each)}


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
    changed |= _given(body, {call})
    return any(each is call for each in ast.walk(body)) and not changed & _names(call)


def _parts(nodes: list[ast.AST], line: int) -> _Parts:
    """Divide the expressions of a line into those of conditions, and the others."""
    outer = [node for node in nodes[:-1] if isinstance(node, ast.If | ast.While)]
    conditions = [node.test for node in outer if _has(node.test, line)]
    others: list[ast.AST] = []
    pending: list[ast.AST] = [nodes[-1]]
    while pending:
        node = pending.pop()
        tests = _tests(node)
        conditions += [each for each in tests if _has(each, line)]
        body = getattr(node, "body", None)
        for each in ast.iter_child_nodes(node):
            is_later = isinstance(body, list) and isinstance(each, ast.stmt)
            if not is_later and not any(each is test for test in tests):
                others += [each] if isinstance(each, ast.Call | ast.FormattedValue | ast.Subscript) else []
                pending.append(each)
    return _Parts(conditions, [each for each in others if _has(each, line)])


def _has(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", None) or 0)


def _tests(node: ast.AST) -> list[ast.expr]:
    """Return the expressions whose value decides what else of a node runs."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return [test]
        case ast.BoolOp(values=values):
            return values[:-1]
        case ast.comprehension(ifs=ifs):
            return ifs
        case ast.Match(subject=subject):
            return [subject]
    return []


def _counters(nodes: list[ast.AST]) -> set[str]:
    """Return the names that the loops around a line count with, which are no arrays of a device."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            called, target = last_name(node.iter.func), node.target
            if called == "range" and isinstance(target, ast.Name):
                found.add(target.id)
            elif called == "enumerate" and isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
                found.add(target.elts[0].id)
    return found


def _certainty(node: ast.AST, function: str, counters: set[str]) -> int:
    """Return how surely an expression has the one that waits in it; 0 if it cannot be."""
    found = 0
    for each in ast.walk(node):
        if isinstance(each, ast.FormattedValue):
            found = max(found, _LIKELY if _names(each.value) - counters else 0)
        elif isinstance(each, ast.Call):
            name, method = last_name(each.func) or "", isinstance(each.func, ast.Attribute)
            values = {name for argument in (*each.args, *each.keywords) for name in _names(argument)}
            if method and name.startswith(_METHODS):
                found = max(found, _SURE if function == name else _LIKELY)
            elif not values - counters:
                continue
            elif name in _READS.get(function, (function,)):
                found = _SURE
            else:
                found = max(found, _LIKELY if name in _READ_ALWAYS else _UNSURE)
        elif isinstance(each, ast.Subscript) and function == "__index__":
            found = max(found, _UNSURE)
    return found


def _names(node: ast.AST) -> set[str]:
    """Return the variables and attributes that an expression reads, but for lengths and for what it calls."""
    found: set[str] = set()
    pending: list[ast.AST] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Call):
            if isinstance(each.func, ast.Attribute):
                pending.append(each.func.value)
            if not (isinstance(each.func, ast.Name) and each.func.id == "len"):
                pending += [*each.args, *each.keywords]
            continue
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
            found |= {ast.unparse(each), each.value.id}
        elif isinstance(each, ast.Name):
            found.add(each.id)
        else:
            pending += ast.iter_child_nodes(each)
    return found


def _read_by_conditions(line: Frame, nodes: list[ast.AST], function: str) -> set[str]:
    """Return the variables with the value, or computed from it, that conditions of the loop or function read."""
    statement = nodes[-1]
    scope = loop_around(line) or function_around(line) or nodes[0]
    reads = [each for each in ast.walk(statement) if isinstance(each, ast.Call) and _certainty(each, function, set())]
    derived = _derived(scope, _targets(statement, reads))
    tests = (test for each in ast.walk(scope) for test in _tests(each))
    return derived & {name for test in tests for name in _names(test)}


def _derived(scope: ast.AST, names: set[str], *, objects: bool = False) -> set[str]:
    """Return some variables, and those that the statements of a piece of code compute from them.

    Args:
        scope: the code.
        names: the variables.
        objects: whether all objects count that are handed one of these values, as they may keep it.
    """
    found = set(names)
    statements = [each for each in ast.walk(scope) if isinstance(each, ast.stmt) and not _has_body(each)]
    while True:
        before = len(found)
        for each in statements:
            if _names(each) & found and (_loads(each) & found):
                found |= _targets(each, None)
                if objects:
                    values = [node for node in ast.walk(each) if isinstance(node, ast.Name) and node.id in found]
                    found |= _given(each, set(values))
        if len(found) == before:
            return found


def _given(node: ast.AST, values: set[ast.Call] | set[ast.Name]) -> set[str]:
    """Return the variables whose methods are called with some values, or that are passed together with them."""
    found: set[str] = set()
    for each in ast.walk(node):
        if not isinstance(each, ast.Call) or each in values or last_name(each.func) == "print":
            continue
        arguments = [*each.args, *(keyword.value for keyword in each.keywords)]
        if any(value in values for argument in arguments for value in ast.walk(argument)):
            owner = [each.func.value] if isinstance(each.func, ast.Attribute) else []
            passed = [argument for argument in arguments if isinstance(argument, ast.Name | ast.Attribute)]
            found |= {name for one in (*owner, *passed) for name in _names(one)}
    return found


def _has_body(node: ast.AST) -> bool:
    return isinstance(getattr(node, "body", None), list) or isinstance(node, Function)


def _loads(statement: ast.stmt) -> set[str]:
    value = getattr(statement, "value", None)
    read = _names(value) if isinstance(value, ast.AST) else set()
    if isinstance(statement, ast.AugAssign):
        read |= _names(statement.target)
    return read


def _targets(statement: ast.AST, reads: list[ast.Call] | None) -> set[str]:
    """Return what a statement assigns, or what a method such as ``append`` changes.

    Args:
        statement: the statement.
        reads: of a tuple that is assigned to a tuple, only what has one of these expressions in it counts.
    """
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if reads is not None and len(
            targets
        ) == len(values):
            pairs = zip(targets, values, strict=True)
            chosen: Iterable[ast.expr] = [target for target, value in pairs if _holds(value, reads)]
        case ast.Assign(targets=targets):
            chosen = targets
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            chosen = [target]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="append" | "add" | "extend" | "update"))):
            chosen = [owner]
        case _:
            chosen = []
    return {name for each in chosen for name in _roots(each)} | {
        each.target.id for each in ast.walk(statement) if isinstance(each, ast.NamedExpr)
    }


def _holds(value: ast.AST, reads: list[ast.Call]) -> bool:
    return any(each is read for each in ast.walk(value) for read in reads)


def _roots(target: ast.expr) -> Iterator[str]:
    """Yield the variables and attributes that an assignment changes."""
    if isinstance(target, ast.Subscript | ast.Starred):
        yield from _roots(target.value)
    elif isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _roots(each)
    elif isinstance(target, ast.Attribute):
        yield ast.unparse(target)
    else:
        yield from assigned(target) or {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
