"""Gets the arguments of a call that failed once more, without running the user's code."""

from __future__ import annotations

import ast
import builtins
import dataclasses
from collections.abc import Mapping
from types import FunctionType, MappingProxyType
from typing import Any

from .....records.note import note
from .....runtime.around import is_a, is_exactly, member, of_type
from ...remedies.remedy import NotTried
from ...remedies.user_functions import is_users_function
from ..calls import MISSING, value_of
from .call_values import CallValues, Variables
from .unhashable import fields_of

#: Modules whose functions compute the same again and change nothing; `jax.random` takes its state as an argument.
_PURE = "jax", "jaxlib"

#: Functions that make something hashable of the items of a sequence.
_CONVERTING: Mapping[str, Any] = {"tuple": tuple, "frozenset": frozenset}

#: Positional and named arguments.
Arguments = tuple[list[Any], dict[str, Any]]


def arguments_of(call: ast.Call, at_call: CallValues) -> Arguments:
    """Return the positional and the named arguments of a call.

    Raises:
        NotTried: one would have to be computed by the user's code again.
    """
    return (
        [_value(each, at_call) for each in call.args],
        {each.arg: _value(each.value, at_call) for each in call.keywords if each.arg is not None},
    )


def _value(node: ast.expr, at_call: CallValues, own: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return what an argument was: the value of a name, or what functions of JAX compute from such values.

    Args:
        node: the argument.
        at_call: the values at the call.
        own: the variables of comprehensions around the expression.

    Raises:
        NotTried: the argument would have to be computed by the user's code again.
    """
    found = value_of(node, Variables(own, {})) if _names(node) & {*own} else at_call.value_of(node)
    if found is not MISSING:
        return found
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            kind = list if isinstance(node, ast.List) else tuple if isinstance(node, ast.Tuple) else set
            return kind(_value(each, at_call, own) for each in items)
        case ast.Dict(keys=keys, values=items):
            made: dict[Any, Any] = {}
            for key, each in zip(keys, items, strict=True):
                value = _value(each, at_call, own)
                made |= {_value(key, at_call, own): value} if key is not None else _dictionary(value, node)
            return made
        case ast.GeneratorExp(elt=new, generators=[ast.comprehension(target=ast.Name(id=name), iter=items, ifs=[])]):
            return [
                _value(new, at_call, {**own, name: each}) for each in _sequence(_value(items, at_call, own), node)
            ]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id=name), items], keywords=[]) if name in _CONVERTING:
            return [_CONVERTING[name](each) for each in _sequence(_value(items, at_call, own), node)]
        case ast.Call(
            func=ast.Attribute(value=owner, attr="items" | "tolist" | "item" as method), args=[], keywords=[]
        ):
            value = _value(owner, at_call, own)
            if is_exactly(value, dict) or of_type("__module__", type(value)) in ("numpy", "collections"):
                return getattr(value, method)()
        case ast.Subscript(value=owner, slice=ast.Constant(value=str() | int() as key)):
            return _dictionary(_value(owner, at_call, own), node)[key]
        case ast.Call(func=function, args=args, keywords=keywords):
            called = at_call.value_of(function)
            if called is MISSING and isinstance(function, ast.Name):
                called = vars(builtins).get(function.id, MISSING)
            module = getattr(called, "__module__", None) if called is not MISSING else None
            is_pure = isinstance(module, str) and module.partition(".")[0] in _PURE
            stars = any(isinstance(each, ast.Starred) for each in args) or any(each.arg is None for each in keywords)
            replaced = [_value(each, at_call, own) for each in args[:1]] if called is dataclasses.replace else []
            if (replaced and _is_generated(type(replaced[0]))) or (
                is_a(called, type) and not stars and _is_generated(called)
            ):
                named = {each.arg: _value(each.value, at_call, own) for each in keywords if each.arg is not None}
                return called(*(_value(each, at_call, own) for each in args), **named)
            if is_pure and not stars and not is_users_function(called):
                given = arguments_of(node, at_call)
                return called(*given[0], **given[1])
            if any(called is each for each in (tuple, frozenset, sorted)) and len(args) == 1 and not keywords:
                return called(_value(args[0], at_call, own))
    raise _unknown(node)


def _is_generated(kind: type) -> bool:
    """Return whether a class is a dataclass that runs no code of the user when it is made."""
    init = member(kind, "__init__")
    made = is_exactly(init, FunctionType) and init.__code__.co_filename == "<string>"
    return bool(fields_of(kind)) and made and member(kind, "__post_init__") is None and type(kind) is type


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _sequence(value: Any, node: ast.expr) -> Any:
    """Return a list or a tuple, to go over which runs no code of the user."""
    if is_exactly(value, list, tuple):
        return value
    raise _unknown(node)


def _dictionary(value: Any, node: ast.expr) -> dict[Any, Any]:
    if is_a(value, dict):
        return dict(dict.items(value))
    raise _unknown(node)


def _unknown(node: ast.expr) -> NotTried:
    return NotTried(note("doctor.argument_unknown", text=ast.unparse(node)[:100]))
