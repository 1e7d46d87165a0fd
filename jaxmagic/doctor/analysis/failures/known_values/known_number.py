"""Advises what to write where a number has to be known during tracing: for a size, or the steps of Python's loop."""

from __future__ import annotations

import ast
import re

from .....records.note import Note, note
from ....record.failure import Failure
from ..expression import Expression, is_jax, spelled, value_named
from .size_use import SizeUse, is_number
from .static_argument import StaticArgument, computed, write_static

#: An element or an attribute of an argument, as JAX names it, such as ``cfg['h']``, ``shape[0]`` and ``cfg.h``.
_PART = re.compile(r"(\w+)[.\[].*", re.DOTALL)


def known_number(
    failure: Failure, failing: Expression | None, static: StaticArgument | None, size: SizeUse
) -> tuple[Note, str | None]:
    """Return the advice for a number that has to be known during tracing, converted or not."""
    lax = spelled(failure, "jax.lax")
    if static is not None and static.certain == "yes":
        return write_static(failure, static)
    given = _given_number(failure, failing)
    if given is not None:
        return given, None
    if size == "range":
        return note("doctor.write_fori", lax=lax), None
    if size == "slice":
        return note("doctor.write_slice", lax=lax), None
    if static is not None:
        function = failure.traced.function if failure.traced is not None else ""
        return note("doctor.write_static_perhaps", argument=static.names[0], function=function), None
    return note("doctor.write_known_size"), None


def perhaps_static(failure: Failure) -> Note | None:
    """Return the advice for one integer that decides a size as well, where it is unknown what the call passes."""
    traced = failure.traced
    if failure.call is not None or traced is None or traced.transform != "jit" or len(traced.arguments) != 1:
        return None
    (argument,) = traced.arguments
    value = value_named(failure, argument)
    if value is None or not value.type.endswith("[]") or not value.type.startswith(("i", "u")):
        return None
    return note("doctor.write_static_perhaps", argument=argument, function=traced.function)


def _given_number(failure: Failure, failing: Expression | None) -> Note | None:
    """Return the advice for a size that depends on one argument alone: a Python number, or a part of a container.

    Whether the user's own functions compute the size with Python alone is said as a condition.
    """
    traced = failure.traced
    if traced is None or traced.transform != "jit" or len(traced.arguments) != 1 or failing is None:
        return None
    (argument,) = traced.arguments
    nodes = list(computed(failure, failing))
    calls = [each for each in nodes if isinstance(each, ast.Call) and each is not failing.node]
    inner = [ast.unparse(each) for each in calls if not is_number(each)]
    container = _PART.fullmatch(argument)
    if container is not None:
        if inner or not _is_number_itself(nodes, argument):
            return None
        return note("doctor.write_static_part", argument=argument, container=container[1], function=traced.function)
    passed = () if failure.call is None else failure.call.arguments
    number = next((each for each in passed if each.name == argument and each.type in ("int", "bool")), None)
    if number is None or failure.call is None or argument in failure.call.unfit:
        return None
    if len(inner) > 1 or any(is_jax(failure, each) for each in inner) or (failure.own and not inner):
        return None
    return note(
        "doctor.write_static_if",
        argument=argument,
        type=number.type or "",
        function=traced.function,
        computed="".join(inner),
    )


def _is_number_itself(nodes: list[ast.AST], argument: str) -> bool:
    """Return whether expressions read an argument, and nothing reads an element or an attribute of it."""
    parts = [each for each in nodes if isinstance(each, ast.Subscript | ast.Attribute)]
    return any(ast.unparse(each) == argument for each in parts) and all(
        ast.unparse(each.value) != argument for each in parts
    )
