"""Finds the Python value that became a traced one at a call of ``jit``, and reached the failing line unchanged."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from .....runtime.around import attribute, is_a, is_exactly, member, of_type
from .....runtime.private_api import static_arguments
from .....runtime.tracing import is_tracer
from ....analysis.failures.known_values.static_options import static_option
from ....record.failing_code import Traced
from ....record.library_use import Selector
from ..calls import MISSING, value_of
from ..jit_calls.call_values import CallValues
from ..jit_calls.static_options import definition_of, jit_code, static_options
from ..statement import Place
from ..traced.leaked import tracers_in, used

#: Types of values that select a program rather than being data.
_SELECTING = bool, int, str

#: Packages whose ``jit`` has JAX's options ``static_argnames`` and ``static_argnums``.
_JITTING = "jax", "jaxlib", "flax"


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
    found = None if frame is None else _parameter(path, frame, failed)
    if frame is None or found is None:
        return None
    outside: FrameType | None = frame.f_back
    while outside is not None:
        caller = next((each for each in callers if each[1] is outside), None)
        if caller is not None:
            return _passed(found, *caller, frame)
        outside = outside.f_back
    return None


class _Parameter(NamedTuple):
    """An argument that JAX names.

    Attributes:
        name: its name; empty if it has none.
        position: its position; ``None`` if it has none.
    """

    name: str
    position: int | None


def _parameter(path: str, frame: FrameType, failed: tuple[Place, FrameType]) -> _Parameter | None:
    """Return the argument that JAX names, if its traced value is what failed; ``None`` otherwise."""
    code = frame.f_code
    named = code.co_varnames[: code.co_argcount]
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    positional = frame.f_locals.get(rest[0]) if code.co_flags & inspect.CO_VARARGS else None
    if (
        path.isidentifier() and path not in code.co_varnames
    ):  # of the signature that a library has given to a function
        keywords: Any = (
            frame.f_locals.get(rest[positional is not None]) if code.co_flags & inspect.CO_VARKEYWORDS else {}
        )
        if is_exactly(keywords, dict) and path in keywords:
            return _Parameter(path, None) if _fails(keywords[path], failed) else None
        given: Any = positional if is_exactly(positional, tuple) else ()
        places = [number for number, each in enumerate(given) if _fails(each, failed)]
        return _Parameter(path, len(named) + places[0]) if len(places) == 1 else None
    if not _fails(_argument(path, frame), failed):
        return None
    collected = re.fullmatch(r"(\w+)\[(\d+)\]", path)
    if collected is not None:
        return _Parameter("", len(named) + int(collected[2]) if code.co_flags & inspect.CO_VARARGS else None)
    keyword = re.fullmatch(r"\w+\['(\w+)'\]", path) if code.co_flags & inspect.CO_VARKEYWORDS else None
    if keyword is not None:
        own = rest[: 1 + bool(code.co_flags & inspect.CO_VARARGS)]
        return _Parameter(keyword[1] if path.startswith(f"{own[-1]}[") else "", None)
    return _Parameter(path if path.isidentifier() else "", named.index(path) if path in named else None)


def _fails(value: Any, failed: tuple[Place, FrameType]) -> bool:
    return is_tracer(value) and _is_used_alone(value, *failed)


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
    node = _decides(used(place), frame)
    test = node.test if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert) else node
    joined = (each for each in ast.walk(place.statement or ast.Pass()) if isinstance(each, ast.BoolOp))
    test = next((each for each in joined if any(part is test for part in ast.walk(each))), test)
    found = [each for _, each in tracers_in(test, frame)]
    if test is None or not found or any(each is not value for each in found):
        return False
    for each in ast.walk(test):
        if isinstance(each, ast.Attribute) and value_of(each.value, frame) is value:
            return False
        tests = place.operation == "TO_BOOL" or "JUMP" in place.operation  # before Python 3.13, the jump does it
        tested = each is test and (node is not test or tests)
        if isinstance(each, ast.Call) and (each is not test or tested) and any(True for _ in tracers_in(each, frame)):
            return False
    return True


def _decides(node: ast.AST | None, frame: FrameType) -> ast.AST | None:
    """Return what has to be known of an expression: the bounds of a slice, and the sizes that a method takes."""
    if isinstance(node, ast.Subscript) and any(isinstance(each, ast.Slice) for each in ast.walk(node.slice)):
        return node.slice
    method = node.func if isinstance(node, ast.Call) else None
    if isinstance(node, ast.Call) and isinstance(method, ast.Attribute) and is_tracer(value_of(method.value, frame)):
        return ast.Tuple([*node.args, *(each.value for each in node.keywords)], ast.Load())
    return node


def _passed(parameter: _Parameter, place: Place, frame: FrameType, traced: FrameType) -> Selector | None:
    """Return the argument that a call of a jitted function passes for a parameter of the one that is traced."""
    node = place.node
    if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    jitted = _jitted(node, place, frame)
    if jitted is None:
        return None
    name, position = parameter
    if position is not None:
        position -= jitted.is_bound
    given = next((each.value for each in node.keywords if name and each.arg == name), None)
    place_at_call = -1 if position is None else position - jitted.is_method
    if given is None and 0 <= place_at_call < len(node.args):
        given = node.args[place_at_call]
    value = MISSING if given is None else CallValues(place, frame, traced).value_of(given)
    if given is None or not is_exactly(value, *_SELECTING):
        return None
    return Selector(
        function=ast.unparse(node.func),
        argument=name or ast.unparse(given),
        option=static_option(name, position, jitted.options),
        type=str(of_type("__name__", type(value))),
        jit=jit_code(node, jitted.home, place),
    )


class _Jitted(NamedTuple):
    """A jitted function that is called.

    Attributes:
        is_bound: whether a method was jitted that was bound to its object before.
        is_method: whether the call passes the object of the jitted method.
        options: which options for static arguments it has; ``None`` if that is unknown.
        home: the definition of the Python function; ``None`` if it is unknown.
    """

    is_bound: bool = False
    is_method: bool = False
    options: tuple[str, ...] | None = None
    home: ast.FunctionDef | None = None


def _jitted(node: ast.Call, place: Place, frame: FrameType) -> _Jitted | None:
    """Describe the jitted function that a call calls; ``None`` if it is another function."""
    function = node.func
    if isinstance(function, ast.Call):  # jax.jit(f)(x)
        jit = value_of(function.func, frame)
        if not is_exactly(jit, FunctionType) or jit.__name__ != "jit" or _package(jit.__module__) not in _JITTING:
            return None
        if not function.args:
            return None
        return _Jitted(is_bound=_is_method(function.args[0], frame), options=static_options(function, None, place))
    jitted = value_of(function, frame)
    kind = type(jitted)
    if of_type("__name__", kind) not in ("PjitFunction", "JitFn", "JitWrapped"):
        return None
    if _package(of_type("__module__", kind)) not in _JITTING:
        return None
    own = attribute(jitted, "__wrapped__")
    home = definition_of(own, place) if is_exactly(own, FunctionType) else None
    options = static_options(function, home, place)
    if options is None and not any(static_arguments(jitted).values()):
        options = ()
    if is_exactly(own, MethodType):
        return _Jitted(is_bound=True, options=options)
    return _Jitted(is_method=_is_method(function, frame), options=options, home=home)


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
