"""Gets the arguments of a call that failed once more, without running the user's code."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from .....records.note import note
from .....runtime.around import is_exactly
from ...remedies.remedy import NotTried
from ...remedies.user_functions import is_users_function
from ..calls import MISSING
from .call_values import CallValues

#: Modules whose functions compute the same again and change nothing; `jax.random` takes its state as an argument.
_PURE = "jax", "jaxlib"

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


def _value(node: ast.expr, at_call: CallValues) -> Any:
    """Return what an argument was: the value of a name, or what functions of JAX compute from such values.

    Raises:
        NotTried: the argument would have to be computed by the user's code again.
    """
    found = at_call.value_of(node)
    if found is not MISSING:
        return found
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            kind = list if isinstance(node, ast.List) else tuple if isinstance(node, ast.Tuple) else set
            return kind(_value(each, at_call) for each in items)
        case ast.Dict(keys=keys, values=items) if None not in keys:
            pairs = zip(keys, items, strict=True)
            return {_value(key, at_call): _value(each, at_call) for key, each in pairs if key is not None}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Call(func=function, args=args, keywords=keywords):
            if isinstance(function, ast.Attribute) and function.attr == "items" and not args and not keywords:
                owner = _value(function.value, at_call)
                if is_exactly(owner, dict):
                    return owner.items()
            called = at_call.value_of(function)
            if called is MISSING and isinstance(function, ast.Name):
                called = vars(builtins).get(function.id, MISSING)
            module = getattr(called, "__module__", None) if called is not MISSING else None
            is_pure = isinstance(module, str) and module.partition(".")[0] in _PURE
            stars = any(isinstance(each, ast.Starred) for each in args) or any(each.arg is None for each in keywords)
            if is_pure and not stars and not is_users_function(called):
                given = arguments_of(node, at_call)
                return called(*given[0], **given[1])
            if any(called is each for each in (tuple, frozenset, sorted)) and len(args) == 1 and not keywords:
                return called(_value(args[0], at_call))
    raise NotTried(note("doctor.argument_unknown", text=ast.unparse(node)[:100]))
