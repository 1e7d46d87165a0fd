"""Recognizes functions of the user's that JAX called with other arguments than they take, and bounds of slices."""

from __future__ import annotations

import ast
from types import FrameType, FunctionType, TracebackType
from typing import Any

from ....records.call_stack import Frame, is_users
from ....runtime.around import attribute, is_exactly, of_type
from ....tracebacks import calls_in
from ...analysis.failures.messages import is_jax_file
from .operands import home_of
from .statement import place_of

#: The attributes of functions with custom derivatives that hold their rules.
_RULES = "fwd", "bwd", "jvp"


def called_by_jax(traceback: TracebackType | None, function: str) -> dict[str, str] | None:
    """Return what is known about JAX's call of a function; ``None`` if JAX did not call it.

    The user's innermost line calls a function of JAX's that called this one in turn, or the function is a rule of
    custom derivatives: then its kind and the function that it belongs to are known.

    Args:
        traceback: the traceback of the exception.
        function: the name of the function that got wrong arguments.
    """
    last = users_last(traceback)
    if last is None:
        return None
    place, name = place_of(last.tb_frame.f_code, last.tb_lasti), function.rpartition(".")[2]
    if not isinstance(place.node, ast.Call) or ast.unparse(place.node.func).rpartition(".")[2] == name:
        return None
    rule = _rule(last.tb_frame, name)
    if rule is not None:
        return rule
    return {} if (home_of(place, last.tb_frame) or "").partition(".")[0] == "jax" else None


def users_last(traceback: TracebackType | None) -> TracebackType | None:
    """Return the innermost entry of the user's code."""
    for each in reversed(calls_in(traceback)):
        code = each.tb_frame.f_code
        written = code.co_qualname.startswith("__create_fn__.<locals>")  # by dataclasses
        if not written and is_users(Frame(function=code.co_name, file=code.co_filename, line=0)):
            return each
    return None


def has_float_bound(traceback: TracebackType | None) -> bool:
    """Return whether the user's innermost line slices an array of JAX, so that a float in its way is a bound."""
    last = users_last(traceback)
    node = None if last is None else place_of(last.tb_frame.f_code, last.tb_lasti).node
    if last is None or last.tb_next is None or not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    sliced = any(isinstance(each, ast.Slice) for each in parts)
    return sliced and is_jax_file(last.tb_next.tb_frame.f_code.co_filename)


def _rule(frame: FrameType, name: str) -> dict[str, str] | None:
    """Return the kind of the rule with a name, and the function with custom derivatives that has it, if one does."""
    values = {id(each): each for names in (frame.f_globals, frame.f_locals) for each in list(names.values())}
    custom = [each for each in values.values() if of_type("__name__", type(each)) in ("custom_vjp", "custom_jvp")]
    found = [(rule, each) for each in custom for rule in _RULES if _name(attribute(each, rule)) == name]
    if len(found) != 1:
        return None
    rule, function = found[0]
    nondiff = attribute(function, "nondiff_argnums")
    first = len(nondiff) if is_exactly(nondiff, tuple) else 0
    return {"rule": rule, "wrapped": _name(attribute(function, "fun")), "nondiff": str(first)}


def _name(function: Any) -> str:
    return str(function.__name__) if is_exactly(function, FunctionType) else ""
