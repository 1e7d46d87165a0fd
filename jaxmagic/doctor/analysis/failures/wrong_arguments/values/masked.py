"""Writes ``jnp.where`` in place of an assignment at a boolean mask: ``x.at[mask]`` takes none that is traced."""

from __future__ import annotations

import ast
from dataclasses import replace

from .....record.failing_code import Value
from .....record.failure import Failure
from ...choices.shapes import common_shape, shape_of
from ...expression import call, spelled, value_named, with_imports

#: What an operator makes of the elements of a mask, by the method of ``x.at[mask]``.
OPERATORS: dict[str, type[ast.operator]] = {
    "add": ast.Add,
    "subtract": ast.Sub,
    "multiply": ast.Mult,
    "mul": ast.Mult,
    "divide": ast.Div,
    "power": ast.Pow,
}

#: Functions that return a mask.
_PREDICATES = "isnan", "isinf", "isfinite", "isclose", "logical_and", "logical_or", "logical_xor", "logical_not"

#: Types of Python numbers, which are no types of traced values.
_NUMBERS = "int", "float", "bool"


def with_known(failure: Failure) -> Failure:
    """Add the arrays and numbers of the failing statement that are not traced to the values in it."""
    operands = [item for each in failure.operands for item in (each, *each.items)]
    known = [
        Value(name=each.text, type=f"{each.type}[]" if each.type in _NUMBERS else each.type or "")
        for each in operands
        if each.shape is not None
    ]
    return replace(failure, values=(*failure.values, *known))


def traced_mask(failure: Failure, index: ast.expr) -> ast.expr | None:
    """Return the part of an index that is a mask whose elements are traced: no ``x.at[index]`` takes it."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return next((each for each in parts if _is_traced_mask(failure, each)), None)


def _is_traced_mask(failure: Failure, index: ast.expr) -> bool:
    match index:
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_traced_mask(failure, operand)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return _is_traced_mask(failure, left) or _is_traced_mask(failure, right)
        case ast.Compare(left=left, ops=[_], comparators=[right]):
            names = {each.id for side in (left, right) for each in ast.walk(side) if isinstance(each, ast.Name)}
            return (
                any(value_named(failure, each) is not None for each in names) and mask_shape(failure, index) != "[]"
            )
    value = value_named(failure, ast.unparse(index))
    return value is not None and value.type.startswith("bool") and not value.type.endswith("[]")


def is_mask(failure: Failure, index: ast.expr) -> bool:
    """Return whether an index has a part that is a mask: by its value, or since only a mask is written like that."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(_is_traced_mask(failure, each) or _is_written_as_mask(failure, each) for each in parts)


def _is_written_as_mask(failure: Failure, index: ast.expr) -> bool:
    match index:
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_written_as_mask(failure, operand)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return _is_written_as_mask(failure, left) or _is_written_as_mask(failure, right)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _PREDICATES
        case ast.Subscript(value=array):
            return _is_traced_mask(failure, array)
    return isinstance(index, ast.Compare)


def mask_shape(failure: Failure, mask: ast.expr) -> str | None:
    """Return the shape of comparisons of arithmetic, and of what ``&``, ``|`` and ``~`` make of them."""
    match mask:
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return mask_shape(failure, operand)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            shapes = {mask_shape(failure, left), mask_shape(failure, right)}
            return shapes.pop() if len(shapes) == 1 else None
        case ast.Compare(left=left, ops=[_], comparators=[right]):
            return common_shape(failure, left, right)
    value = value_named(failure, ast.unparse(mask))
    return None if value is None or not value.type.startswith("bool") else value.type.removeprefix("bool")


def _whole(node: ast.expr, mask: str) -> ast.expr:
    """Return arithmetic with whole arrays in place of what a mask selects of them: ``2 * y`` for ``2 * y[m]``."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            return ast.BinOp(left=_whole(left, mask), op=op, right=_whole(right, mask))
        case ast.UnaryOp(op=op, operand=operand):
            return ast.UnaryOp(op=op, operand=_whole(operand, mask))
        case ast.Call(func=function, args=args, keywords=[]):
            return ast.Call(func=function, args=[_whole(each, mask) for each in args], keywords=[])
        case ast.Subscript(value=value, slice=index) if ast.unparse(index) == mask:
            return value
    return node


def chosen(
    failure: Failure, array: ast.expr, mask: ast.expr, new: ast.expr, of: str | None = None
) -> ast.Call | None:
    """Return ``jnp.where(m, y, x)`` for ``y[m]`` in place of ``x[m]``; ``None`` if its shape or dtype may be another.

    Args:
        failure: the failure.
        array: the array.
        mask: a mask over all its axes, or over the first ones.
        new: what replaces the elements.
        of: the shape of the mask, if it is known.
    """
    value = value_named(failure, ast.unparse(array))
    of = mask_shape(failure, mask) if of is None else of
    if value is None or of is None or isinstance(mask, ast.Tuple):
        return None
    whole = _whole(new, ast.unparse(mask))
    dtype, bracket, rest = value.type.partition("[")
    all_sizes, leading = sizes(bracket + rest), sizes(of)
    if not leading or all_sizes[: len(leading)] != leading or not _keeps(failure, dtype, whole):
        return None
    missing = all_sizes[len(leading) :]
    shape = "[]" if _is_bool(whole) else shape_of(failure, whole)
    if shape != bracket + rest:
        selected = ast.unparse(whole) != ast.unparse(new)  # x[m] = y[m] goes along the axes of the mask
        if selected or (shape != "[]" and (not missing or shape != f"[{','.join(missing)}]")):
            return None
    mask = along_rows(mask, len(leading), len(missing))
    return call(f"{spelled(failure, 'jax.numpy')}.where", mask, whole, array)


def along_rows(mask: ast.expr, axes: int, missing: int) -> ast.expr:
    """Return a mask with further axes behind its own, so that it broadcasts to an array that has them.

    >>> [ast.unparse(along_rows(ast.Name(id="m"), 1, missing)) for missing in (0, 2)]
    ['m', 'm[:, None, None]']
    """
    if not missing:
        return mask
    index = [*(ast.Slice() for _ in range(axes)), *(ast.Constant(None) for _ in range(missing))]
    return ast.Subscript(value=mask, slice=ast.Tuple(elts=index, ctx=ast.Load()), ctx=ast.Load())


def sizes(shape: str) -> list[str]:
    """Return the sizes in a shape.

    >>> sizes("[3,4]"), sizes("[]")
    (['3', '4'], [])
    """
    return [each for each in shape.strip("[]").split(",") if each]


def _is_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is bool


def _keeps(failure: Failure, dtype: str, new: ast.expr) -> bool:
    """Return whether an array keeps its dtype together with the result of some arithmetic."""
    if dtype == "bool":
        return _is_bool(new)
    floats = dtype.startswith(("f", "bf", "c"))
    numbers = [each.value for each in ast.walk(new) if isinstance(each, ast.Constant)]
    names = [value_named(failure, each.id) for each in ast.walk(new) if isinstance(each, ast.Name)]
    kinds = (f"{dtype}[", "int[", *(["float["] if floats else []))
    return (
        all(each is None or each.type.startswith(kinds) for each in names)
        and all(type(each) is int or (floats and type(each) is float) for each in numbers)
        and (floats or not any(isinstance(each, ast.Div | ast.Call) for each in ast.walk(new)))
    )


def masked(failure: Failure, array: ast.expr, mask: ast.expr, new: ast.expr) -> str | None:
    """Return ``x = jnp.where(x < 0, 0, x)`` for ``x[x < 0] = 0``; ``None`` if its shape or dtype may be another."""
    where = chosen(failure, array, mask, new)
    if where is None or not (isinstance(array, ast.Name) or failure.holder == "open"):
        return None
    return with_imports(failure, f"{ast.unparse(array)} = {ast.unparse(where)}", "jax.numpy")
