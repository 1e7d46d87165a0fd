"""Finds the shapes of arithmetic on traced values, and of comparisons, without computing them."""

from __future__ import annotations

import ast

from ....record.failure import Failure
from ..expression import spelled, value_named

#: Functions of ``jax.numpy`` that keep the shape of their argument.
ELEMENTWISE = "abs", "sin", "cos", "tan", "exp", "tanh", "square", "negative", "sign"

#: Operators that are computed for each element.
COMPARED = ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq

#: Operators whose result has the shape of both operands together, and fails for none.
_OPERATORS = ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod

#: Functions that return an array of the shape of their argument, and those that return a scalar.
_LIKE, _REDUCTIONS = ("zeros_like", "ones_like"), ("sum", "mean", "max", "min")


def same_shape(failure: Failure, *values: ast.expr) -> bool:
    """Return whether expressions are arithmetic with results of one shape."""
    shapes = [shape_of(failure, each) for each in values]
    return None not in shapes and len(set(shapes)) == 1


def shape_of(failure: Failure, node: ast.expr) -> str | None:
    """Return the shape of arithmetic on traced values and numbers, such as ``"[3]"``; ``None`` if it is unknown."""
    match node:
        case ast.Constant(value=value):
            return "[]" if type(value) in (int, float) else None
        case ast.Name() | ast.Attribute() | ast.Subscript():
            type_ = _type_named(failure, ast.unparse(node))
            return None if type_ is None or type_.startswith("bool") else type_[type_.find("[") :]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return shape_of(failure, operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))) if power > 0:
            return shape_of(failure, left)
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
            return common_shape(failure, left, right)
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=[]):
            return _shape_of_call(failure, ast.unparse(owner), name, args)
    return None


def _shape_of_call(failure: Failure, owner: str, name: str, args: list[ast.expr]) -> str | None:
    """Return the shape of what a function of ``jax.numpy`` or a method of an array returns; ``None`` if unknown."""
    jnp = spelled(failure, "jax.numpy")
    reduces = name in _REDUCTIONS and failure.kind == "bool"  # the dtype of a sum in an update is unknown
    if reduces and not args and value_named(failure, owner) is not None:
        return "[]"
    if owner == f"{jnp}.linalg" and name == "norm" and len(args) == 1:
        return None if shape_of(failure, args[0]) is None else "[]"
    if owner != jnp:
        return None
    if name == "where" and len(args) == 3:
        return common_shape(failure, *args[1:])
    if reduces and len(args) == 1:
        return None if shape_of(failure, args[0]) is None else "[]"
    known = {1: (*ELEMENTWISE, *_LIKE), 2: ("maximum", "minimum"), 3: ("clip",)}.get(len(args), ())
    return common_shape(failure, *args) if name in known else None


def bool_shape(failure: Failure, node: ast.expr) -> str | None:
    """Return the shape of what is true or false: a traced value, a constant or a comparison; ``None`` for others."""
    match node:
        case ast.Constant(value=bool()):
            return "[]"
        case ast.Name(id=name):
            type_ = _type_named(failure, name) or ""
            return type_.removeprefix("bool") if type_.startswith("bool[") else None
        case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, COMPARED):
            return common_shape(failure, left, right)
    return None


def _type_named(failure: Failure, name: str) -> str | None:
    """Return the type of a traced value, or of another array or number in a statement with a failing condition."""
    value = value_named(failure, name)
    if value is not None or failure.kind != "bool":
        return None if value is None else value.type
    types = (each.type or "" for each in failure.operands if each.text == name and each.shape is not None)
    known = next((f"{each}[]" if each in ("int", "float", "bool") else each for each in types), "")
    return known if "[" in known else None


def common_shape(failure: Failure, *nodes: ast.expr) -> str | None:
    """Return the shape of arrays of one shape and numbers together; ``None`` if it is unknown."""
    shapes = {shape_of(failure, each) for each in nodes}
    arrays = shapes - {"[]"}
    return None if None in shapes or len(arrays) > 1 else next(iter(arrays), "[]")
