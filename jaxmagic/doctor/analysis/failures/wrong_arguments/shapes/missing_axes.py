"""Finds which axes an operand lacks, such as that of the columns for a mask of rows, if its sizes leave no choice."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from typing import NamedTuple

from .....record.failure import Failure
from ...expression import Expression, spelled
from ..operands import Shape, broadcast

#: Functions of ``jax.numpy`` that compute for each element of all of their positional arguments.
# fmt: off
_ELEMENTWISE = frozenset((
    "where", "maximum", "minimum", "fmax", "fmin", "add", "subtract", "multiply", "divide", "true_divide", "power",
    "logical_and", "logical_or", "logical_xor", "greater", "greater_equal", "less", "less_equal", "equal",
    "not_equal", "arctan2", "hypot", "logaddexp", "clip", "isclose",
))
# fmt: on


class Widened(NamedTuple):
    """An operation in which one operand has an axis more, the shape of its result, and the statement with it."""

    node: ast.expr
    shape: Shape
    code: str | None


def widened(failure: Failure, failing: Expression, texts: Sequence[str], shapes: Sequence[Shape]) -> list[Widened]:
    """Return the ways to give one operand the axes that it lacks: one, or none where there are several places.

    Args:
        failure: what is known.
        failing: the failing operation.
        texts: its operands as they are written.
        shapes: their shapes, in the same order.
    """
    known = dict(zip(texts, shapes, strict=True))
    found = []
    for side in _sides(failure, failing):
        text = ast.unparse(side)
        others = [each for each in zip(texts, shapes, strict=True) if each[0] != text]
        full = broadcast([shape for _, shape in others])
        places = [] if full is None or text not in known else _places(known[text], full)
        if full is not None and len(places) == 1:
            found.append(_with(failing, side, _indexed(side, places[0], len(full)), full))
    return found if len(found) == 1 else []


def _sides(failure: Failure, failing: Expression) -> list[ast.expr]:
    """Return the operands of which one may get an axis: of an operator, or of a function for each element."""
    match failing.node:
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case ast.AugAssign(value=value):  # the variable keeps its shape
            return [value]
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args):
            return args if name in _ELEMENTWISE and ast.unparse(owner) == spelled(failure, "jax.numpy") else []
    return []


def _places(shape: Shape, full: Shape) -> list[tuple[int, ...]]:
    """Return the axes of a larger shape that those of a smaller one may be, in their order.

    >>> _places((5,), (5, 3)), _places((2, 6), (2, 4, 6)), _places((5,), (5, 5, 3))
    ([(0,)], [(0, 2)], [(0,), (1,)])
    """
    if not 0 < len(shape) < len(full):
        return []
    places = itertools.combinations(range(len(full)), len(shape))
    return [each for each in places if all(size in (1, full[axis]) for axis, size in zip(each, shape, strict=True))]


def _indexed(node: ast.expr, places: tuple[int, ...], rank: int) -> ast.expr:
    """Write ``m[:, None]``: the axes in front of those that an operand has need no index."""
    parts: list[ast.expr] = [
        ast.Slice() if axis in places else ast.Constant(value=None) for axis in range(places[0], rank)
    ]
    while isinstance(parts[-1], ast.Slice):
        parts.pop()
    return ast.Subscript(value=node, slice=ast.Tuple(elts=parts, ctx=ast.Load()), ctx=ast.Load())


def _with(failing: Expression, side: ast.expr, new: ast.expr, shape: Shape) -> Widened:
    node: ast.expr
    match failing.node:
        case ast.BinOp(left=left, op=op, right=right):
            node = ast.BinOp(new if side is left else left, op, new if side is right else right)
        case ast.Compare(left=left, ops=ops, comparators=[right]):
            node = ast.Compare(new if side is left else left, ops, [new if side is right else right])
        case ast.AugAssign(target=target, op=op):
            changed = ast.fix_missing_locations(ast.AugAssign(target, op, new))
            return Widened(new, shape, ast.unparse(changed))
        case call:
            assert isinstance(call, ast.Call)
            node = ast.Call(call.func, [new if each is side else each for each in call.args], call.keywords)
    return Widened(node, shape, failing.with_node(node))
