"""Finds the attributes of an argument that a function changes, itself or in functions that it calls with it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from .....runtime.around import attribute, enclosed, is_a, is_exactly, member
from ..calls import MISSING, value_of, wrapped_function
from ..traced.escapes import STORING
from .call_values import Variables

#: Functions that set or delete an attribute by its name.
_SETTERS = "setattr", "delattr", "object.__setattr__", "object.__delattr__"

#: Calls inside of each other are followed down to this depth.
_DEPTH = 4


def changed_attributes(
    function: FunctionType,
    parameter: str,
    owner: Any,
    home_of: Callable[[FunctionType], ast.FunctionDef | None],
    depth: int = _DEPTH,
) -> tuple[str, ...]:
    """Return the attributes that a function assigns, deletes or changes in place, in the order of the lines.

    Args:
        function: the function.
        parameter: the parameter that gets the object.
        owner: the object; ``MISSING`` if it is unknown.
        home_of: what gives the definition of a function.
        depth: how deep calls are followed.
    """
    home = home_of(function)
    if home is None:
        return ()
    names, found = _names(home, parameter), dict[str, None]()
    for node in sorted(ast.walk(home), key=lambda each: getattr(each, "lineno", 0)):
        found |= dict.fromkeys(_changed(node, names, owner))
        if isinstance(node, ast.Call) and depth:
            for called, given in _called(node, names, function, owner):
                found |= dict.fromkeys(changed_attributes(called, given, owner, home_of, depth - 1))
    return tuple(found)


def _names(home: ast.FunctionDef, parameter: str) -> set[str]:
    """Return the parameter, and the variables to which it is assigned."""
    names = {parameter}
    for node in ast.walk(home):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in names:
            names |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    return names


def _changed(node: ast.AST, names: set[str], owner: Any) -> Iterator[str]:
    """Yield the attributes that a node assigns, deletes or changes in place."""
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
            yield from attribute_in(node, names)
        case ast.Call(func=called, args=[ast.Name(id=name), ast.Constant(value=str() as text), *_]):
            if name in names and ast.unparse(called) in _SETTERS:
                yield text
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Attribute() as changed, attr=method))):
            held = MISSING if owner is MISSING else attribute(owner, changed.attr)
            if method in STORING and is_exactly(held, list, dict, set):
                yield from attribute_in(changed, names)


def attribute_in(node: ast.expr, names: set[str]) -> Iterator[str]:
    """Yield ``params`` for ``self.params`` and ``self.params["w"].x``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            yield node.attr
        node = node.value


def _called(
    node: ast.Call, names: set[str], function: FunctionType, owner: Any
) -> Iterator[tuple[FunctionType, str]]:
    """Yield the functions that a call passes the object to, with the parameters that get it."""
    given = [isinstance(each, ast.Name) and each.id in names for each in node.args]
    match node.func:
        case ast.Attribute(value=ast.Name(id=name), attr=method) if name in names:
            called, given = member(type(owner), method), [True, *given]
        case _:
            called = value_of(node.func, Variables(enclosed(function), function.__globals__))
    called = called if is_a(called, FunctionType) else wrapped_function(called)
    if called is not None:
        parameters = called.__code__.co_varnames[: called.__code__.co_argcount]
        yield from ((called, name) for name, is_object in zip(parameters, given, strict=False) if is_object)
