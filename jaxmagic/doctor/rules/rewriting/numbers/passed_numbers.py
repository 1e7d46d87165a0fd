"""Tells which Python numbers the calls of a function pass, and which values variables have, as far as is known."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from ....record.evidence import Evidence
from ...host.syntax import Function, own_nodes
from ..jit.arguments import given_by
from ..syntax import last_name, loaded, parameters, stored, tree_run
from .narrow import Number, computed, either, known
from .python_numbers import assignments, is_number

#: Callers of callers are followed up to this height.
_HIGHEST = 3

#: Variables that are computed of others, and these of others, are followed so often.
_MOST_PASSES = 5

Numbers = dict[str, Number]


def numbers_passed(function: Function, file: str, evidence: Evidence, highest: int = _HIGHEST) -> Numbers:
    """Return the parameters that get a Python number in some call, as far as the code around tells."""
    read = _read(evidence)
    if (evidence.code or "").rpartition(".")[2] == function.name:  # its arguments have the names of the parameters
        return {name: number for name, number in read.items() if name in parameters(function)}
    tree = tree_run(file, evidence)
    top = variables(tree, read)
    found: dict[str, list[Number]] = {}
    for scope in (tree, *(each for each in ast.walk(tree) if isinstance(each, Function) and each is not function)):
        calls = [
            each for each in own_nodes(scope) if isinstance(each, ast.Call) and last_name(each.func) == function.name
        ]
        inside = _inside(scope, top, file, evidence, highest) if calls and isinstance(scope, Function) else top
        for name, value in (given for call in calls for given in given_by(call, function)):
            if _is_numeric(value, inside):
                found.setdefault(name, []).append(computed(value, inside) or Number())
    return {name: either(numbers) for name, numbers in found.items()}


def numbers_in(scope: ast.AST, file: str, evidence: Evidence) -> Numbers:
    """Return the variables of a function or module that are a Python number at some time."""
    top = variables(tree_run(file, evidence), _read(evidence))
    return _inside(scope, top, file, evidence, _HIGHEST) if isinstance(scope, Function) else top


def _inside(scope: Function, top: Numbers, file: str, evidence: Evidence, highest: int) -> Numbers:
    """Return the variables of a function that are a Python number at some time."""
    outside = {name: number for name, number in top.items() if name not in parameters(scope) | stored(scope.body)}
    begun = defaults(scope)
    for name, number in numbers_passed(scope, file, evidence, highest - 1).items() if highest else ():
        begun[name] = either([begun[name], number]) if name in begun else number
    return variables(scope, outside | begun)


def defaults(function: Function) -> Numbers:
    """Return the parameters whose defaults are numbers."""
    named = [*function.args.posonlyargs, *function.args.args]
    pairs = [*zip(reversed(named), reversed(function.args.defaults), strict=False)]
    pairs += [
        (each, value)
        for each, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        if value is not None
    ]
    found = ((each.arg, computed(value, {})) for each, value in pairs if _is_numeric(value, {}))
    return {name: number or Number() for name, number in found}


def variables(scope: ast.AST, begun: Mapping[str, Number]) -> Numbers:
    """Return the variables of a function or module that are a Python number at some time, with their values.

    Args:
        scope: the function or module.
        begun: the numbers that it gets or reads.
    """
    found = {**begun}
    counted = [*ast.walk(scope)]
    growing = {name for loop in counted if isinstance(loop, ast.For | ast.While) for name in _growing(loop)}
    assigns = [(name, value) for name, value in assignments(scope) if value is not None]
    for _ in range(_MOST_PASSES):
        values: dict[str, list[Number]] = {name: [number] for name, number in begun.items()}
        for name, value in assigns:
            if hasattr(value, "lineno") or isinstance(value, ast.BinOp):  # others stand for what a loop counts
                if _is_numeric(value, found):
                    values.setdefault(name, []).append(computed(value, found) or Number())
            else:
                values.setdefault(name, [])
        for name, number in (each for node in own_nodes(scope) for each in _counted(node, found)):
            values.setdefault(name, []).append(number)
        joined = {name: either(each) if each else Number(whole=True) for name, each in values.items()}
        new = {name: each._replace(pairs=()) if name in growing else each for name, each in joined.items()}
        if new == found:
            break
        found = new
    return found


def _growing(loop: ast.AST) -> Iterator[str]:
    """Yield the variables that a loop computes of themselves, which have other values in each round."""
    for name, value in assignments(loop):
        if value is not None and name in loaded([value]):
            yield name


def _counted(node: ast.AST, numbers: Numbers) -> Iterator[tuple[str, Number]]:
    """Yield the variables of a loop that are numbers which are written out, or those of a ``range()``."""
    match node:
        case (
            ast.For(target=ast.Name(id=name), iter=iterated)
            | ast.comprehension(target=ast.Name(id=name), iter=iterated)
        ):
            pass
        case _:
            return
    match iterated:
        case ast.Call(func=ast.Name(id="range"), args=args):
            yield name, _range([computed(each, numbers) for each in args])
        case ast.Tuple(elts=items) | ast.List(elts=items) if items:
            found = [computed(each, numbers) for each in items]
            if all(each is not None for each in found):
                yield name, either(each for each in found if each is not None)


def _range(ends: Collection[Number | None]) -> Number:
    """Return the first values of a range, one in the middle and the last one."""
    given = [each.pairs[-1][0] for each in ends if each is not None and each.pairs]
    if len(given) < len(ends) or not all(isinstance(each, int) for each in given):
        return Number(whole=True)
    try:
        counted = range(*given)
    except (TypeError, ValueError):
        return Number(whole=True)
    return known([*counted[:2], *counted[len(counted) // 2 :][:1], *counted[-1:]]) if counted else Number(whole=True)


def _is_numeric(value: ast.expr, numbers: Mapping[str, Number]) -> bool:
    """Return whether an expression is a number, and no text, flag or None."""
    constants = (each.value for each in ast.walk(value) if isinstance(each, ast.Constant))
    others = any(isinstance(each, str | bytes | bool | None) for each in constants)
    if others or isinstance(value, ast.JoinedStr):
        return False
    return is_number(value, {*numbers}) or computed(value, numbers) is not None


def _read(evidence: Evidence) -> Numbers:
    """Return the numbers that the code reads, also as attributes."""
    numbers = ((each.path, each.value) for each in evidence.inputs if each.kind == "number")
    return {path: Number() if value is None else known([value]) for path, value in numbers}
