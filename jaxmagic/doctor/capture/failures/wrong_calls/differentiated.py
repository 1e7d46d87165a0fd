"""Names the function that a failing line differentiates, and an optimizer's state that it gets."""

from __future__ import annotations

import ast
import functools
from types import FrameType, FunctionType, MethodType
from typing import Any

from .....runtime.around import attribute, is_exactly, of_type
from ....analysis.failures.messages import is_jax_file
from ..calls import MISSING, is_jitted, value_of

#: Transformations inside of each other are followed down to this depth.
_DEPTH = 8


def differentiated(node: ast.AST | None, frame: FrameType) -> str:
    """Return the function of the user's that a call differentiates, or ``"<lambda>"``; empty if it is unknown.

    Args:
        node: the call: of what ``jax.grad`` has returned, of a function that this was made into, or of that call.
        frame: the frame of the call.
    """
    function = node.func if isinstance(node, ast.Call) else None
    while isinstance(function, ast.Call) and function.args and _passes_on(value_of(function.func, frame)):
        function = function.args[0]  # jax.grad(f)(x)
    if function is None or isinstance(function, ast.Lambda):
        return "" if function is None else "<lambda>"
    value, text = value_of(function, frame), ast.unparse(function)
    for _ in range(_DEPTH):
        inner = _behind(value)
        if inner is MISSING:
            break
        value, text = inner, ""
    own = value.__func__ if is_exactly(value, MethodType) else value
    if not is_exactly(own, FunctionType) or is_jax_file(own.__code__.co_filename):
        return ""
    return text or str(own.__name__)


def optimizer_state(node: ast.AST | None, frame: FrameType) -> str:
    """Return the first argument of a call if it is, or holds, a state of Optax; empty if not.

    Args:
        node: the call.
        frame: the frame of the call.
    """
    first = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return ast.unparse(first) if first is not None and _holds_state(value_of(first, frame)) else ""


def _holds_state(value: Any, depth: int = 3) -> bool:
    if str(of_type("__module__", type(value))).partition(".")[0] == "optax":
        return True
    items = value.values() if is_exactly(value, dict) else value if is_exactly(value, tuple, list) else ()
    return depth > 0 and any(_holds_state(each, depth - 1) for each in items)


def _passes_on(value: Any) -> bool:
    """Return whether a function is a transformation of JAX, or makes a partial."""
    is_of_jax = is_exactly(value, FunctionType) and is_jax_file(value.__code__.co_filename)
    return is_of_jax or value is functools.partial


def _behind(value: Any) -> Any:
    """Return the function that a transformation of JAX, or a partial, made a function of; ``MISSING`` for others."""
    if is_exactly(value, functools.partial):
        return value.func
    transformed = is_exactly(value, FunctionType) and is_jax_file(value.__code__.co_filename)
    found = attribute(value, "__wrapped__") if transformed or is_jitted(value) else None
    return MISSING if found is None else found
