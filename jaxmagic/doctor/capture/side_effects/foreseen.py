"""Foresees what the functions and methods that some code calls will read and assign, from their source.

Code that does something else when it runs again runs only once, with all observers at the same time. This has to be
known before it runs.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ....memory_use.capture.imported import dict_of, is_module
from ....runtime.around import attributes, is_exactly, member
from ...rules.rewriting.syntax import tree_of
from ..remedies.user_functions import is_users_function
from ..scope import rebound

#: What runs only under a condition, or later.
_PERHAPS = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.Match, ast.ExceptHandler),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef),
)


class _Called(NamedTuple):
    """A function of the user's that is called, and the object whose method it is, with the path to that."""

    function: Any  # of this type, mypy would bind it
    owner: Any = None
    path: str = ""


def foreseen(tree: ast.Module | None, variables: Mapping[str, Any]) -> list[str]:
    """Return the globals and attributes that the called functions read and then assign, whatever the conditions.

    Args:
        tree: the code; ``None`` if it is a call of a function among the variables.
        variables: the variables that it sees.
    """
    found: dict[str, None] = {}
    if tree is None:
        queue = [each for value in variables.values() for each in _methods(value, "self")]
    else:
        queue = list(_calls(tree, lambda name: (name, variables.get(name))))
    met = set()
    for called in queue:  # grows meanwhile
        definition = _definition(called.function)
        if definition is None or (key := (called.function, called.path)) in met:
            continue
        met.add(key)
        own = definition.args.posonlyargs + definition.args.args
        receiver = own[0].arg if called.owner is not None and own else ""
        found |= dict.fromkeys(_globals(definition))
        found |= dict.fromkeys(f"{called.path}.{name}" for name in _attributes(definition, receiver))

        def look_up(name: str, called: _Called = called, receiver: str = receiver) -> tuple[str, Any]:
            held = called.function.__globals__
            return (called.path, called.owner) if name == receiver else (name, held.get(name))

        queue += _calls(ast.Module(definition.body, []), look_up)
    return list(found)


def _calls(tree: ast.Module, look_up: Callable[[str], tuple[str, Any]]) -> Iterator[_Called]:
    for node in _always(tree):
        if isinstance(node, ast.Call) and (found := _value(node.func, look_up)) is not None:
            yield from _methods(found[1], found[0].rpartition(".")[0])


def _value(node: ast.expr, look_up: Callable[[str], tuple[str, Any]]) -> tuple[str, Any] | None:
    """Return the path and the value of a name, or of attributes of one, without running code of the user's."""
    if isinstance(node, ast.Name):
        return look_up(node.id)
    if not isinstance(node, ast.Attribute) or (whole := _value(node.value, look_up)) is None:
        return None
    path, value = whole
    held = dict_of(value) if is_module(value) else attributes(value) or {}
    part = held.get(node.attr)
    if part is None and not is_module(value):
        part = member(type(value), node.attr)
        if is_exactly(part, types.FunctionType):
            part = types.MethodType(part, value)
    return f"{path}.{node.attr}", part


def _methods(value: Any, path: str) -> Iterator[_Called]:
    """Yield the user's function in a value, if that is a function or a method."""
    if is_exactly(value, types.MethodType) and is_users_function(value.__func__):
        yield _Called(value.__func__, value.__self__, path)
    elif is_users_function(value):
        yield _Called(value)


def _definition(function: types.FunctionType) -> ast.FunctionDef | None:
    code = function.__code__
    tree = tree_of(code.co_filename)
    found = (each for each in ast.walk(tree or ast.Module([], [])) if isinstance(each, ast.FunctionDef))
    return next(
        (each for each in found if each.name == code.co_name and _first_line(each) == code.co_firstlineno), None
    )


def _first_line(definition: ast.FunctionDef) -> int:
    return min([definition.lineno, *(each.lineno for each in definition.decorator_list)])


def _globals(definition: ast.FunctionDef) -> list[str]:
    """Return the globals that a function reads before it assigns them."""
    nodes = list(ast.walk(definition))
    declared = {name: None for each in nodes if isinstance(each, ast.Global) for name in each.names}
    always = {each.id for each in _always(definition) if isinstance(each, ast.Name) and _is_stored(each)}
    return [name for name in rebound(ast.Module(definition.body, []), declared) if name in always]


def _attributes(definition: ast.FunctionDef, receiver: str) -> list[str]:
    """Return the attributes of its object that a method reads and assigns."""
    parts = [each for each in ast.walk(definition) if isinstance(each, ast.Attribute)]
    own = [each for each in parts if isinstance(each.value, ast.Name) and each.value.id == receiver]
    own.sort(key=lambda each: (each.lineno, each.col_offset))
    always = {id(each) for each in _always(definition)}
    assigned = dict.fromkeys(each.attr for each in own if _is_stored(each) and id(each) in always)
    counted = [each.target for each in _always(definition) if isinstance(each, ast.AugAssign)]
    read = {each.attr for each in own if not _is_stored(each) or any(each is target for target in counted)}
    return [name for name in assigned if name in read]


def _is_stored(node: ast.Name | ast.Attribute) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _always(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes inside another one that are evaluated whenever it is, or in each round of a loop."""
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, _PERHAPS):
            yield each
            yield from _always(each)
