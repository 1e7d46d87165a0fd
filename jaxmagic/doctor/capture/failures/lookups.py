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
_WITH_SHAPE = bool, int, float, complex, np.number, np.bool_, np.ndarray


def elements_of(node: ast.AST | None, frame: FrameType) -> str:
    """Return what the elements of an indexed list, tuple or dictionary are; empty if that is unknown.

    That is ``"array"`` if they make one array, ``"text"``, ``"functions"``, ``"shapes"`` for arrays of different
    shapes, or ``"objects"`` for others.
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
    return "" if all(is_exactly(each, list, tuple) for each in items) else "objects"


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
    """Return the number of an indexed dictionary's items if its keys are 0, 1, 2, …; empty for anything else."""
    table = _indexed(node)
    if table is None:
        return ""
    listed = [value_of(each, frame) for each in table.keys if each] if isinstance(table, ast.Dict) else None
    keys = value_of(table, frame) if listed is None else listed
    if not is_exactly(keys, list, dict) or not all(is_exactly(each, int) for each in keys):
        return ""
    return str(len(keys)) if keys and sorted(keys) == list(range(len(keys))) else ""


def _indexed(node: ast.AST | None) -> ast.expr | None:
    """Return what an expression takes an element of, as ``a[i]`` and ``a.get(i)`` do."""
    match node:
        case ast.Subscript(value=table) | ast.Call(func=ast.Attribute(value=table, attr="get"), args=[_, *_]):
            return table
    return None
