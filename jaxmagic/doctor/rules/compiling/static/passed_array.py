"""Writes the call of a library's jitted function with an array for a number, if it only computes with that."""

from __future__ import annotations

import ast
import copy

from ....record.evidence import Evidence
from ...host.syntax import arguments_of
from ...rewriting.syntax import file_of, last_name, tree_run
from ..recompilations import Group, only_argument
from .definition import definition_of
from .traced_number import computes_with, is_one_number

#: A jit for which all that is no array is static.
_FILTERS = "filter_jit"


def call_with_array(group: Group, evidence: Evidence) -> str | None:
    """Return the only call of a function under ``equinox.filter_jit``, with the number that differs as an array.

    ``None`` if something else differs, if the function may need the value while JAX traces, or if there are several
    calls, each of which would have to pass an array.
    """
    argument, found, place = only_argument(group), definition_of(group, evidence), file_of(group.location, evidence)
    values = {text for each in group.compilations for text in (each.cause.now, each.cause.before)}
    if argument is None or found is None or place is None or not all(map(is_one_number, values)):
        return None
    function, _ = found
    jits = [*map(last_name, function.decorator_list)]
    if jits != [_FILTERS] or not computes_with(argument, function, set()):
        return None
    tree = tree_run(place[0], evidence)
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and _is_of(function.name, each)]
    places = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    passed = arguments_of(calls[0], places).get(argument) if len(calls) == 1 else None
    return None if passed is None or isinstance(passed, ast.Constant) else _with_array(tree, calls[0], passed)


def _is_of(function: str, call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == function


def _with_array(tree: ast.Module, call: ast.Call, passed: ast.expr) -> str:
    """Write the statement of a call, or the call if other statements are inside, with an array for what it passes."""
    simple = (each for each in ast.walk(tree) if isinstance(each, ast.Assign | ast.AugAssign | ast.Expr | ast.Return))
    node = next((each for each in simple if any(inside is call for inside in ast.walk(each))), call)
    array = ast.Call(ast.Attribute(ast.Name("jnp"), "asarray"), [passed], [])
    return ast.unparse(copy.deepcopy(node, {id(passed): array}))
