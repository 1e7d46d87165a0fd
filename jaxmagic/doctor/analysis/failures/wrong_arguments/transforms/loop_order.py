"""Finds the order of the arguments of a loop by what they are, where only one order is possible."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Literal

from .....record.failing_code import Operand

#: What a function returns, as far as its syntax tells.
Returned = Literal["bool", "other", ""]

#: Functions and methods that return bools.
_BOOLS = (
    *("any", "all", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "isfinite", "isnan"),
    *("isinf", "isclose", "allclose", "array_equal", "logical_and", "logical_or", "logical_not", "logical_xor"),
    *("lt", "le", "gt", "ge", "eq", "ne"),
)

#: The types of integers of JAX and NumPy without axes.
_INTEGER = re.compile(r"u?i\d+\[\]")

#: Types that have no axis that ``scan()`` could iterate over.
_NUMBERS = "int", "float", "complex", "bool"


def order_of(
    called: str, call: ast.Call, functions: Sequence[int], operands: Sequence[Operand], returned: Sequence[str]
) -> list[int] | None:
    """Return the arguments by position in the order in which a loop takes them; ``None`` if it is not evident.

    Args:
        called: the loop, such as ``"scan"``.
        call: the call.
        functions: the positions of the functions.
        operands: the arguments; those by position first.
        returned: what each of the functions returns, as far as its syntax tells.
    """
    positional = [each for each in operands if each.keyword is None]
    if len(positional) != len(call.args) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    named = {each.arg for each in call.keywords}
    others = [place for place in range(len(call.args)) if place not in functions]
    given = [positional[place] for place in others]
    if called == "fori_loop" and len(functions) == 1:
        return _of_fori_loop(call, [*functions], others, given, named)
    if called == "while_loop" and len(functions) == 2:
        ordered = _of_while_loop(functions, given, returned)
        return [*ordered, *others] if ordered and len(others) == 1 and not named else None
    if called == "scan" and len(functions) == 1:
        ordered = _of_scan(others, given, named)
        return None if ordered is None else [*functions, *ordered]
    if called in ("map", "associative_scan") and len(functions) == len(others) == 1:
        return [*functions, *others]
    return None


def _of_fori_loop(
    call: ast.Call, functions: list[int], others: list[int], given: list[Operand], named: set[str | None]
) -> list[int] | None:
    """Return the bounds, the function and what the loop begins with, of which just one order lets it iterate."""
    if len(others) == 2 and "init_val" in named and named <= {"init_val", "unroll"}:
        return [*others, *functions] if all(map(_is_bound, given)) and _iterates(call, *others) else None
    if len(others) != 3 or not named <= {"unroll"}:
        return None
    possible = []
    for begin in range(3):
        lower, upper = (each for each in range(3) if each != begin)
        are_bounds = _is_bound(given[lower]) and _is_bound(given[upper])
        if are_bounds and given[begin].type is not None and _iterates(call, others[lower], others[upper]):
            possible.append((begin, [others[lower], others[upper], *functions, others[begin]]))
    begin, order = possible[0] if len(possible) == 1 else (0, None)
    is_number = given[begin].shape == ()  # unless it is the last, it may be a bound of a wrong type
    return order if begin == 2 or not is_number else None


def _is_bound(operand: Operand) -> bool:
    return operand.type == "int" or bool(_INTEGER.fullmatch(operand.type or ""))


def _iterates(call: ast.Call, lower: int, upper: int) -> bool:
    """Return whether a loop has a step, as far as its bounds are written as numbers."""
    first, last = call.args[lower], call.args[upper]
    if isinstance(first, ast.Constant) and isinstance(last, ast.Constant):
        return isinstance(first.value, int) and isinstance(last.value, int) and first.value < last.value
    return ast.unparse(first) != ast.unparse(last) and not (isinstance(last, ast.Constant) and last.value == 0)


def _of_while_loop(functions: Sequence[int], given: list[Operand], returned: Sequence[str]) -> list[int] | None:
    """Return the condition and the body: a function that compares is the condition, unless the body may as well."""
    if sorted(returned) == ["bool", "other"]:
        return [functions[returned.index("bool")], functions[returned.index("other")]]
    begun = given[0].type if len(given) == 1 else None
    if sorted(returned) == ["", "bool"] and begun is not None and not begun.startswith("bool"):
        return [functions[returned.index("bool")], functions[returned.index("")]]
    return None


def _of_scan(others: list[int], given: list[Operand], named: set[str | None]) -> list[int] | None:
    """Return what a scan begins with, and what it iterates over: what has no axis cannot be the latter."""
    if len(others) == 1 and "init" not in named:
        return others if named & {"xs", "length"} else None
    if len(others) != 2 or named & {"init", "xs", "f"}:
        return None
    none = [each.type == "NoneType" for each in given]
    scanned = [each.type == "NoneType" or _has_axis(each) is True for each in given]
    begun = [_has_axis(each) is False for each in given]
    if any(none) and not all(none) and "length" in named:
        return [others[none.index(False)], others[none.index(True)]]
    fitting = [place for place in (0, 1) if begun[place] and scanned[1 - place]]
    return [others[fitting[0]], others[1 - fitting[0]]] if fitting else None


def _has_axis(operand: Operand) -> bool | None:
    """Return whether all arrays in a value have an axis; ``None`` if that is unknown."""
    if operand.items:
        known = [_has_axis(each) for each in operand.items]
        return False if False in known else None if None in known else True
    if operand.type in _NUMBERS:
        return False
    return None if operand.shape is None else bool(operand.shape)


def returned_by(function: ast.Lambda | ast.FunctionDef) -> Returned:
    """Return whether a function returns a bool, or certainly none, as far as its syntax tells.

    >>> [returned_by(ast.parse(each).body[0].value) for each in ("lambda c: c < 5", "lambda c: c + 1", "lambda c: c")]
    ['bool', 'other', '']
    """
    if isinstance(function, ast.Lambda):
        return _kind(function.body)
    inner = {
        id(node)
        for each in ast.walk(function)
        if isinstance(each, ast.FunctionDef | ast.Lambda) and each is not function
        for node in ast.walk(each)
    }
    values = [each.value for each in ast.walk(function) if isinstance(each, ast.Return) and id(each) not in inner]
    kinds = {"" if each is None else _kind(each) for each in values}
    return kinds.pop() if len(kinds) == 1 else ""


def _kind(node: ast.expr) -> Returned:
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return "bool"
        case ast.BoolOp(values=sides):
            return "bool" if all(_kind(each) == "bool" for each in sides) else ""
        case ast.UnaryOp(op=ast.Invert(), operand=inside):
            return _kind(inside)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return "bool" if _kind(left) == _kind(right) == "bool" else ""
        case ast.BinOp(left=left, right=right):
            return "" if "bool" in (_kind(left), _kind(right)) else "other"
        case ast.Tuple() | ast.List() | ast.Dict():
            return "other"
        case ast.Call(func=ast.Attribute(attr=name)) if name in _BOOLS:
            return "bool"
    return ""
