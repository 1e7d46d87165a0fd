"""Keeps arithmetic of Python numbers outside jit, where integers have 32 bits and floats 24 significant ones."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from ..numbers.narrow import Number, computed, traced
from ..numbers.python_numbers import (
    DIFFERING,
    LARGE,
    LARGE_FACTOR,
    assignments,
    is_number,
    is_risky,
    python_numbers,
    size_of_constant,
)
from ..syntax import loaded
from .loop_facts import assigns
from .round_parts import Place


class ComputedNumbers(ast.NodeTransformer):
    """Puts a parameter in place of ``1e-12 * i**6``, whose ``i`` is a Python number that varies.

    What indexes an array, or begins a slice, is small, and stays.

    So is ``1 + eps - 1``, which is another number in 32 bits.

    Args:
        place: the loop, and what is known of its variables.
        values: the numbers around the loop, with their values as far as they are known.

    Attributes:
        arguments: what is passed for these parameters.
    """

    def __init__(self, place: Place, values: Mapping[str, Number]) -> None:
        self.arguments: dict[str, str] = {}
        self._numbers = place.numbers
        kept = (values.keys() - assigns([place.loop])) | place.numbers
        self._values = {name: traced(number) for name, number in values.items() if name in kept}
        self._varying = assigns([place.loop]) & place.numbers

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> ast.AST:
        """Leave a comprehension as it is: its variables are numbers of Python under jit as well."""
        return node

    visit_GeneratorExp = visit_ListComp

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Leave an index as it is."""
        node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Leave the bounds of a slice as they are."""
        return node if ast.unparse(node.func).endswith("dynamic_slice_in_dim") else self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Replace arithmetic of numbers alone."""
        names = loaded([node]) & (self._numbers | self._values.keys())
        differs = any(isinstance(each, ast.BinOp) and isinstance(each.op, DIFFERING) for each in ast.walk(node))
        differs = differs or any(size_of_constant(each) >= LARGE for each in ast.walk(node))
        varies = names & self._varying and differs and is_number(node, self._numbers)
        number = None if varies else computed(node, self._values)
        if not varies and not (names and number is not None and number.differs):
            return self.generic_visit(node)
        text = ast.unparse(node)
        known = {value: name for name, value in self.arguments.items()}
        if text not in known:
            beside = f"_{len(self.arguments) + 1}" if self.arguments else ""
            known[text] = f"{min(names & self._varying or names)}_number{beside}"
            self.arguments[known[text]] = text
        return ast.Name(known[text], ast.Load())


def lose_digits(loop: ast.For, carry: Collection[str], function: ast.AST) -> bool:
    """Return whether Python numbers in a loop may need more than the 32 bits that a loop of JAX has for them.

    Args:
        loop: the loop.
        carry: the variables that it carries from round to round.
        function: the function around it.
    """
    numbers = python_numbers(function)
    values = {name: _values(name, function) for name in numbers & {*carry}}
    if multiply(carry, function):
        return True
    nodes = (node for each in values.values() for value in each if value for node in ast.walk(value))
    if any(size_of_constant(each) >= LARGE for each in nodes):
        return True
    inside = (node for each in loop.body for node in ast.walk(each) if isinstance(node, ast.BinOp))
    return any(is_risky(each) for each in inside if is_number(each, numbers) and loaded([each]) & numbers)


def multiply(names: Collection[str], function: ast.AST) -> bool:
    """Return whether an integer among some variables grows by more than a number at a time, as ``n = n * 3`` does.

    Args:
        names: the variables.
        function: the function or module around them.
    """
    values = {name: _values(name, function) for name in python_numbers(function) & {*names}}
    whole = {name for name, each in values.items() if all(value is not None and _is_whole(value) for value in each)}
    updates = (value for name in whole for value in values[name] if value is not None and loaded([value]) & whole)
    return any(_multiplies(each, whole) for each in updates)


def _values(name: str, function: ast.AST) -> list[ast.expr | None]:
    return [value for each, value in assignments(function) if each == name]


def _multiplies(value: ast.expr, whole: set[str]) -> bool:
    """Return whether an integer grows by more than a small number in each round."""
    for node in ast.walk(value):
        match node:
            case ast.BinOp(op=ast.Mult() | ast.Pow() | ast.LShift()) if loaded([node]) & whole:
                return True
            case ast.BinOp(left=left, op=ast.Add(), right=right) if (
                loaded([left]) & whole and loaded([right]) & whole
            ):
                return True
            case ast.BinOp(op=ast.Add() | ast.Sub(), right=right) if (step := computed(right, {})) is not None:
                if any(abs(value) >= LARGE_FACTOR for value, _ in step.pairs):
                    return True
    return False


def _is_whole(value: ast.expr) -> bool:
    """Return whether there is no float in an expression of numbers, as far as its syntax tells."""
    return not any(
        (isinstance(each, ast.Constant) and isinstance(each.value, float))
        or (isinstance(each, ast.BinOp) and isinstance(each.op, ast.Div))
        or isinstance(each, ast.Call | ast.Attribute)
        for each in ast.walk(value)
    )
