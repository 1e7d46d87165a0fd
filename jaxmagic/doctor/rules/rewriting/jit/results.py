"""Tells what a function returns that is something else under jit: Python numbers, and dictionaries in their order."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ....record.evidence import Evidence
from ...host.functions.functions_run import functions_run
from ...host.syntax import Function, own_nodes
from ..numbers.narrow import Number, computed, traced
from ..numbers.passed_numbers import Numbers, defaults, numbers_passed, variables
from ..numbers.python_numbers import is_number, python_numbers
from ..syntax import last_name, loaded, parameters
from .arguments import given_by
from .caveats import Caveats

#: Longer expressions are not shown.
_LONGEST = 50


#: Functions called by functions are followed down to this depth.
_DEEPEST = 3


def needs_numbers(results: Caveats) -> bool:
    """Return whether a function with these facts needs Python numbers that jit would make arrays of 32 bits."""
    return "numbers" in results or "wide" in results


def changed_results(function: Function, file: str, evidence: Evidence, static: Collection[str] = ()) -> Caveats:
    """Return facts about numbers and dictionaries of a function that jit would change; none without any.

    A number that it gets becomes an array under jit, of 32 bits by default, and so does what it computes of it. A
    dictionary is returned with its keys sorted.

    Args:
        function: the function.
        file: the file or cell that defines it.
        evidence: what is known about its calls.
        static: the parameters that stay Python numbers.
    """
    passed = numbers_passed(function, file, evidence)
    wide = [name for name, number in passed.items() if number.too_wide and name not in static]
    returned = [ast.unparse(each) for each in _returned(function, {*passed})]
    given = {name: number if name in static else traced(number) for name, number in passed.items()}
    called = [each for each, _ in functions_run(function, file, evidence)[1:]]
    texts = dict.fromkeys((*returned, *_narrowed(function, defaults(function) | given, called)))
    shown = [each for each in texts if len(each) <= _LONGEST]
    facts: Caveats = {"wide": ", ".join(sorted(wide))} if wide else {}
    facts |= {"numbers": ", ".join(shown) or function.name} if texts and not wide else {}
    keys = next((keys for node in own_nodes(function) if (keys := _keys(node))), [])
    return facts | {"sorts": ", ".join(keys)} if keys else facts


def narrowed(function: Function, given: Numbers, file: str, evidence: Evidence) -> list[str]:
    """Return the traced numbers that jit does not take, and the arithmetic that 32 bits may be too few for."""
    called = [each for each, _ in functions_run(function, file, evidence)[1:]]
    wide = [name for name, number in given.items() if number.traced and number.too_wide]
    return [*wide, *_narrowed(function, defaults(function) | given, called)]


def _returned(function: Function, given: set[str]) -> list[ast.expr]:
    """Return the parts of the results that are computed of given numbers alone."""
    numbers = python_numbers(function, given)
    of_given = given | (numbers - python_numbers(function))
    values = (each.value for each in own_nodes(function) if isinstance(each, ast.Return) and each.value is not None)
    parts = (part for each in values for part in _parts(each))
    return [each for each in parts if loaded([each]) & of_given and is_number(each, numbers)]


def _narrowed(function: Function, given: Numbers, called: list[Function], depth: int = _DEEPEST) -> Iterator[str]:
    """Yield the arithmetic of numbers alone that 32 bits may be too few for, also in functions that are called.

    Args:
        function: the function.
        given: the numbers that it gets.
        called: the user's functions that it may call.
        depth: how deep these calls are followed.
    """
    own = python_numbers(function, {*given}) | {*given}
    names = {name: number for name, number in variables(function, given).items() if name in own}
    inner = {each.name: each for each in called if each is not function} if depth else {}
    for statement in function.body:
        yield from _narrowed_in(statement, names)
        for call in (each for each in ast.walk(statement) if isinstance(each, ast.Call)):
            target = inner.get(last_name(call.func) or "")
            found = {} if target is None else {name: computed(value, names) for name, value in given_by(call, target)}
            passed = {name: number for name, number in found.items() if number is not None}
            if target is not None and any(each.traced for each in passed.values()):
                yield from _narrowed(target, defaults(target) | passed, called, depth - 1)


def _narrowed_in(node: ast.AST, numbers: dict[str, Number]) -> Iterator[str]:
    """Yield the outermost arithmetic of numbers alone in some syntax that may differ under jit."""
    if isinstance(node, ast.Lambda | Function):
        numbers = {name: number for name, number in numbers.items() if name not in parameters(node)}
    number = computed(node, numbers) if isinstance(node, ast.expr) and _is_read(node) else None
    if number is None:
        for each in ast.iter_child_nodes(node):
            yield from _narrowed_in(each, numbers)
    elif number.traced and number.differs:
        yield ast.unparse(node)


def _is_read(node: ast.expr) -> bool:
    return not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load)


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
