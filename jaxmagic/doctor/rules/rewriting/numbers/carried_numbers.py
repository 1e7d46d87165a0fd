"""Tells whether Python numbers that a loop counts keep their values in a loop of JAX, which has 32 bits for them."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping

from ....record.evidence import Evidence
from ...host.syntax import Function
from ..syntax import loaded
from .narrow import Number, computed, either
from .passed_numbers import numbers_in, numbers_passed
from .python_numbers import assignments, is_number, python_numbers

#: Integers up to the first one, in steps up to the other one, stay below 32 bits for many rounds.
_LARGEST, _LARGEST_STEP = 2**30, 2**15

#: Floats up to the first one are exact if they are multiples of the other one: others lose digits in each round.
_LARGEST_FLOAT, _UNIT = 2**15, 2.0**-8


def keep_values(loop: ast.While, state: Iterable[str], scope: ast.AST, file: str, evidence: Evidence) -> bool:
    """Return whether the numbers among some variables have the same values, to 24 digits of two, in 32 bits.

    Args:
        loop: the loop, which carries the variables from round to round.
        state: the variables.
        scope: the function or module around it.
        file: its file.
        evidence: tells the values that are passed.
    """
    known = numbers_in(scope, file, evidence)
    passed = numbers_passed(scope, file, evidence) if isinstance(scope, Function) else {}
    numbers = python_numbers(scope, passed)
    counted = {*state} & (numbers | known.keys())
    inside = {id(each) for each in ast.walk(loop)}
    for name in counted:
        begins = [passed[name]] if name in passed else []
        begins += [
            computed(value, known) or Number()
            for each, value in assignments(scope)
            if each == name and value is not None and name not in loaded([value]) and id(value) not in inside
        ]
        updates = [value for each, value in assignments(loop) if each == name]
        if all(value is not None and is_number(value, {*numbers, *known}) for value in updates):
            begin = either(begins) if begins else known.get(name, Number())
            if not all(_keeps(name, value, begin, known) for value in updates if value is not None):
                return False
    return True


def _keeps(name: str, update: ast.expr, begin: Number, known: Mapping[str, Number]) -> bool:
    """Return whether a variable has the same value in 32 bits after any number of rounds that update it."""
    match update:
        case ast.BinOp(left=ast.Name(id=left), op=ast.Add() | ast.Sub(), right=step) if left == name:
            by = computed(step, known) or Number()
            return bool(begin.pairs and by.pairs) and all(_adds(*pair) for pair in _pairs(begin, by))
        case ast.BinOp(left=ast.Name(id=left), op=ast.Mult() | ast.Div(), right=factor) if left == name:
            by = computed(factor, known) or Number()
            floats = bool(begin.pairs) and all(isinstance(value, float) for value, _ in begin.pairs)
            return floats and bool(by.pairs) and all(math.frexp(value)[0] in (0.5, -0.5) for value, _ in by.pairs)
    return not loaded([update]) & {name}


def _pairs(one: Number, other: Number) -> Iterator[tuple[float, float]]:
    return ((value, step) for value, _ in one.pairs for step, _ in other.pairs)


def _adds(value: float, step: float) -> bool:
    """Return whether a step is added to a value in 32 bits."""
    if isinstance(value, int) and isinstance(step, int):
        return abs(value) <= _LARGEST and abs(step) < _LARGEST_STEP
    return all((each / _UNIT).is_integer() and abs(each) <= _LARGEST_FLOAT for each in (value, step))
