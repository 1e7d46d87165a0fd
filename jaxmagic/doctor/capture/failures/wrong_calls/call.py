"""Reads a call at which the user's innermost line failed."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from types import FrameType, FunctionType, TracebackType
from typing import Any, NamedTuple

from .....runtime.around import is_exactly
from .....runtime.tracing import is_array, is_tracer, passed_to
from ....analysis.failures.messages import is_jax_file
from ..called import users_last
from ..calls import MISSING, value_of, wrapped_function
from ..operands import array_type
from ..statement import place_of

#: The kinds of parameters that are passed by position, and by keyword.
_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
_KEYWORDS = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


class Call(NamedTuple):
    """A call at which the user's innermost line failed.

    Attributes:
        node: the call.
        values: the positional arguments; ``MISSING`` for unknown ones.
        parameters: the positional parameters of the function of JAX, without ``self``; empty if they are unknown.
        keywords: the keywords that it takes; ``None`` if they are unknown.
        owner: the object whose method or attribute is called; ``MISSING`` if it is unknown.
        frame: the frame of the line.
        in_jax: whether the call led to code of JAX.
        in_jax_module: whether the function that it calls is one of JAX.
        passed: the variables of the function of JAX, which are its arguments at first; empty if it was not entered.
    """

    node: ast.Call
    values: list[Any]
    parameters: tuple[str, ...]
    keywords: frozenset[str] | None
    owner: Any
    frame: FrameType
    in_jax: bool
    in_jax_module: bool
    passed: Mapping[str, Any]

    def value_of(self, node: ast.expr) -> Any:
        """Return the value of an argument, ``MISSING`` if it is unknown."""
        return argument(node, self.frame)


def call_at(traceback: TracebackType | None) -> Call | None:
    """Return the call at which the user's innermost line failed; ``None`` if it failed at something else."""
    last = users_last(traceback)
    node = None if last is None else place_of(last.tb_frame.f_code, last.tb_lasti).node
    if last is None or not isinstance(node, ast.Call):
        return None
    frame, inner = last.tb_frame, last.tb_next
    function = jax_function(value_of(node.func, frame))
    owner = value_of(node.func.value, frame) if isinstance(node.func, ast.Attribute) else None
    bound = is_array(owner) or is_tracer(owner)
    values = [value for each in node.args for value in _known_parts(each, frame)]
    passed: Mapping[str, Any] = {}
    if inner is not None and function is not None and inner.tb_frame.f_code.co_name == function.__name__:
        passed = inner.tb_frame.f_locals
        given = [*passed_to(inner.tb_frame)[bound:], *[MISSING] * len(values)]
        values = [new if old is MISSING else old for old, new in zip(values, given, strict=False)]
    return Call(
        node=node,
        values=values,
        parameters=tuple(_parameters(function, *_POSITIONAL))[bound:],
        keywords=_keywords(function),
        owner=owner,
        frame=frame,
        in_jax=inner is not None and is_jax_file(inner.tb_frame.f_code.co_filename),
        in_jax_module=function is not None,
        passed=passed,
    )


def _known_parts(node: ast.expr, frame: FrameType) -> list[Any]:
    """Return the value of an argument, or the values that a star passes: two unknown ones if they are unknown."""
    if not isinstance(node, ast.Starred):
        return [argument(node, frame)]
    value = value_of(node.value, frame)
    return [*value] if is_exactly(value, list, tuple) else [MISSING, MISSING]


def argument(node: ast.expr, frame: FrameType) -> Any:
    """Return the value of an argument; ``MISSING`` also for a property of an array, such as its shape."""
    value = value_of(node, frame)
    owner = value_of(node.value, frame) if isinstance(node, ast.Attribute) else None
    return MISSING if is_array(owner) or is_tracer(owner) else value


def jax_function(value: Any) -> FunctionType | None:
    """Return a function of JAX, without ``jit`` around it; ``None`` for anything else."""
    function = wrapped_function(value) or value
    if not is_exactly(function, FunctionType) or not is_jax_file(function.__code__.co_filename):
        return None
    known: FunctionType = function
    return known if str(known.__module__).partition(".")[0] == "jax" else None


def _parameters(function: FunctionType | None, *kinds: object) -> list[str]:
    """Return the parameters of a function that are of some kinds; none if they are unknown."""
    if function is None:
        return []
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [each.name for each in parameters if each.kind in kinds]


def _keywords(function: FunctionType | None) -> frozenset[str] | None:
    """Return the keywords that a function takes; ``None`` if it passes any on, as methods of traced values do."""
    if function is None or _parameters(function, inspect.Parameter.VAR_KEYWORD):
        return None
    return frozenset(_parameters(function, *_KEYWORDS))


def is_of_array(call: Call) -> bool:
    """Return whether a call is one of a method of an array of JAX, or of a traced value."""
    return is_array(call.owner) or is_tracer(call.owner)


def rank(value: Any) -> int:
    """Return the number of axes of an array of JAX or NumPy, or a traced value; -1 for other values."""
    kind = None if value is MISSING else array_type(value)
    return -1 if kind is None else len([each for each in kind.partition("[")[2].removesuffix("]").split(",") if each])
