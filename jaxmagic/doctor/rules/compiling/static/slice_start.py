"""Finds static numbers that only say where slices of constant size begin, or which items are taken."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from ....analysis.failures.known_values.slices import only_slice
from ....record.evidence import Evidence
from ...rewriting.bucket_sizes import shapes_of
from ...rewriting.loops.loop_facts import makes_array
from ...rewriting.loops.traced_indices import DYNAMIC_SLICE, WHOLE, slice_size
from ...rewriting.numbers.narrow import Number, computed, known
from ...rewriting.numbers.python_numbers import assignments, is_risky
from ...rewriting.syntax import loaded, parameters, with_imports
from ..recompilations import Group, forms_of, only_argument, programs_of
from .definition import definition_of
from .jit_options import jit_tracing, jit_with_options
from .traced_number import is_one_number

#: Operations on integers that arrays compute as Python does.
_OF_INTEGERS = ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod

#: What may have parameters, or variables, of the same names.
_INSIDE = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class SliceStart(NamedTuple):
    """The uses of a static number that may be an array as well.

    Attributes:
        slices: how many slices begin at it.
        items: how many indices it is, or is in.
        code: the statements with slices whose start may be an array; the jit of the function if there are none.
    """

    slices: int
    items: int
    code: str | None


class _Uses(NamedTuple):
    """The places that read a number, by their syntax, and the variables that are computed of it once."""

    slices: dict[ast.Subscript, ast.Call]
    items: list[ast.Subscript]
    once: Mapping[str, ast.expr]


def slice_start(group: Group, evidence: Evidence) -> SliceStart | None:
    """Return how a function uses the static number that differs, if an array can be that.

    ``None`` if something else differs, if the number may be needed for anything else, if what it indexes may be no
    array of JAX, or if a slice may have reached beyond the end, where it is shorter: programs then differ.
    """
    argument, found = only_argument(group), definition_of(group, evidence)
    texts = {text or "" for each in group.compilations for text in (each.cause.now, each.cause.before)}
    if argument is None or found is None or not all(is_one_number(each) and each.isdecimal() for each in texts):
        return None
    function, tree = found
    jit = jit_with_options(function, tree)
    uses = None if jit is None or argument not in jit.static else _uses(argument, function)
    if jit is None or uses is None:
        return None
    arrays = _arrays(function, group, evidence)
    if any(ast.unparse(each.value) not in arrays for each in (*uses.slices, *uses.items)):
        return None
    if forms_of(group, evidence) > 1 and not _all_inside(uses, {argument: known(map(int, texts))}, arrays):
        return None
    sliced = with_imports(_code(uses.slices, function), tree)
    code = sliced if uses.slices else jit_tracing(argument, jit, function, tree)
    return SliceStart(len(uses.slices), len(uses.items), code)


def _uses(argument: str, function: ast.FunctionDef) -> _Uses | None:
    """Return the slices and indices by a number, and by others computed of it; ``None`` for any other use."""
    values: dict[str, list[ast.expr | None]] = {}
    for name, value in assignments(function):
        values.setdefault(name, []).append(value)
    names = {argument}
    while more := {name for name, own in values.items() if name not in names and _any_leads(own, names)}:
        names |= more
    assigned = [each for name in names for each in values.get(name, [])]
    if not all(_computes(each, names) for each in assigned) or _has_others(function, names):
        return None
    once = {name: own[0] for name, own in values.items() if name in names and len(own) == 1 and own[0] is not None}
    met = {id(node) for each in assigned if each is not None for node in ast.walk(each)}
    uses = _Uses({}, [], once)
    for node in ast.walk(function):
        if not isinstance(node, ast.Subscript):
            continue
        if loaded([node.value]) & names or not loaded([node.slice]) & names:
            continue
        if (sliced := _dynamic(node, names, once)) is not None:
            uses.slices[node] = sliced
        elif all(_computes(each, names) for each in _indices(node)):
            uses.items.append(node)
        else:
            return None
        met |= {id(each) for each in ast.walk(node.slice)}
    reads = (each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id in names)
    only = all(id(each) in met for each in reads if isinstance(each.ctx, ast.Load))
    return uses if only and (uses.slices or uses.items) else None


def _any_leads(values: Sequence[ast.expr | None], names: Set[str]) -> bool:
    return any(each is not None and loaded([each]) & names and _computes(each, names) for each in values)


def _has_others(function: ast.FunctionDef, names: Set[str]) -> bool:
    """Return whether a function or a comprehension inside has variables of the same names."""
    for node in ast.walk(function):
        if isinstance(node, _INSIDE) and node is not function and names & parameters(node):
            return True
        if isinstance(node, ast.comprehension) and names & {
            each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)
        }:
            return True
    return False


def _computes(node: ast.expr | None, names: Set[str]) -> bool:
    """Return whether an expression computes an integer of some numbers, and others, as it would of arrays."""
    match node:
        case None:
            return False
        case ast.Name():
            return True
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _OF_INTEGERS):
            return not is_risky(node) and _computes(left, names) and _computes(right, names)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _computes(operand, names)
        case ast.Constant(value=value):
            return type(value) is int
    return not loaded([node]) & names


def _indices(node: ast.Subscript) -> Sequence[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _dynamic(node: ast.Subscript, names: Set[str], once: Mapping[str, ast.expr]) -> ast.Call | None:
    """Return a slice with a start that may be an array; ``None`` if its size is unknown, or depends on the number."""
    axis, bounds = only_slice(node) or (0, ast.Slice())
    lower, upper = bounds.lower, bounds.upper
    if lower is None or upper is None or not _computes(lower, names):
        return None
    begin, end = (_expanded(each, once) for each in (lower, upper))
    size = slice_size(lower, upper) or slice_size(begin, end)
    backwards = any(isinstance(each, ast.Sub | ast.USub) for each in ast.walk(begin))  # Python counts from the end
    if size is None or backwards or loaded([size]) & names:
        return None
    keywords = [ast.keyword("axis", ast.Constant(axis))] if axis else []
    return ast.Call(ast.parse(DYNAMIC_SLICE, mode="eval").body, [node.value, lower, size], keywords)


def _expanded(node: ast.expr, once: Mapping[str, ast.expr]) -> ast.expr:
    """Return an expression with what is assigned to its variables in their place."""
    reads = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in once]
    rest = [{name: value for name, value in once.items() if name != each.id} for each in reads]
    new = {id(each): _expanded(once[each.id], others) for each, others in zip(reads, rest, strict=True)}
    return copy.deepcopy(node, dict[int, ast.AST](new))


def _all_inside(uses: _Uses, numbers: Mapping[str, Number], arrays: Mapping[str, str]) -> bool:
    """Return whether all slices are known to lie inside their arrays, for all numbers that were seen."""
    return all(
        _is_inside(call, arrays[ast.unparse(node.value)], _expanded(call.args[1], uses.once), numbers)
        for node, call in uses.slices.items()
    )


def _is_inside(call: ast.Call, array: str, begin: ast.expr, numbers: Mapping[str, Number]) -> bool:
    axis = ast.literal_eval(call.keywords[0].value) if call.keywords else 0
    shapes, size = shapes_of([array]), computed(call.args[2], {})
    begins = computed(begin, numbers)
    if not shapes or begins is None or not begins.pairs or size is None or len(size.pairs) != 1:
        return False
    return all(0 <= number <= shapes[0][axis] - size.pairs[0][0] for number, _ in begins.pairs)


def _arrays(function: ast.FunctionDef, group: Group, evidence: Evidence) -> dict[str, str]:
    """Return what is known to be an array of JAX, with its type if that is known.

    These are arguments, variables, and what functions read from outside.
    """
    modules = [each.module for each in programs_of(group, evidence) if each.module is not None]
    assigned = [*assignments(function)]
    found = dict.fromkeys((name for name, _ in assigned), "")
    found |= {each.name: each.shape for module in modules for each in module.inputs}
    found |= {each.path: each.type for each in evidence.inputs if each.kind == "jax array"}
    others = {name for name, value in assigned if value is None or not makes_array(value)}
    return {name: type_ for name, type_ in found.items() if name not in others}


def _code(slices: Mapping[ast.Subscript, ast.Call], function: ast.FunctionDef) -> str:
    """Write the statements of some slices with what takes an array for their starts."""
    new = {id(node): call for node, call in slices.items()}
    statements = (each for each in ast.walk(function) if isinstance(each, ast.stmt) and new.keys() & _own(each))
    changed = (copy.deepcopy(each, dict[int, ast.AST](new)) for each in statements)
    return "\n".join([WHOLE, *map(ast.unparse, changed)])


def _own(statement: ast.stmt) -> set[int]:
    """Return the nodes of a statement that are in no other statement inside it."""
    inside = (each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt))
    return {id(node) for each in inside for node in ast.walk(each)}
