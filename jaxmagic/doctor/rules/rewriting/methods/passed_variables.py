"""Tells whether a jitted function can get and return the variables of a method."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from .....records.cell_names import cells_with
from ..jit.jittable import computes_only
from ..syntax import last_name, parameters, stored, tree_of, tree_run
from .own_class import OwnClass


def can_be_passed(
    own: OwnClass,
    given: Collection[str],
    results: Collection[str],
    computed: Sequence[ast.stmt],
    attributes: Mapping[str, str],
    known: Collection[str],
) -> bool:
    """Return whether a jitted function can get and return some variables of a method, as far as the code tells.

    Args:
        own: the class.
        given: what it gets.
        results: what it returns.
        computed: its statements.
        attributes: the variables that stand for attributes of the object, with these.
        known: the names of modules and functions.
    """
    if {*given, *results} & own.made:
        return False
    passed = (own.inputs.get(attributes.get(each, each)) for each in given)
    if any(each is not None and each.type == "bool" for each in passed):
        return False  # a library may decide by it
    inside = {"", own.owner, *given, *known, *stored(computed)}
    inside |= {name for each in computed for node in ast.walk(each) for name in _parameters(node)}
    if not {_root(each.func) for part in computed for each in ast.walk(part) if isinstance(each, ast.Call)} <= inside:
        return False  # a method of an object that may change
    values = [each.value for each in computed if isinstance(each, ast.Assign)]
    returning = ast.parse("def f(): pass").body[0]
    assert isinstance(returning, ast.FunctionDef)
    returning.body = [ast.Return(each) for each in values]
    return computes_only(returning, {}) and not _flags(own) & {*given}


def _parameters(node: ast.AST) -> set[str]:
    return parameters(node) if isinstance(node, ast.FunctionDef | ast.Lambda) else set()


def _root(node: ast.expr) -> str:
    """Return ``a`` for ``a.b(c).d``; empty for a method of what an operator returns."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _flags(own: OwnClass) -> set[str]:
    """Return the parameters of the method that get a text, a truth value or nothing, by default or in a call."""
    given = own.method.args
    names = [each.arg for each in (*given.posonlyargs, *given.args)]
    pairs = [*zip(names[::-1], given.defaults[::-1], strict=False)]
    pairs += [(each.arg, value) for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value]
    trees = [tree_run(own.file, own.evidence), *map(tree_of, cells_with(own.file))]
    for each in (inner for tree in trees if tree is not None for inner in ast.walk(tree)):
        if isinstance(each, ast.Call) and last_name(each.func) == own.method.name:
            pairs += [
                *zip(names[1:], each.args, strict=False),
                *((key.arg, key.value) for key in each.keywords if key.arg),
            ]
    return {name for name, value in pairs if isinstance(value, ast.Constant) and not _is_number(value.value)}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | complex) and not isinstance(value, bool)
