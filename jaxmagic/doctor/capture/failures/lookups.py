"""Tells what a list, a tuple or a dictionary holds of which a failing line takes an element, without running code."""

from __future__ import annotations

import ast
from types import FrameType

import numpy as np

from ....runtime.around import is_a, is_exactly
from ....runtime.tracing import is_array, is_tracer
from ...analysis.failures.expression import operands_in
from .calls import MISSING, value_of
from .statement import Place

#: Types besides JAX's arrays that may be elements of an array.
_NUMBERS = bool, int, float, complex, np.number, np.bool_
_WITH_SHAPE = *_NUMBERS, np.ndarray


def elements_of(node: ast.AST | None, frame: FrameType) -> str:
    """Return what the elements of an indexed list, tuple or dictionary are; empty if that is unknown.

    That is ``"array"`` if they make one array, ``"text"``, ``"functions"``, ``"shapes"`` for arrays of different
    shapes, ``"rows"`` for lists or tuples of numbers, all of the same length, ``"lists"`` for others, ``"ragged"``
    if these are empty or have different lengths, or ``"objects"`` for anything else.
    """
    table = _indexed(node)
    if table is None:
        return ""
    listed = table.elts if isinstance(table, ast.List | ast.Tuple) else None
    listed = table.values if isinstance(table, ast.Dict) else listed
    items = value_of(table, frame) if listed is None else [value_of(each, frame) for each in listed]
    if is_exactly(items, str, bytes):
        return "text"
    items = [*items.values()] if isinstance(items, dict) and is_exactly(items, dict) else items
    if not is_exactly(items, list, tuple) or not items or any(each is MISSING for each in items):
        return ""
    if any(is_exactly(each, str, bytes) for each in items):
        return "text"
    if all(is_array(each) or is_tracer(each) or is_a(each, _WITH_SHAPE) for each in items):
        return "shapes" if len({tuple(getattr(each, "shape", ())) for each in items}) > 1 else "array"
    if all(callable(each) for each in items):
        return "functions"
    if all(is_exactly(each, list, tuple) for each in items):
        if any(is_exactly(each, str, bytes) for item in items for each in item):
            return "text"
        numbers = all(is_a(number, _NUMBERS) for each in items for number in each)
        same = len(items[0]) > 0 and len({len(each) for each in items}) == 1
        return ("rows" if numbers else "lists") if same else "ragged"
    return "objects"


def in_comprehension(place: Place, kind: str, operator: str) -> Place:
    """Return the place of the only lookup, or of the only ``+``, in a comprehension that failed.

    From Python 3.12 on, a comprehension is a part of its function, and its errors have the position of all of it.

    Args:
        place: the place of the error.
        kind: the kind of the error: ``"index"`` if a lookup failed, ``"listed"`` if ``+`` may have.
        operator: the operator that failed.
    """
    if place.operation != "RERAISE" or not isinstance(place.node, ast.ListComp | ast.SetComp | ast.DictComp):
        return place
    nodes = [*ast.walk(place.node)]
    if kind == "index":
        lookups = [each for each in nodes if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Load)]
        found: list[ast.AST] = [each for each in lookups if not isinstance(each.slice, ast.Constant | ast.Slice)]
        found += [each for each in nodes if isinstance(each, ast.Call)]  # which may need an index, too
    else:
        added = [each for each in nodes if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Add)]
        found = [*added] if kind == "listed" and operator == "+" else []
    return place._replace(node=found[0]) if len(found) == 1 and not isinstance(found[0], ast.Call) else place


def lookup_of(place: Place) -> ast.AST | None:
    """Return the expression that takes an element of something by what failed, as ``a[int(i)]``."""
    for each in ast.walk(place.statement) if place.statement is not None else ():
        match each:
            case ast.Subscript(slice=key) | ast.Call(func=ast.Attribute(attr="get"), args=[key, *_]):
                if any(part is place.node for part in operands_in(key)):
                    return each
    return None


def is_dictionary(node: ast.AST | None, frame: FrameType) -> str:
    """Return ``"1"`` if an expression takes an element of a dictionary; empty for anything else."""
    table = _indexed(node)
    found = isinstance(table, ast.Dict) or (table is not None and is_a(value_of(table, frame), dict))
    return "1" if found else ""


def keys_of(node: ast.AST | None, frame: FrameType) -> str:
    """Return the number of an indexed dictionary's items if its keys are 0, 1, 2, …; empty for anything else.

    It is ``"numbers"`` if they are other integers.
    """
    table = _indexed(node)
    if table is None:
        return ""
    listed = [value_of(each, frame) for each in table.keys if each] if isinstance(table, ast.Dict) else None
    keys = value_of(table, frame) if listed is None else listed
    if not is_exactly(keys, list, dict) or not keys or not all(is_exactly(each, int) for each in keys):
        return ""
    return str(len(keys)) if sorted(keys) == list(range(len(keys))) else "numbers"


def _indexed(node: ast.AST | None) -> ast.expr | None:
    """Return what an expression takes an element of, as ``a[i]`` and ``a.get(i)`` do."""
    match node:
        case ast.Subscript(value=table) | ast.Call(func=ast.Attribute(value=table, attr="get"), args=[_, *_]):
            return table
    return None
