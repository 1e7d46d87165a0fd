"""Finds operands of a condition that have a value while a function is traced: types, sizes, numbers of Python."""

from __future__ import annotations

import ast

from ....record.failure import Failure
from ..expression import MOST_VALUES, Expression, value_named


def python_operand(failure: Failure, failing: Expression) -> str | None:
    """Return an operand beside the failing one in ``and`` or ``or`` that is a value of Python, and may guard it."""
    around = [
        each
        for each in ast.walk(failing.statement)
        if isinstance(each, ast.BoolOp) and any(failing.node is part for part in joined_conditions(each))
    ]
    if not around and isinstance(failing.node, ast.If | ast.While | ast.IfExp):
        around = [each for each in joined_conditions(failing.node.test) if isinstance(each, ast.BoolOp)]
    operands = [operand for each in around for operand in each.values]
    return next((ast.unparse(each) for each in operands if _is_python(failure, each)), None)


def joined_conditions(test: ast.expr) -> list[ast.expr]:
    """Return a condition and what it joins with ``and``, ``or`` and ``not``."""
    inner = test.values if isinstance(test, ast.BoolOp) else [test.operand] if isinstance(test, ast.UnaryOp) else []
    return [test, *(part for each in inner for part in joined_conditions(each))]


def _is_python(failure: Failure, operand: ast.expr) -> bool:
    """Return whether an operand is surely no traced value, such as ``y is None``, ``x.ndim > 1`` and ``n > 3``."""
    if isinstance(operand, ast.UnaryOp) and isinstance(operand.op, ast.Not):
        return _is_python(failure, operand.operand)
    if isinstance(operand, ast.Call):
        return ast.unparse(operand.func) in ("isinstance", "hasattr", "callable", "issubclass", "len")
    if isinstance(operand, ast.Compare) and all(isinstance(each, ast.Is | ast.IsNot) for each in operand.ops):
        return True
    if len(failure.values) >= MOST_VALUES:
        return False
    sides = [operand.left, *operand.comparators] if isinstance(operand, ast.Compare) else [operand]
    return not isinstance(operand, ast.Constant) and all(_is_plain(failure, each) for each in sides)


def _is_plain(failure: Failure, node: ast.expr) -> bool:
    """Return whether an expression is a constant, a variable that is not traced, or a size of an array."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "len"
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        names = [each.id for each in ast.walk(node.slice) if isinstance(each, ast.Name)]
        return _is_plain(failure, node.value) and all(value_named(failure, each) is None for each in names)
    if isinstance(node, ast.Attribute):
        return node.attr in ("ndim", "size", "shape", "dtype") and value_named(failure, ast.unparse(node)) is None
    if isinstance(node, ast.Name):
        return value_named(failure, node.id) is None
    return isinstance(node, ast.Constant)
