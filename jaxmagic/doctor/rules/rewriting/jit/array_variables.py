"""Tells which variables of a function are arrays of JAX or containers in all of its calls."""

from __future__ import annotations

import ast
from collections.abc import Set

from ....record.evidence import Evidence
from ...host.syntax import Function, own_nodes
from ..meanings import Paths, path_at
from ..numbers.python_numbers import assignments
from ..syntax import last_name, parameters, stored, tree_run
from .arguments import given_by
from .type_tests import KEPT


def arrays_in(function: Function, file: str, evidence: Evidence, paths: Paths) -> set[str]:
    """Return the variables of a function that are arrays of JAX or containers in all calls, as far as is known.

    Args:
        function: the function.
        file: the file or cell that defines it.
        evidence: what the code reads.
        paths: what the names in the function stand for.
    """
    read = {
        each.path
        for each in evidence.inputs
        if each.kind == "jax array" or (each.kind == "other" and each.type in KEPT)
    }
    if (evidence.code or "").rpartition(".")[2] == function.name:
        given: dict[str, list[ast.expr]] = {name: [ast.Name(name, ast.Load())] for name in parameters(function)}
    else:
        tree = tree_run(file, evidence)
        calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
        inside = {id(node) for each in ast.walk(tree) if isinstance(each, Function) for node in own_nodes(each)}
        own = [each for each in calls if last_name(each.func) == function.name]
        if any(id(each) in inside for each in own):  # where inputs are known by other names
            return set()
        given = dict[str, list[ast.expr]]()
        for name, value in (each for call in own for each in given_by(call, function)):
            given.setdefault(name, []).append(value)
    found = {name for name, values in given.items() if all(ast.unparse(each) in read for each in values)}
    assigned = list(assignments(function))
    others = {name for name, value in assigned if value is None or not _is_array(value, found, paths)}
    return found - others - (stored(function.body) - {name for name, _ in assigned})


def _is_array(value: ast.expr, arrays: Set[str], paths: Paths) -> bool:
    """Return whether an expression is an array of JAX if some variables are, as far as its syntax tells."""
    match value:
        case ast.Name(id=name):
            return name in arrays
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if name in arrays:
            return attr not in ("item", "tolist", "get", "pop")
        case ast.Call(func=called):
            path = path_at(called, paths)
            return path.startswith("jax.") and not path.endswith("device_get")
        case ast.BinOp(left=left, right=right):
            return _is_array(left, arrays, paths) or _is_array(right, arrays, paths)
        case ast.UnaryOp(operand=operand):
            return not isinstance(value.op, ast.Not) and _is_array(operand, arrays, paths)
        case ast.IfExp(body=body, orelse=other):
            return _is_array(body, arrays, paths) and _is_array(other, arrays, paths)
    return False
