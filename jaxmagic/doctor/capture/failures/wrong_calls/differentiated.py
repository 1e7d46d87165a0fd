"""Names the function that a failing line differentiates."""

from __future__ import annotations

import ast
import functools
from types import FrameType, FunctionType, MethodType
from typing import Any

from .....runtime.around import attribute, is_exactly
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
