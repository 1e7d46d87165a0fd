"""Writes a slice whose start is traced, and whose size is known, with ``lax.dynamic_slice_in_dim``."""

from __future__ import annotations

import ast
from collections import Counter
from typing import NamedTuple, TypeAlias

from .....records.note import Note, note
from ....record.failing_code import Operand
from ....record.failure import Failure
from ..expression import MOST_VALUES, Expression, call, spelled, value_named, with_imports
from .size_use import names_in_body
from .static_argument import is_static, static_decorator
from .static_options import options_for

#: A sum of products of names, such as ``i * n + 2``: how often each product of sorted names is in it.
Sum: TypeAlias = Counter[tuple[str, ...]]


class _Size(NamedTuple):
    """The size of a slice as code, and the arguments that have to be static for it."""

    text: str
    static: tuple[str, ...]


def dynamic_slice(failure: Failure, failing: Expression) -> tuple[Note, str | None] | None:
    """Return the advice and the code for ``x[i : i + n]``; ``None`` if ``n`` is traced and cannot be static."""
    node = failing.node
    place = only_slice(node)
    if not isinstance(node, ast.Subscript) or place is None:
        return None
    axis, bounds = place
    found = _size(failure, failing, bounds)
    if found is None or bounds.lower is None or _is_too_large(failure, node.value, axis, found.text):
        return None
    size, static = found
    array, lax = node.value, spelled(failure, "jax.lax")
    new = call(f"{lax}.dynamic_slice_in_dim", array, bounds.lower, ast.parse(size, mode="eval").body)
    if axis:
        new.keywords = [ast.keyword(arg="axis", value=ast.Constant(value=axis))]
    text = ast.unparse(new)
    code = failing.with_node(new)
    function, option = "", ""
    if static and failure.call is not None:
        function = failure.call.function
        option = options_for(failure, static)
    decorator = static_decorator(failure, *static) if function else None
    remedy = note(
        "doctor.write_dynamic_slice",
        array=ast.unparse(array),
        size=size,
        code=text,
        static=", ".join(static) if function else "",
        function=function,
        option=option,
    )
    if code is None:
        return remedy, None
    lines = [*(decorator or "").splitlines(), *with_imports(failure, code, "jax.lax").splitlines()]
    return remedy, "\n".join(sorted(lines, key=lambda each: not each.startswith("import ")))


def only_slice(node: ast.AST) -> tuple[int, ast.Slice] | None:
    """Return the only axis that is sliced, and its bounds; ``None`` for other indices."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    slices = [(axis, each) for axis, each in enumerate(parts) if isinstance(each, ast.Slice) and each.step is None]
    bounded = [each for each in slices if each[1].lower is not None or each[1].upper is not None]
    return bounded[0] if len(slices) == len(parts) and len(bounded) == 1 else None


def _is_too_large(failure: Failure, array: ast.expr, axis: int, size: str) -> bool:
    """Return whether a slice is larger than its array, which is no error of ``x[i:j]`` alone."""
    value = value_named(failure, ast.unparse(array))
    shape = None if value is None else Operand(text=value.name, type=value.type).shape
    return size.isdecimal() and shape is not None and axis < len(shape) and int(size) > shape[axis]


def _size(failure: Failure, failing: Expression, bounds: ast.Slice) -> _Size | None:
    """Return the size of a slice as code of values that are known during tracing, or may be if they are static.

    ``None`` if it depends on other values, or if the start would have to be static as well.
    """
    if bounds.lower is None or bounds.upper is None or len(failure.values) >= MOST_VALUES:
        return None
    known = dict(failure.computed_of)
    lower, upper = _sum(bounds.lower, known), _sum(bounds.upper, known)
    if lower is None or upper is None:
        return None
    starts = {name for product in lower for name in product}
    upper.subtract(lower)
    terms = {product: times for product, times in upper.items() if times}
    read = {each.id for each in ast.walk(failing.statement) if isinstance(each, ast.Name)}
    static = set() if failure.call is None else set(failure.call.static)
    names = dict.fromkeys(name for product in terms for name in product)
    traced = [each for each in names if value_named(failure, each) is not None or each not in read | static]
    if not all(is_static(failure, failing, each) for each in traced):
        return None
    if traced and not _may_be_traced(failure, starts.difference(names)):
        return None
    if not names and terms.get((), 0) <= 0:
        return None
    return _Size(_written(terms), tuple(traced))


def _may_be_traced(failure: Failure, starts: set[str]) -> bool:
    """Return whether a start depends on a traced argument, and no size or step of a loop in its function does."""
    arguments = set() if failure.traced is None else starts.intersection(failure.traced.arguments)
    return bool(arguments) and arguments.isdisjoint(names_in_body(failure, "size", "range"))


def _sum(node: ast.expr, known: dict[str, str]) -> Sum | None:
    """Return an expression as a sum of products, with variables replaced by what they were computed of."""
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return Counter({(): number})
        case ast.Name(id=name):
            of = _sum(ast.parse(known[name], mode="eval").body, known) if name in known else None
            return Counter({(name,): 1}) if of is None else of
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as operator, right=right):
            first, other = _sum(left, known), _sum(right, known)
            return None if first is None or other is None else _combined(first, operator, other)
    return None


def _combined(first: Sum, operator: ast.operator, other: Sum) -> Sum:
    """Return the sum, the difference or the product of two sums."""
    found = Counter[tuple[str, ...]]()
    if isinstance(operator, ast.Mult):
        for product, times in first.items():
            for factor, more in other.items():
                found[tuple(sorted((*product, *factor)))] += times * more
        return found
    found.update(first)
    found.update(other) if isinstance(operator, ast.Add) else found.subtract(other)
    return found


def _written(terms: dict[tuple[str, ...], int]) -> str:
    """Write a sum of products.

    >>> _written({("bs",): 2, (): -1})
    '2 * bs - 1'
    """
    parts = [
        " * ".join(([str(times)] if times != 1 or not product else []) + [*product])
        for product, times in terms.items()
    ]
    return " + ".join(parts).replace("+ -", "- ")
