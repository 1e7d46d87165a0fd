"""Writes a jitted method as a function that gets attributes as arguments and returns the new ones."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .....runtime.around import is_a, is_exactly
from .....runtime.tracing import is_array, is_tracer
from .changed_attributes import attribute_in

#: Tuples, lists and dictionaries inside of each other are looked through down to this depth.
_DEPTH = 6

#: What has a name of its own, and what has variables of its own.
_NAMED = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
_SCOPES = *_NAMED, ast.Lambda

#: What a function may not have that is written otherwise.
_OTHERS = ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Delete


def with_attributes_returned(
    method: ast.FunctionDef, changed: Sequence[str], values: Mapping[str, Any], call: ast.Call, statement: ast.stmt
) -> str | None:
    """Return the function, and the statement with its call; ``None`` if it may not do the same as the method.

    Args:
        method: a method whose only decorator jits it, without options.
        changed: the attributes that it changes, which the function returns behind the result of the method.
        values: the values of all attributes of the object.
        call: the call of the method.
        statement: the statement with the call.
    """
    owner = "" if method.args.posonlyargs or not method.args.args else method.args.args[0].arg
    uses = [each for each in ast.walk(method) if isinstance(each, ast.Name) and each.id == owner]
    used = {id(each.value): each.attr for each in ast.walk(method) if isinstance(each, ast.Attribute)}
    read = [used.get(id(each), "") for each in uses]
    if not _fits(method, owner, read, changed, values):
        return None
    new, gets = _WithoutOwner(owner).visit(copy.deepcopy(method)), tuple(dict.fromkeys([*changed, *read]))
    new.args.args = [*(ast.arg(each) for each in gets), *new.args.args[1:]]
    results = {each.value is not None for each in _returns(method)}
    if len(results) > 1 or (results == {True} and not isinstance(method.body[-1], ast.Return)):
        return None
    for each in _returns(new):
        each.value = _returned(changed, each.value)
    if not isinstance(method.body[-1], ast.Return):
        new.body.append(ast.Return(_returned(changed, None)))
    calling = _calling(method.name, gets, changed, call, statement, has_result=True in results)
    return None if calling is None else f"{ast.unparse(ast.fix_missing_locations(new))}\n\n{calling}"


def _calling(
    name: str, gets: Sequence[str], changed: Sequence[str], call: ast.Call, statement: ast.stmt, *, has_result: bool
) -> str | None:
    """Return the statement with a call of the function, such as ``_, t.params = update(t.params, x)``."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call
    match statement:
        case ast.Expr(value=ast.Call() as value) if value is call:
            first = ["_"] if has_result else []
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call() as value) if value is call and has_result:
            first = [target]
        case _:
            return None
    if not all(isinstance(each, ast.Name | ast.Attribute | ast.expr_context) for each in ast.walk(owner)):
        return None
    targets = [*first, *(f"{ast.unparse(owner)}.{each}" for each in changed)]
    given = [*(f"{ast.unparse(owner)}.{each}" for each in gets), *map(ast.unparse, [*call.args, *call.keywords])]
    return f"{', '.join(targets)} = {name}({', '.join(given)})"


def _fits(
    method: ast.FunctionDef, owner: str, read: Sequence[str], changed: Sequence[str], values: Mapping[str, Any]
) -> bool:
    """Return whether all attributes are arrays or trees of them, and may become variables of the function."""
    nodes = [*ast.walk(method)]
    names = {each.id for each in nodes if isinstance(each, ast.Name)}
    names |= {each.arg for each in nodes if isinstance(each, ast.arg)}
    names |= {each.name for each in nodes if isinstance(each, _NAMED)}
    inner = [part for each in nodes[1:] if isinstance(each, _SCOPES) for part in ast.walk(each)]
    places = [each for each in nodes if isinstance(each, ast.Attribute | ast.Subscript)]
    stores = [
        (each, name) for each in places if isinstance(each.ctx, ast.Store) for name in attribute_in(each, {owner})
    ]
    return (
        set(changed) == {name for _, name in stores}  # no list that grows
        and not any(each in inner for each, _ in stores)
        and names.isdisjoint({*read, "super", "__class__", "locals"})
        and not any(isinstance(each, _OTHERS) for each in nodes)
        and all(each in values and not each.startswith("__") for each in read)
        and all(_is_traced(values[each], numbers=each in changed) for each in read)
    )


def _is_traced(value: Any, *, numbers: bool, depth: int = _DEPTH) -> bool:
    """Return whether a value is traced data; an integer or a flag may select a program, unless `numbers` is set."""
    if is_a(value, tuple) or is_exactly(value, list):
        return depth > 0 and all(_is_traced(each, numbers=numbers, depth=depth - 1) for each in [*value])
    if is_exactly(value, dict):
        return depth > 0 and all(_is_traced(each, numbers=numbers, depth=depth - 1) for each in [*value.values()])
    plain = is_exactly(value, float, complex) or (numbers and is_exactly(value, int, bool))
    return plain or (is_array(value) and not is_tracer(value))


def _returns(function: ast.FunctionDef) -> Iterator[ast.Return]:
    """Yield the ``return`` statements of a function, not those of functions in it."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)


def _returned(changed: Sequence[str], value: ast.expr | None) -> ast.expr:
    results = [*([] if value is None else [value]), *(ast.Name(each, ast.Load()) for each in changed)]
    return results[0] if len(results) == 1 else ast.Tuple(results, ast.Load())


class _WithoutOwner(ast.NodeTransformer):
    """Writes ``params`` for ``self.params``."""

    def __init__(self, owner: str) -> None:
        self._owner = owner

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        is_own = isinstance(node.value, ast.Name) and node.value.id == self._owner
        return ast.Name(node.attr, node.ctx) if is_own else node
