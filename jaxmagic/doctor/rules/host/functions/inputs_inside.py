"""Finds what variables of the code are called inside a function: by the parameters that they are passed for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from .....records.call_stack import Frame
from ....analysis.written_paths import is_within, root_of
from ....record.evidence import Evidence, Input
from ...rewriting.jit.arguments import given_by
from ...rewriting.list_items import items_given, parts_given
from ...rewriting.syntax import last_name, parameters, tree_of, tree_of_code
from ..syntax import Function, assigned, function_around, own_nodes

#: Through at most this many functions, what the code passes is followed.
_DEEPEST = 3

#: Batches that take a larger share of the device's memory are not advised to be there all at once.
MOST_OF_MEMORY = 0.5


class ArrayList(NamedTuple):
    """A list of arrays that the code reads, or an array of NumPy as the list of its items.

    Attributes:
        path: its name in the code.
        items: the number of its items that have arrays.
        size_bytes: the bytes of these arrays.
        name: its name at the line.
        shapes: the shapes of the items, such as ``[128,64]``.
        sizes: the bytes of the items.
        is_array: whether it is an array of NumPy.
        is_nested: whether its items have the arrays inside, as pairs do.
    """

    path: str
    items: int
    size_bytes: int
    name: str
    shapes: frozenset[str]
    sizes: frozenset[int]
    is_array: bool = False
    is_nested: bool = False


def inputs_inside(line: Frame, evidence: Evidence, *, first: bool = False) -> dict[str, Input]:
    """Return what the code reads, by its name in the function around a line, as far as that is known.

    After ``run(images)``, ``data`` inside ``def run(data)`` is ``images``; after ``trainer.fit()``, ``self`` is
    ``trainer``. Elsewhere the names are those of the code.

    Args:
        line: a line of the function.
        evidence: what the code reads.
        first: whether parameters to which the function assigns count, by what they are when it begins.
    """
    function = function_around(line)
    files = {line.file, *(each.function.file for each in evidence.functions)}
    trees = [tree for file in sorted(files) if (tree := tree_of(file)) is not None]
    passed = None if function is None else _passed(function, trees, evidence)
    if function is None or passed is None:
        return {each.path: each for each in evidence.inputs}
    hidden, changed = parameters(function) | assigned(function), assigned(function)
    found = {each.path: each for each in evidence.inputs if root_of(each.path) not in hidden}
    for name, path in passed.items():
        if first or name not in changed:
            found |= {name + each.path[len(path) :]: each for each in evidence.inputs if is_within(each.path, path)}
    return found


def lists_in_turn(
    line: Frame, given: list[ast.expr], inputs: Mapping[str, Input], arrays: Mapping[str, Input]
) -> Iterator[ArrayList]:
    """Yield the lists whose arrays a line in a loop passes on in turn, as ``xs`` in ``for x in xs: f(x)``.

    An array of NumPy counts if the line passes parts of it: they are items if they have the shape of one. Single
    numbers are no arrays.

    Args:
        line: the line.
        given: the expressions that it passes.
        inputs: what the code reads, by its name at the line.
        arrays: the arrays among these that count.
    """
    for name in items_given(line, given):
        if name in inputs and inputs[name].type in ("list", "tuple"):
            items = {path: each for path, each in arrays.items() if path.startswith(f"{name}[")}
            places = [path[len(name) :].partition("]") for path in items]
            if items:
                sizes = [each.size_bytes for each in items.values()]
                yield ArrayList(
                    path=inputs[name].path,
                    items=len({index for index, _, _ in places}),
                    size_bytes=sum(sizes),
                    name=name,
                    shapes=frozenset(map(shape_of, items.values())),
                    sizes=frozenset(sizes),
                    is_nested=any(inner for _, _, inner in places),
                )
    for part in dict.fromkeys(filter(None, parts_given(line, given))):
        whole = inputs.get(part)
        if whole is not None and whole.kind == "numpy array":
            first, _, rest = shape_of(whole)[1:-1].partition(",")
            if first != "0" and rest:
                yield ArrayList(
                    path=whole.path,
                    items=int(first),
                    size_bytes=whole.size_bytes,
                    name=part,
                    shapes=frozenset([f"[{rest}]"]),
                    sizes=frozenset([whole.size_bytes // int(first)]),
                    is_array=True,
                )


def shape_of(array: Input) -> str:
    """Return the shape of an array, such as ``[128,64]``."""
    return f"[{array.type.partition('[')[2]}"


def fits(size_bytes: int, evidence: Evidence) -> bool:
    """Return whether arrays may be on the device all at once."""
    return evidence.limit_bytes is None or size_bytes <= evidence.limit_bytes * MOST_OF_MEMORY


def renamed(inputs: dict[str, Input]) -> list[Input]:
    """Return inputs with the names inside a function as their paths."""
    return [replace(each, path=name) for name, each in inputs.items()]


def _passed(
    function: Function, trees: list[ast.Module], evidence: Evidence, deepest: int = _DEEPEST
) -> dict[str, str] | None:
    """Return what the code passes for the parameters of a function, where all calls pass the same.

    ``None`` if no call of it is known.
    """
    code = evidence.code or ""
    if code.rpartition(".")[2] == function.name:  # the inputs of a call have the names of the parameters
        return {each: each for each in parameters(function)}
    found = [_given(each, function) for each in _calls(function, tree_of_code(code))]
    if not found and deepest:
        nodes = (node for tree in trees for node in ast.walk(tree))
        for outer in (each for each in nodes if isinstance(each, Function) and each is not function):
            calls = list(_calls(function, outer))
            names = _passed(outer, trees, evidence, deepest - 1) if calls else None
            known = {name: path for name, path in (names or {}).items() if name not in assigned(outer)}
            found += [_replaced(_given(each, function), known) for each in calls]
    return dict(set.intersection(*({*each.items()} for each in found))) if found else None


def _calls(function: Function, scope: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls of a function by its name in a scope, and not in functions inside it."""
    for node in own_nodes(scope):
        if isinstance(node, ast.Call) and last_name(node.func) == function.name:
            yield node


def _given(call: ast.Call, function: Function) -> dict[str, str]:
    if any(isinstance(each, ast.Starred) for each in call.args):
        return {}
    if "self" in parameters(function):
        if not isinstance(call.func, ast.Attribute):
            return {}
        call = ast.Call(call.func, [call.func.value, *call.args], call.keywords)
    return {name: ast.unparse(value) for name, value in given_by(call, function)}


def _replaced(given: dict[str, str], known: dict[str, str]) -> dict[str, str]:
    """Return what is passed in terms of the code; without what depends on other variables."""
    roots = {name: root_of(path) for name, path in given.items()}
    return {
        name: known[root] + path[len(root) :]
        for name, path in given.items()
        if (root := roots[name]) in known and is_within(path, root)
    }
