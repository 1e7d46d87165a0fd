"""Tells what a function returns that is something else under jit: Python numbers, and dictionaries in their order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....record.evidence import Evidence
from ...host.syntax import Function, own_nodes
from ..loops.computed_numbers import is_risky
from ..loops.python_numbers import assignments, is_number, python_numbers
from ..syntax import last_name, loaded, parameters, tree_run
from .arguments import given_by
from .caveats import Caveats

#: Longer expressions are not shown.
_LONGEST = 50


def changed_results(function: Function, file: str, evidence: Evidence) -> Caveats:
    """Return facts about numbers and dictionaries of a function that jit would change; none without any.

    A number that it gets becomes an array under jit, of 32 bits by default, and so does what it computes of it. A
    dictionary is returned with its keys sorted.
    """
    given = _numbers_given(function, file, evidence)
    numbers = python_numbers(function, given)
    of_given = given | (numbers - python_numbers(function))
    computed = [
        each
        for node in own_nodes(function)
        for each in _changed(node, numbers)
        if loaded([each]) & of_given and is_number(each, numbers)
    ]
    inner = {id(part) for each in computed for part in ast.walk(each) if part is not each}
    outer = (ast.unparse(each) for each in computed if id(each) not in inner)
    texts = dict.fromkeys(each for each in outer if len(each) <= _LONGEST)
    facts: Caveats = {"numbers": ", ".join(texts) or function.name} if computed else {}
    keys = next((keys for node in own_nodes(function) if (keys := _keys(node))), [])
    return facts | {"sorts": ", ".join(keys)} if keys else facts


def _changed(node: ast.AST, numbers: set[str]) -> Iterator[ast.expr]:
    """Yield the parts of what is returned, and arithmetic that may need more than 32 bits."""
    match node:
        case ast.Return(value=ast.expr() as value):
            yield from _parts(value)
        case ast.BinOp() if is_number(node, numbers) and is_risky(node):
            yield node


def _parts(value: ast.expr) -> Iterator[ast.expr]:
    """Yield what a result is made of: what is in tuples, lists and dictionaries that are written out."""
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            yield from (inner for each in parts for inner in _parts(each))
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words):
            yield from (inner for each in words for inner in _parts(each.value))
        case _:
            yield value


def _keys(node: ast.AST) -> list[str]:
    """Return the keys of the first dictionary that is written out in a result, and is not sorted."""
    for each in ast.walk(node) if isinstance(node, ast.Return) else ():
        match each:
            case ast.Dict(keys=keys):
                texts = [key.value for key in keys if isinstance(key, ast.Constant)]
                found = [text for text in texts if isinstance(text, str)]
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words):
                found = [word.arg for word in words if word.arg is not None]
            case _:
                continue
        if found != sorted(found):
            return found
    return []


def _numbers_given(function: Function, file: str, evidence: Evidence) -> set[str]:
    """Return the parameters that get a Python number in some call, as far as the code around tells."""
    read = {each.path for each in evidence.inputs if each.kind == "number"}
    if (evidence.code or "").rpartition(".")[2] == function.name:  # its arguments have the names of the parameters
        return read & parameters(function)
    tree = tree_run(file, evidence)
    found: set[str] = set()
    for scope in (tree, *(each for each in ast.walk(tree) if isinstance(each, Function) and each is not function)):
        calls = [
            each for each in own_nodes(scope) if isinstance(each, ast.Call) and last_name(each.func) == function.name
        ]
        known = _may_be_numbers(scope, read if scope is tree else set()) if calls else set()
        found |= {name for call in calls for name, value in given_by(call, function) if _is_numeric(value, known)}
    return found


def _may_be_numbers(scope: ast.AST, read: set[str]) -> set[str]:
    """Return the variables of a function or module that are a Python number at some time."""
    found = set(read)
    if isinstance(scope, Function):
        named = [*scope.args.posonlyargs, *scope.args.args]
        defaults = zip(reversed(named), reversed(scope.args.defaults), strict=False)
        words = zip(scope.args.kwonlyargs, scope.args.kw_defaults, strict=True)
        found |= {each.arg for each, value in (*defaults, *words) if value is not None and _is_numeric(value, found)}
    assigns = list(assignments(scope))
    while new := {name for name, value in assigns if value is not None and _is_numeric(value, found)} - found:
        found |= new
    return found


def _is_numeric(value: ast.expr, numbers: set[str]) -> bool:
    """Return whether an expression is a number, and no text, flag or None."""
    constants = (each.value for each in ast.walk(value) if isinstance(each, ast.Constant))
    others = any(isinstance(each, str | bytes | bool | None) for each in constants)
    return not others and not isinstance(value, ast.JoinedStr) and is_number(value, numbers)
