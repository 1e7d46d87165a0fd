"""Finds the Python value that the user passes to a function of JAX that is jitted itself, as ``jax.jit(jnp.sum)``."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from types import FrameType, FunctionType
from typing import Any

from .....runtime.around import attribute, is_exactly, of_type
from .....runtime.private_api import static_arguments
from ....analysis.failures.known_values.static_options import static_option
from ....record.failing_code import Traced
from ....record.library_use import Selector
from ..calls import MISSING, value_of
from ..jit_calls.static_options import static_options
from ..statement import Place

#: Types of values that select a program rather than being data.
_SELECTING = bool, int, str, tuple

#: At most so many decorators are looked behind.
_MOST_WRAPPERS = 8


def is_jitted_itself(traced: Traced | None, place: Place, frame: FrameType) -> bool:
    """Return whether the failing call is of a function of JAX that the user jits."""
    return traced is not None and traced.transform == "jit" and _function(traced, place, frame) is not None


def selector_of_jax(traced: Traced | None, place: Place, frame: FrameType) -> Selector | None:
    """Return the Python value on which the failing one depends; ``None`` if it is data, or if it is unknown.

    Args:
        traced: the function of JAX that was being traced.
        place: where the user's code stopped.
        frame: the frame of the user's code.
    """
    names = () if traced is None else tuple({re.split(r"[.\[]", each)[0]: None for each in traced.arguments})
    function, node = None if traced is None else _function(traced, place, frame), place.node
    if traced is None or function is None or len(names) != 1 or not isinstance(node, ast.Call):
        return None
    (name,) = names
    try:
        parameters = [*inspect.signature(function).parameters]
        position = parameters.index(name)
    except (TypeError, ValueError):
        return None
    given = next((each.value for each in node.keywords if each.arg == name), None)
    if given is None and position < len(node.args):
        given = node.args[position]
    kind = _type_of(given, frame)
    if kind is None or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    jitted, options = value_of(node.func, frame), static_options(node.func, None, place)
    if options is None and jitted is not MISSING and not any(static_arguments(jitted).values()):
        options = ()
    return Selector(
        function=ast.unparse(node.func), argument=name, option=static_option(name, position, options), type=kind
    )


def _type_of(node: ast.expr | None, frame: FrameType) -> str | None:
    """Return the type of a Python value, or of a tuple of such values; ``None`` for another value."""
    if isinstance(node, ast.Tuple):
        return "tuple" if all(_type_of(each, frame) is not None for each in node.elts) else None
    value: Any = MISSING if node is None else value_of(node, frame)
    if is_exactly(value, tuple) and not all(is_exactly(each, *_SELECTING) for each in value):
        return None
    return str(of_type("__name__", type(value))) if is_exactly(value, *_SELECTING) else None


def _function(traced: Traced, place: Place, frame: FrameType) -> Any:
    """Return the function of JAX that the failing call jits itself, or calls as the user jitted it before."""
    node = place.node
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Call):  # jax.jit(f)(x)
        jit = value_of(node.func.func, frame)
        is_jit = is_exactly(jit, FunctionType) and jit.__name__ == "jit" and jit.__module__.startswith("jax.")
        function = value_of(node.func.args[0], frame) if is_jit and node.func.args else MISSING
    else:
        jitted = value_of(node.func, frame)
        if of_type("__name__", type(jitted)) != "PjitFunction":
            return None
        function = attribute(jitted, "__wrapped__")
        if is_exactly(function, FunctionType) and _is_exported(jitted, function):
            return None  # JAX jits it
    return None if function is MISSING or not _is_of(function, traced) else function


def _is_exported(jitted: Any, function: FunctionType) -> bool:
    """Return whether the module of a function has the jitted one under its name."""
    return attribute(sys.modules.get(function.__module__), function.__name__) is jitted


def _is_of(function: Any, traced: Traced) -> bool:
    """Return whether a function, or the one behind its decorators, is the one that was being traced."""
    for _ in range(_MOST_WRAPPERS):
        code = function.__code__ if is_exactly(function, FunctionType) else None
        if code is not None and (code.co_name, code.co_filename) == (traced.function, traced.file):
            return True
        function = attribute(function, "__wrapped__")
    return False
