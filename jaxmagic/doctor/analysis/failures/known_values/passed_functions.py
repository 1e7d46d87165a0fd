"""Finds the function that Python calls within the failing call, as in ``list(map(float, x))``."""

from __future__ import annotations

import ast

from .....records.note import Note, note
from ....record.failure import Failure
from ..expression import Expression, before_dot, passes, spelled, value_named
from .math_functions import MATH


def passed_on(failure: Failure, failing: Expression | None) -> str:
    """Return the function that Python calls within the failing call, as in ``list(map(float, x))``; empty without."""
    if failing is None or failure.detail not in ("float", "int", "complex"):
        return ""
    mapped = [ast.unparse(each.args[0]) for each in maps_in(failing.node)]
    return mapped[0] if mapped else failure.detail if passes(failing.node, failure.detail) else ""


def maps_in(node: ast.AST) -> list[ast.Call]:
    """Return the calls of ``map`` with a function that is named."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call) and len(each.args) == 2]
    return [
        each
        for each in calls
        if ast.unparse(each.func) == "map" and isinstance(each.args[0], ast.Name | ast.Attribute)
    ]


def unmapped(failure: Failure, failing: Expression, function: str) -> Note:
    """Return the advice for a function that Python calls within the failing call, with each element of an array."""
    name = function.removeprefix("math.")
    if function != name and name in MATH:
        replacement = f"{spelled(failure, 'jax.numpy')}.{MATH[name]}"
        return note("doctor.write_function", function=function, replacement=replacement)
    maps = maps_in(failing.node)
    if not maps or function != failure.detail:
        return note("doctor.write_library", function=function)
    items, dtype = ast.unparse(maps[0].args[1]), converted(failure.type, function)
    named = isinstance(maps[0].args[1], ast.Name | ast.Attribute | ast.Subscript | ast.Tuple | ast.List)
    if not named or value_named(failure, items) is not None:  # else a list or the like, perhaps of arrays
        kept = f"{before_dot(items)}.astype({dtype})" if dtype else items
    else:
        kept = f"{spelled(failure, 'jax.numpy')}.asarray({items}{dtype and f', dtype={dtype}'})"
    return note("doctor.write_unmapped", mapped=ast.unparse(maps[0]), kept=kept)


def converted(type: str | None, name: str) -> str:
    """Return the dtype that a conversion gives to a value; empty if the value has it already, or if that is unknown.

    >>> converted("f32[]", "int"), converted("i32[]", "float"), converted("f32[]", "float")
    ('int', 'float', '')
    """
    kept = {"int": ("i", "u"), "float": ("f", "bf"), "complex": ("c",)}.get(name, ())
    return name if type and kept and not type.startswith(kept) else ""
