"""Writes the jit of a function without a static argument, if the function only computes with that number."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set

from ....record.evidence import Evidence
from ...rewriting.jit.counted_names import values_read
from ...rewriting.jit.jittable import decides_by, has_sizes
from ...rewriting.numbers.python_numbers import LARGE, assignments, is_number, python_numbers
from ...rewriting.syntax import last_name, loaded, parameters, stored
from ..recompilations import Group, only_argument
from .definition import definition_of
from .jit_options import jit_tracing, jit_with_options

#: Operations on integers that need more than 32 bits, or another number, where JAX computes them.
_OF_PYTHON = ast.LShift, ast.Pow, ast.FloorDiv, ast.Mod, ast.MatMult


def jit_without(group: Group, evidence: Evidence) -> str | None:
    """Return the assignment of a function whose jit traces the static number that differs.

    ``None`` if something else differs, or if the function does more with the number than arithmetic with arrays: it
    may then need the value while JAX traces.
    """
    argument, found = only_argument(group), definition_of(group, evidence)
    values = {text for each in group.compilations for text in (each.cause.now, each.cause.before)}
    if argument is None or found is None or not all(map(is_one_number, values)):
        return None
    function, tree = found
    jit = jit_with_options(function, tree)
    if jit is None or argument not in jit.static or not computes_with(argument, function, jit.static):
        return None
    return jit_tracing(argument, jit, function, tree)


def is_one_number(text: str | None) -> bool:
    """Return whether a text is a number of which the 32 bits that jit has for it keep enough digits."""
    try:
        value = ast.literal_eval(text or "")
    except (SyntaxError, ValueError):
        return False
    return type(value) in (int, float) and abs(value) < LARGE


def computes_with(argument: str, function: ast.FunctionDef, static: Set[str]) -> bool:
    """Return whether a function uses a number, and others that it computes of it, in arithmetic with arrays alone."""
    own = parameters(function) | stored(function.body)
    names, outside = {argument}, loaded([function]) - own
    for name, value in assignments(function):
        if value is not None and loaded([value]) & names and is_number(value, names | outside):
            names.add(name)
    if has_sizes(function, names) or decides_by(function, names):
        return False
    arrays = own - names - static - python_numbers(function)
    arrays |= {name for each in ast.walk(function) for name in _leaves(each, arrays)}
    around = {id(inner): outer for outer in ast.walk(function) for inner in ast.iter_child_nodes(outer)}
    names_inside = [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id in names]
    reads = [each for each in names_inside if isinstance(each.ctx, ast.Load)]
    return bool(reads) and all(_meets(each, names, arrays, around) for each in reads)


def _leaves(node: ast.AST, arrays: Set[str]) -> set[str]:
    """Return the parameters of a lambda that ``jax.tree.map`` calls with the leaves of what contains arrays."""
    match node:
        case ast.Call(func=ast.Attribute(attr="map" | "tree_map") as called, args=[ast.Lambda() as each, *trees]):
            is_tree = called.attr == "tree_map" or last_name(called.value) == "tree"
            return parameters(each) if is_tree and trees and all(_read(tree) & arrays for tree in trees) else set()
    return set()


def _meets(node: ast.AST, names: Set[str], arrays: Set[str], around: Mapping[int, ast.AST]) -> bool:
    """Return whether a number is part of arithmetic with an array, or of the value of another such number."""
    outer = around[id(node)]
    while isinstance(outer, ast.BinOp | ast.UnaryOp | ast.AugAssign) and not isinstance(outer.op, _OF_PYTHON):
        if _read(outer) & arrays or (isinstance(outer, ast.AugAssign) and stored([outer.target]) & arrays):
            return True
        node, outer = outer, around[id(outer)]
    return isinstance(outer, ast.Assign) and isinstance(node, ast.expr) and stored(outer.targets) <= names


def _read(node: ast.AST) -> set[str]:
    return values_read(node) if isinstance(node, ast.expr) else loaded([node])
