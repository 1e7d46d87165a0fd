"""Writes the call of a jitted function without jit, so that it runs with the same values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import zip_longest
from types import FrameType, FunctionType

from .....runtime.around import enclosed
from ....record.failing_code import Passed
from ....rules.rewriting.jit.obstacles import obstacles
from ...remedies.user_functions import is_users_function, jitted_functions
from ..calls import Names, value_of, wrapped_function
from ..modules import module_names
from ..statement import Place
from .call_values import Variables
from .number_sources import Given, Sources, either
from .number_uses import used_as_arrays

#: Methods that take an item out of their object.
_TAKING = frozenset({"pop", "popitem", "popleft"})

#: Python types of numbers, of which JAX makes arrays when it traces a function.
_NUMBERS = "int", "float", "bool", "complex"

#: Types of arguments that are arrays of JAX in the call without jit.
_ARRAYS = "array", "ndarray"


def unjitted_call(
    called: str,
    function: FunctionType,
    home: ast.FunctionDef | None,
    frame: FrameType,
    leading: Sequence[str],
    place: Place,
    passed: Sequence[Passed],
    static: Sequence[str],
) -> str | None:
    """Return the call of the function that was jitted; ``None`` if it may not run.

    A traced function gets JAX arrays in place of Python numbers and NumPy arrays. The call without jit passes numbers
    as they are, unless the function may use what only arrays have.

    Args:
        called: the function, as it is written at the call.
        function: the function that was jitted.
        home: its definition.
        frame: the frame of the call.
        leading: arguments that the call passes by itself, such as ``self``.
        place: the call.
        passed: its arguments.
        static: the parameters that are static.
    """
    node = place.node
    if not isinstance(node, ast.Call) or _draws(node, frame.f_code.co_filename):
        return None
    given: list[tuple[str | None, ast.expr]] = [(None, each) for each in node.args]
    given += [(each.arg, each.value) for each in node.keywords]
    needed = None if home is None else _needing_arrays(function, home, passed, static, place)
    arguments = list(leading)
    for (keyword, value), each in zip_longest(given, passed if len(passed) == len(given) else ()):
        text, kind = ast.unparse(value), None if each is None else each.type
        wanted = kind == "ndarray" or needed is None or each is None or each.name in needed
        if wanted and (each is None or each.name not in static):
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


def _needing_arrays(
    function: FunctionType, home: ast.FunctionDef, passed: Sequence[Passed], static: Sequence[str], place: Place
) -> frozenset[str]:
    """Return the arguments that a function may use in a way that only arrays allow."""
    sources: dict[str, Sources] = {}
    for each in passed:
        if each.name not in static:
            parameter = _parameter(each, home)
            found = None if each.type in _ARRAYS else frozenset({each.name})
            sources[parameter] = either([sources.get(parameter), found])
    numbers = frozenset(each.name for each in passed if each.type in _NUMBERS and each.name in sources)
    return used_as_arrays(function, home, Given(sources, numbers), place)


def _parameter(given: Passed, home: ast.FunctionDef) -> str:
    """Return the parameter that gets an argument, also one of several in ``*args`` or ``**kwargs``."""
    own = {each.arg for each in (*home.args.posonlyargs, *home.args.args, *home.args.kwonlyargs)}
    several = home.args.vararg if given.name.endswith("]") else home.args.kwarg
    return given.name if given.name in own or several is None else several.arg


def _array(text: str, kind: str | None, frame: FrameType) -> str | None:
    """Return an argument as an array, or a pytree of arrays; ``None`` if the code has no name for JAX."""
    names = dict(module_names(frame))
    jax = names.get("jax")
    jnp = names.get("jax.numpy", f"{jax}.numpy")
    if kind == "array" or (kind is None and text.startswith(f"{jnp}.")):
        return text
    if kind in (*_NUMBERS, "ndarray"):
        return f"{jnp}.asarray({text})" if "jax.numpy" in names or jax else None
    return f"{jax}.tree.map({jnp}.asarray, {text})" if jax else None
