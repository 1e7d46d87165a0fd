"""Finds the jitted functions that some code names, so that rules can tell which call ran which program."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping
from typing import Any

from ...records.cell_names import text_of
from ...runtime.around import is_a, of_type
from ...runtime.private_api import static_arguments
from ..analysis.parsed_code import parsed
from ..record.jitted_names import JittedName, StaticParameters
from .frames import first_line
from .remedies.user_functions import jitted_functions

#: A declaration, with its decorators, has at most this many lines.
_MOST_LINES = 20


def jitted_names(code: str | None, variables: Mapping[str, Any]) -> tuple[JittedName, ...]:
    """Return the jitted functions among the variables that the code names; attributes of objects are not read.

    >>> import jax
    >>> @jax.jit
    ... def step(x):
    ...     return x + 1
    >>> [(each.name, each.function) for each in jitted_names("y = step(x)", {"step": step, "x": 1})]
    [('step', 'step')]
    """
    tree = parsed(code)
    names = {each.id: None for each in ast.walk(tree) if isinstance(each, ast.Name)}
    found = (described(name, variables[name]) for name in names if name in variables)
    return tuple(each for each in found if each is not None)


def static_parameters(variables: Mapping[str, Any]) -> tuple[StaticParameters, ...]:
    """Return the static parameters of the jitted functions that some variables lead to.

    >>> import jax
    >>> f = jax.jit(lambda x, axis: x.sum(axis), static_argnames="axis")
    >>> [each.names for each in static_parameters({"f": f})]
    [('axis',)]
    """
    found: dict[StaticParameters, None] = {}
    for each in jitted_functions(dict(variables)):
        function = getattr(each, "__wrapped__", None)
        names = tuple(static_arguments(each).get("static_argnames") or ())
        if names and function is not None and is_a(function, types.FunctionType):
            found[StaticParameters(function=function.__name__, names=names)] = None
    return tuple(found)


def described(name: str, value: Any) -> JittedName | None:
    """Describe what a variable stands for; ``None`` if that is no jitted function of the user's."""
    if of_type("__name__", type(value)) != "PjitFunction":
        return None
    function = getattr(value, "__wrapped__", None)
    if function is None or not is_a(function, types.FunctionType):
        return None
    place = first_line(function)
    declared = _declared(place.file, place.line)
    static = tuple(static_arguments(value).get("static_argnames") or ())
    return JittedName(name=name, function=place.function, location=place.location, declared=declared, static=static)


def _declared(file: str, line: int) -> str:
    """Return the decorators of a function and the line with ``def``; empty if they cannot be read."""
    lines = text_of(file)[line - 1 : line - 1 + _MOST_LINES]
    for number, text in enumerate(lines):
        if text.lstrip().startswith(("def ", "async def ")):
            return "\n".join(lines[: number + 1])
    return ""
