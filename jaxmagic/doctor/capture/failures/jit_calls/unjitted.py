"""Writes the call of a jitted function without jit, so that it runs with the same values."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from types import FrameType, FunctionType, ModuleType

from .....runtime.around import enclosed, is_a
from ....record.failure import Passed
from ....rules.rewriting.jit.obstacles import obstacles
from ...remedies.user_functions import is_users_function, jitted_functions
from ..calls import Names, value_of, wrapped_function
from ..modules import module_names
from .call_values import Variables

#: Methods that take an item out of their object.
_TAKING = frozenset({"pop", "popitem", "popleft"})

#: Python types of arguments that JAX makes arrays of when it traces a function.
_CONVERTED = "int", "float", "bool", "complex", "ndarray"


def unjitted_call(
    called: str,
    function: FunctionType,
    home: ast.FunctionDef | None,
    frame: FrameType,
    leading: Sequence[str],
    node: ast.Call,
    passed: Sequence[Passed],
    static: Sequence[str],
) -> str | None:
    """Return the call of the function that was jitted; ``None`` if it may not run.

    A traced function gets JAX arrays in place of Python numbers and NumPy arrays. If it does more with them than
    arithmetic and calls of functions in modules, the call without jit has to pass arrays as well.

    Args:
        called: the function, as it is written at the call.
        function: the function that was jitted.
        home: its definition.
        frame: the frame of the call.
        leading: arguments that the call passes by itself, such as ``self``.
        node: the call.
        passed: its arguments.
        static: the parameters that are static.
    """
    if _draws(node, frame.f_code.co_filename):
        return None
    texts = {each.text: each for each in passed}
    converted = not _is_plain(function, home)
    arguments = list(leading)
    positional = [(None, each) for each in node.args]
    for keyword, each in [*positional, *((each.arg, each.value) for each in node.keywords)]:
        text = ast.unparse(each)
        given = texts.get(text)
        kind = None if given is None else given.type
        if (converted or kind == "ndarray") and (given is None or given.name not in static):
            wrapped = _array(text, kind, frame)
            if wrapped is None:
                return None
            text = wrapped
        arguments.append(text if keyword is None else f"{keyword}={text}")
    return f"{called}.__wrapped__({', '.join(arguments)})"


def meets_jit_again(function: FunctionType, home: ast.FunctionDef | None, innermost: FrameType) -> bool:
    """Return whether a function may call one of the user's jitted functions where it runs without jit.

    That traces its arguments, so the same error may follow. Calls before the line that failed have succeeded.

    Args:
        function: the function that was jitted.
        home: its definition.
        innermost: the frame that failed.
    """
    frame: FrameType | None = innermost
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    names: Names = Variables(enclosed(function), function.__globals__) if frame is None else frame
    reached = 0 if frame is None else frame.f_lineno
    for node in ast.walk(home) if home is not None else ():
        if isinstance(node, ast.Call):
            called = value_of(node.func, names)
            behind = [wrapped_function(each) for each in jitted_functions({"called": called})]
            if function in behind or (node.lineno >= reached and any(map(is_users_function, behind))):
                return True
    return False


def _draws(node: ast.Call, file: str) -> bool:
    """Return whether the arguments of a call take something that they would not give again, as a random number."""
    found = obstacles([(node, file)])
    methods = (
        each.func.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
    )
    return any(each.kind in ("random", "once") for each in found) or not _TAKING.isdisjoint(methods)


def _is_plain(function: FunctionType, home: ast.FunctionDef | None) -> bool:
    """Return whether a function uses no attribute of a value, and calls functions of modules and built-ins alone."""
    if home is None:
        return False
    decorators = {id(node) for each in home.decorator_list for node in ast.walk(each)}
    for node in ast.walk(home):
        if id(node) in decorators:
            continue
        if isinstance(node, ast.Attribute) and not _is_in_module(node, function):
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            own = node.func.id in function.__globals__ or node.func.id in function.__code__.co_freevars
            if own or not hasattr(builtins, node.func.id):
                return False
    return True


def _is_in_module(node: ast.expr, function: FunctionType) -> bool:
    """Return whether an expression such as ``jnp.linalg.norm`` begins with a module."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and is_a(function.__globals__.get(node.id), ModuleType)


def _array(text: str, kind: str | None, frame: FrameType) -> str | None:
    """Return an argument as an array, or a pytree of arrays; ``None`` if the code has no name for JAX."""
    names = dict(module_names(frame))
    jax = names.get("jax")
    jnp = names.get("jax.numpy", f"{jax}.numpy")
    if kind == "array" or (kind is None and text.startswith(f"{jnp}.")):
        return text
    if kind in _CONVERTED:
        return f"{jnp}.asarray({text})" if "jax.numpy" in names or jax else None
    return f"{jax}.tree.map({jnp}.asarray, {text})" if jax else None
