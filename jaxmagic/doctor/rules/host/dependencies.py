"""Follows values from variable to variable, as the syntax tells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..rewriting.syntax import last_name
from .syntax import Function, assigned


def names_read(node: ast.AST) -> set[str]:
    """Return the variables and attributes that an expression reads, but for lengths and for what it calls."""
    found: set[str] = set()
    pending: list[ast.AST] = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, ast.Call):
            if isinstance(current.func, ast.Attribute):
                pending.append(current.func.value)
            if not (isinstance(current.func, ast.Name) and current.func.id == "len"):
                pending += [*current.args, *current.keywords]
            continue
        if isinstance(current, ast.Attribute) and isinstance(current.value, ast.Name):
            found |= {ast.unparse(current), current.value.id}
        elif isinstance(current, ast.Name):
            found.add(current.id)
        else:
            pending += ast.iter_child_nodes(current)
    return found


def derived_from(scope: ast.AST, names: set[str], *, objects: bool = False, blocks: bool = False) -> set[str]:
    """Return some variables, and those that the statements of a piece of code compute from them.

    Args:
        scope: the code.
        names: the variables.
        objects: whether objects count as well that are passed one of these values, as they may keep it.
        blocks: whether the items of loops over these values count as well, and what is assigned or not by conditions
            on them.
    """
    found = set(names)
    statements = [each for each in ast.walk(scope) if isinstance(each, ast.stmt) and not _has_body(each)]
    compound = [each for each in ast.walk(scope) if isinstance(each, ast.For | ast.If | ast.While)] if blocks else []
    while True:
        before = len(found)
        for block in compound:
            if names_read(block.iter if isinstance(block, ast.For) else block.test) & found:
                found |= _set_by(block)
        for statement in statements:
            if names_read(statement) & found and (_loads(statement) & found):
                found |= targets_of(statement, None)
                if objects:
                    values = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id in found]
                    found |= given_with(statement, set(values))
        if len(found) == before:
            return found


def carried_by(loop: ast.AST) -> set[str]:
    """Return the variables that a loop computes from their values in the round before, but no counters."""
    statements = [each for each in ast.walk(loop) if isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign)]
    assigns = [
        (targets_of(each, None), _loads(each))
        for each in statements
        if not (isinstance(each, ast.AugAssign) and isinstance(each.value, ast.Constant))
    ]
    assigned_in = {name for targets, _ in assigns for name in targets}
    return {
        name
        for name in assigned_in
        if any(name in targets and reads & derived_from(loop, {name}) for targets, reads in assigns)
    }


def given_with(node: ast.AST, values: set[ast.Call] | set[ast.Name]) -> set[str]:
    """Return the variables whose methods are called with some values, or that are passed together with them."""
    found: set[str] = set()
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or call in values or last_name(call.func) == "print":
            continue
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(value in values for argument in arguments for value in ast.walk(argument)):
            owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            passed = [argument for argument in arguments if isinstance(argument, ast.Name | ast.Attribute)]
            found |= {name for one in (*owner, *passed) for name in names_read(one)}
    return found


def _set_by(block: ast.For | ast.If | ast.While) -> set[str]:
    """Return the items of a loop, or what is assigned under a condition."""
    if isinstance(block, ast.For):
        return set(_roots(block.target))
    return {name for each in ast.walk(block) if isinstance(each, ast.stmt) for name in targets_of(each, None)}


def _has_body(node: ast.AST) -> bool:
    return isinstance(getattr(node, "body", None), list) or isinstance(node, Function)


def _loads(statement: ast.stmt) -> set[str]:
    value = getattr(statement, "value", None)
    read = names_read(value) if isinstance(value, ast.AST) else set()
    if isinstance(statement, ast.AugAssign):
        read |= names_read(statement.target)
    return read


def targets_of(statement: ast.AST, reads: list[ast.Call] | None) -> set[str]:
    """Return what a statement assigns, or what a method such as ``append`` changes.

    Args:
        statement: the statement.
        reads: where a tuple is assigned to a tuple, only targets count whose value has one of these calls in it.
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
