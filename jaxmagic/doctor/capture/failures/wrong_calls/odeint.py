"""Recognizes a function that takes the time first, although ``odeint`` passes it second."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FrameType, FunctionType

from ....analysis.failures.messages import is_jax_file
from ..statement import Place, definition

#: Kinds of errors of a scalar that is used as the state.
OF_TIME = "string index", "index count", "iterated"


def time_as_state(place: Place, frame: FrameType, callers: Sequence[FrameType]) -> dict[str, str]:
    """Return the function that ``odeint`` called, and its first two parameters, if it indexes or unpacks the second.

    Args:
        place: the place of the error.
        frame: the frame of the function.
        callers: the calls that led to it.
    """
    code = frame.f_code
    parameters = code.co_varnames[: code.co_argcount]
    is_called = any(_calls(each, frame) for each in callers)
    if not is_called or len(parameters) < 2 or _used(place) != parameters[1]:
        return {}
    home = definition(place.tree, code.co_name, code.co_firstlineno)
    names = [each for each in ast.walk(home) if isinstance(each, ast.Name)] if home is not None else []
    if home is None or any(each.id == parameters[1] and isinstance(each.ctx, ast.Store) for each in names):
        return {}
    return {"ode": code.co_name, "first": parameters[0], "second": parameters[1]}


def _calls(caller: FrameType, frame: FrameType) -> bool:
    """Return whether a call is one of ``odeint`` for the function of a frame."""
    code, function = caller.f_code, caller.f_locals.get("func")
    is_odeint = code.co_name == "odeint" and is_jax_file(code.co_filename)
    return is_odeint and isinstance(function, FunctionType) and function.__code__ is frame.f_code


def _used(place: Place) -> str:
    """Return the variable that the failing expression indexes, or that the statement unpacks."""
    match place.node, place.statement:
        case ast.Subscript(value=ast.Name(id=name)), _:
            return name
        case ast.Tuple() | ast.List() | ast.Name(), ast.Assign(
            targets=[ast.Tuple() | ast.List()], value=ast.Name(id=name)
        ):
            return name
    return ""
