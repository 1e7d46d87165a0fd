"""Tells which expressions are scalars, by the functions that make them, as their values are gone."""

from __future__ import annotations

import ast

from .....record.failure import Failure
from ...expression import is_jax, value_named

#: Functions that make a scalar of an array if they get no axis, and methods of arrays.
_REDUCTIONS = {
    *("sum", "mean", "max", "min", "prod", "std", "var", "median", "norm", "any", "all", "argmax", "argmin", "trace"),
    *("nansum", "nanmean", "nanmax", "nanmin", "amax", "amin", "ptp", "logsumexp", "count_nonzero", "item"),
}

#: Functions that compute each element by itself.
_ELEMENTWISE = {
    *("sqrt", "exp", "log", "log2", "log10", "abs", "square", "sin", "cos", "tanh", "sigmoid", "round", "floor"),
    *("ceil", "add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "stop_gradient"),
}


def is_scalar(failure: Failure, node: ast.expr) -> bool:
    """Return whether an expression is a scalar, traced or not; false if that is unknown."""
    traced = value_named(failure, ast.unparse(node))
    if traced is not None:
        return traced.type.endswith("[]")
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float | complex)
        case ast.UnaryOp(operand=operand):
            return is_scalar(failure, operand)
        case ast.BinOp(left=left, right=right, op=op) if not isinstance(op, ast.MatMult):
            return is_scalar(failure, left) and is_scalar(failure, right)
        case ast.Subscript(value=array, slice=index):
            return _rank(failure, array) == _taken(index)
        case ast.Call(func=ast.Attribute(attr=name) as function, args=args, keywords=[]):
            if is_jax(failure, ast.unparse(function)):
                one = name in _REDUCTIONS and len(args) == 1
                return one or (name in _ELEMENTWISE and all(is_scalar(failure, each) for each in args))
            return name in _REDUCTIONS and not args
    return any(each.text == ast.unparse(node) and each.type in ("int", "float") for each in failure.operands)


def _rank(failure: Failure, array: ast.expr) -> int:
    traced = value_named(failure, ast.unparse(array))
    sizes = "" if traced is None else traced.type.partition("[")[2].removesuffix("]")
    return len(sizes.split(",")) if sizes else -1


def _taken(index: ast.expr) -> int:
    """Return how many axes an index takes away; 0 if it has other parts than numbers."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    numbers = [each.operand if isinstance(each, ast.UnaryOp) else each for each in parts]
    whole = all(isinstance(each, ast.Constant) and type(each.value) is int for each in numbers)
    return len(parts) if whole else 0
