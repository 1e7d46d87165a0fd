"""Recognizes functions, devices and keys that stand in the wrong place, or are missing, in a call of JAX."""

from __future__ import annotations

import ast
import inspect
import re
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from .....runtime.around import attribute, is_exactly, of_type
from .....runtime.tracing import is_array, is_tracer
from ....analysis.failures.messages import is_jax_file
from ...remedies.user_functions import is_users_function
from ..calls import MISSING, wrapped_function
from .call import Call, rank
from .returned import returned

#: Transformations that take a function, and return one.
_TRANSFORMATIONS = {
    *("jit", "vmap", "grad", "value_and_grad", "jacfwd", "jacrev", "jacobian", "hessian"),
    *("checkpoint", "remat", "linearize"),
}

#: Functions that call others, and the places of those.
_CALLING: dict[str, tuple[int, ...]] = {
    "fori_loop": (2,),
    "while_loop": (0, 1),
    "scan": (0,),
    "map": (0,),
    "associative_scan": (0,),
}


def _name(call: Call) -> str:
    return ast.unparse(call.node.func).rpartition(".")[2]


def _is_function(node: ast.expr, value: Any) -> bool:
    if isinstance(node, ast.Lambda):
        return True
    kind = of_type("__name__", type(value))
    return is_exactly(value, FunctionType, MethodType, BuiltinFunctionType) or kind in ("PjitFunction", "ufunc")


def _is_data(value: Any) -> bool:
    return value is not MISSING and (
        rank(value) > 0 or is_exactly(value, float) or (is_array(value) and not rank(value))
    )


def called_apart(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``jax.grad(f, x)``, where the arguments of the function stand beside it."""
    args = call.node.args
    if _name(call) not in _TRANSFORMATIONS or len(args) < 2 or call.node.keywords or not call.in_jax_module:
        return None
    if not _is_function(args[0], call.values[0]) or not all(_is_argument(each) for each in call.values[1:]):
        return None
    return {}


def _is_argument(value: Any) -> bool:
    if is_exactly(value, list, tuple):
        return bool(value) and all(map(_is_data, value))
    return _is_data(value) or is_tracer(value)


def wrong_order(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``lax.fori_loop(body, 0, 3, x)``: functions in the wrong places, as many as the call needs."""
    places = _CALLING.get(_name(call))
    if places is None or not call.in_jax_module:
        return None
    functions = [place for place, each in enumerate(call.node.args) if _is_function(each, call.values[place])]
    if len(functions) != len(places) or tuple(functions) == places or len(call.node.args) <= max(places):
        return None
    kinds = [returned(call.node.args[place], call.values[place]) for place in functions]
    return {"functions": ",".join(map(str, functions)), "returned": ",".join(kinds)}


def other_arguments(call: Call, text: str) -> dict[str, str] | None:
    """Recognize a call of a function of JAX, or of one that it transforms, with other arguments than it takes."""
    misfit = _of_transformed(call, text)
    if misfit is not None:
        return misfit
    function, _, words = text.partition("()")
    counted = words.startswith((" missing ", " takes "))
    if not counted or any(isinstance(each, ast.Starred) for each in call.node.args):
        return None
    if not call.in_jax_module or function != _name(call) or not call.parameters:
        return None
    missing = words.partition(": ")[2].replace("'", "")
    given = "" if missing else str(len(call.node.args))
    return {
        "missing": missing,
        "given": given,
        "parameters": ", ".join(each for each in call.parameters if each[0] != "_"),
    }


def _of_transformed(call: Call, text: str) -> dict[str, str] | None:
    """Recognize a call of a function of the user's that JAX transforms, and that the call does not fit."""
    given, node = call.value_of(call.node.func), call.node.func
    if given is MISSING and isinstance(node, ast.Call) and node.args:  # jax.grad(f)(x)
        given = call.value_of(node.args[0])
    bound = is_exactly(given, partial)
    behind = given.func if bound else _behind(given) or given
    jitted = wrapped_function(behind)
    function = jitted or behind
    said = _MISFIT.match(text)
    if said is None or (given is not MISSING and function is given is call.value_of(node)):  # Python alone calls it
        return None
    if is_users_function(function) and said["function"] == function.__name__:
        takes = _parameters(function, isinstance(node, ast.Attribute))
    else:
        takes = _parameters_of_lambda(node) if said["function"] == "<lambda>" else ""
    if not takes:
        return None
    known = not bound and not any(isinstance(each, ast.Starred) for each in call.node.args)
    names = [each.arg for each in call.node.keywords]
    return {
        "function": said["function"],
        "jitted": "1" if jitted is not None else "",
        "parameters": takes,
        "missing": (said["missing"] or "").replace("'", ""),
        "unexpected": said["unexpected"] or "",
        "twice": said["twice"] or "",
        "positional": str(len(call.node.args)) if known and None not in names else "",
        "named": ", ".join(each for each in names if each is not None),
    }


def _behind(value: Any) -> Any:
    """Return the function that a transformation of JAX made a function of; ``None`` for anything else."""
    if not is_exactly(value, FunctionType) or not is_jax_file(value.__code__.co_filename):
        return None
    return attribute(value, "__wrapped__")


def _parameters(function: FunctionType, of_object: bool) -> str:
    """Return the parameters of a function as they are written, those of a method without ``self``."""
    try:
        parameters = [_shown(each) for each in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return ""
    is_method = of_object and bool(parameters) and parameters[0].name == "self"
    takes = str(inspect.Signature(parameters[is_method:])).removeprefix("(").removesuffix(")")
    return takes.replace("=Ellipsis", "=…")


def _parameters_of_lambda(node: ast.expr) -> str:
    """Return the parameters of the lambda in ``jax.vmap(lambda a, b: a)``, as they are written."""
    match node:
        case ast.Call(args=[ast.Lambda(args=parameters), *_]):
            return ast.unparse(parameters)
    return ""


def _shown(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter without annotation, and without the text of its default, which is the user's code."""
    empty = inspect.Parameter.empty
    default = empty if parameter.default is empty else ...
    return parameter.replace(annotation=empty, default=default)


#: What Python says of a call that does not fit the parameters of a function.
_MISFIT = re.compile(
    r"(?:[\w<>]+\.)*(?P<function>\w+|<lambda>)\(\) (?:missing \d+ required [\w-]+ arguments?: (?P<missing>.+)"
    r"|got an unexpected keyword argument '(?P<unexpected>\w+)'|got multiple values for argument '(?P<twice>\w+)'"
    r"|takes )"
)


def no_device(call: Call, text: str) -> dict[str, str] | None:
    """Recognize a text or a number in place of a device."""
    place = 1 if _name(call) == "device_put" and len(call.values) > 1 else -1
    given = call.node.args[place] if place > 0 else None
    if given is None:
        names = ("device", "device_or_sharding") if _name(call) != "device_put" else ("device",)
        given = next((each.value for each in call.node.keywords if each.arg in names), None)
    if given is None or not call.in_jax_module:
        return None
    value = call.values[place] if place > 0 else call.value_of(given)
    if is_exactly(value, str) or (is_exactly(value, int) and value >= 0):
        return {"given": str(value), "type": str(of_type("__name__", type(value))), "place": str(place)}
    return None
