"""Finds the Python value that became a traced one at a call of ``jit``, and reached the failing line unchanged."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from .....runtime.around import attribute, is_a, is_exactly, member, of_type
from .....runtime.tracing import is_tracer
from ....record.failure import Traced
from ....record.library_use import Selector
from ..calls import MISSING, value_of
from ..leaked import tracers_in, used
from ..statement import Place

#: Types of values that select a program rather than being data.
_SELECTING = bool, int, str

#: Packages whose ``jit`` has JAX's options ``static_argnames`` and ``static_argnums``.
_JITTING = "jax", "flax"


def selector_of(
    traced: Traced | None,
    failed: tuple[Place, FrameType],
    callers: Sequence[tuple[Place, FrameType]],
    around: Sequence[FrameType],
) -> Selector | None:
    """Return the Python value whose traced stand-in is what failed; ``None`` if there is none, or if it is unknown.

    Args:
        traced: the innermost function that was being traced.
        failed: where the innermost code outside of JAX stopped, which may be a library's.
        callers: where the user's calls stopped, the innermost last.
        around: all frames around the failing one.
    """
    if traced is None or traced.transform != "jit" or len(traced.arguments) != 1:
        return None
    path = traced.arguments[0]
    frame = next((each for each in around if _is_of(each, traced)), None)
    value = MISSING if frame is None else _argument(path, frame)
    if frame is None or not is_tracer(value) or not _is_used_alone(value, *failed):
        return None
    outside: FrameType | None = frame.f_back
    while outside is not None:
        caller = next((each for each in callers if each[1] is outside), None)
        if caller is not None:
            return _passed(path, frame, *caller)
        outside = outside.f_back
    return None


def _is_of(frame: FrameType, traced: Traced) -> bool:
    code = frame.f_code
    return (code.co_name, code.co_filename, code.co_firstlineno) == (traced.function, traced.file, traced.line)


def _argument(path: str, frame: FrameType) -> Any:
    """Return the argument that JAX names, such as ``train``, ``args[1]`` and ``kwargs['train']``."""
    try:
        return value_of(ast.parse(path, mode="eval").body, frame)
    except (SyntaxError, ValueError):
        return MISSING


def _is_used_alone(value: Any, place: Place, frame: FrameType) -> bool:
    """Return whether the failing expression uses a traced value, no other one, and would work on its Python value.

    What a function of JAX returns is traced, whatever its arguments are.
    """
    node = used(place)
    test = node.test if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert) else node
    joined = (each for each in ast.walk(place.statement or ast.Pass()) if isinstance(each, ast.BoolOp))
    test = next((each for each in joined if any(part is test for part in ast.walk(each))), test)
    found = [each for _, each in tracers_in(test, frame)]
    if test is None or not found or any(each is not value for each in found):
        return False
    for each in ast.walk(test):
        if isinstance(each, ast.Attribute) and value_of(each.value, frame) is value:
            return False
        tested = each is test and (node is not test or place.operation == "TO_BOOL")
        if isinstance(each, ast.Call) and (each is not test or tested) and any(True for _ in tracers_in(each, frame)):
            return False
    return True


def _passed(path: str, traced: FrameType, place: Place, frame: FrameType) -> Selector | None:
    """Return the argument that a call of a jitted function passes for a parameter."""
    node = place.node
    if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    leading = _leading(node, frame)
    keyword = re.fullmatch(r"(?:\w+\[')?(\w+)(?:'\])?", path)
    code = traced.f_code
    parameters = code.co_varnames[: code.co_argcount]
    rest = re.fullmatch(r"(\w+)\[(\d+)\]", path)
    collected = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :][:1]
    if leading is None or (not keyword and not rest):
        return None
    position = parameters.index(path) - leading if path in parameters else None
    if rest is not None:
        if not code.co_flags & inspect.CO_VARARGS or collected != (rest[1],):
            return None
        position = len(parameters) - leading + int(rest[2])
    name = keyword[1] if keyword is not None and rest is None else ""
    given = next((each.value for each in node.keywords if name and each.arg == name), None)
    if given is None and position is not None and 0 <= position < len(node.args):
        given = node.args[position]
    value = MISSING if given is None else value_of(given, frame)
    if given is None or not is_exactly(value, *_SELECTING):
        return None
    return Selector(
        function=ast.unparse(node.func),
        argument=name or ast.unparse(given),
        option=f'static_argnames="{name}"' if name else f"static_argnums={position}",
        type=str(of_type("__name__", type(value))),
    )


def _leading(node: ast.Call, frame: FrameType) -> int | None:
    """Return how many arguments a jitted function passes by itself; ``None`` if the call is of another function."""
    function = node.func
    if isinstance(function, ast.Call):  # jax.jit(f)(x)
        jit = value_of(function.func, frame)
        if not is_exactly(jit, FunctionType) or jit.__name__ != "jit" or _package(jit.__module__) not in _JITTING:
            return None
        if not function.args:
            return None
        return int(_is_method(function.args[0], frame))
    jitted = value_of(function, frame)
    kind = type(jitted)
    if of_type("__name__", kind) not in ("PjitFunction", "JitFn", "JitWrapped"):
        return None
    if _package(of_type("__module__", kind)) not in _JITTING and of_type("__module__", kind) != "jaxlib._jax":
        return None
    if is_exactly(attribute(jitted, "__wrapped__"), MethodType):
        return 1
    if not isinstance(function, ast.Attribute):
        return 0
    return int(_is_method(function, frame))


def _is_method(node: ast.expr, frame: FrameType) -> bool:
    """Return whether an expression is a method of an object, found in its class."""
    if not isinstance(node, ast.Attribute):
        return is_exactly(value_of(node, frame), MethodType)
    owner = value_of(node.value, frame)
    if owner is MISSING or is_a(owner, (type, ModuleType)):
        return False
    found = member(type(owner), node.attr)
    return is_exactly(found, FunctionType) or of_type("__name__", type(found)) in ("PjitFunction", "JitFn")


def _package(module: object) -> str:
    return str(module).partition(".")[0] if is_exactly(module, str) else ""
