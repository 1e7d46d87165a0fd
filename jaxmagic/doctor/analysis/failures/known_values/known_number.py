"""Advises what to write where a number has to be known during tracing: for a size, or the steps of Python's loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from .....records.note import Note, note
from ....record.failure import Failure
from ..expression import Expression, is_jax, spelled, value_named
from .size_use import SEGMENTED, SizeUse, is_number
from .static_argument import StaticArgument, computed, write_static
from .static_options import options_for

#: An element or an attribute of an argument, as JAX names it, such as ``cfg['h']``, ``shape[0]`` and ``cfg.h``.
_PART = re.compile(r"(\w+)[.\[].*", re.DOTALL)

#: Methods that make a list longer, and functions of Python that make one value of it.
_LENGTHENING = "append", "extend", "insert"
_REDUCING = "sum", "max", "min", "any", "all"

#: An element of a tuple or a list.
_ELEMENT = re.compile(r"\w+\[\d+\]")


def known_number(
    failure: Failure, failing: Expression | None, static: StaticArgument | None, size: SizeUse
) -> tuple[Note, str | None]:
    """Return the advice for a number that has to be known during tracing, converted or not."""
    lax = spelled(failure, "jax.lax")
    if static is not None and static.certain == "yes":
        return write_static(failure, static)
    given = _given_number(failure, failing)
    if given is not None:
        return given
    if size == "range" and not (failing is not None and _lengthens(failing)):
        return note("doctor.write_fori", lax=lax), None
    if size == "slice":
        return note("doctor.write_slice", lax=lax), None
    if static is not None:
        function = failure.traced.function if failure.traced is not None else ""
        name = static.names[0]
        option = options_for(failure, (name,))
        return note("doctor.write_static_perhaps", argument=name, function=function, option=option), None
    called = "" if failing is None else failing.called or ""
    return note("doctor.write_known_size", segments=called.rpartition(".")[2] in SEGMENTED), None


def _lengthens(failing: Expression) -> bool:
    """Return whether each step of the loop adds an element to a list: how many it has depends on the number then."""
    statement = failing.statement
    if isinstance(statement, ast.For) and any(failing.node is each for each in ast.walk(statement.iter)):
        calls = [each.func for part in statement.body for each in ast.walk(part) if isinstance(each, ast.Call)]
        return any(isinstance(each, ast.Attribute) and each.attr in _LENGTHENING for each in calls)
    nodes = [*ast.walk(statement)]
    reduced = [each.args for each in nodes if isinstance(each, ast.Call) and ast.unparse(each.func) in _REDUCING]
    listed = [each for each in nodes if isinstance(each, ast.ListComp) and [each] not in reduced]
    return any(failing.node is part for each in listed for loop in each.generators for part in ast.walk(loop.iter))


def perhaps_static(failure: Failure) -> Note | None:
    """Return the advice for one integer that decides a size as well, where it is unknown what the call passes."""
    traced = failure.traced
    if failure.call is not None or traced is None or traced.transform != "jit" or len(traced.arguments) != 1:
        return None
    (argument,) = traced.arguments
    value = value_named(failure, argument)
    if value is None or not value.type.endswith("[]") or not value.type.startswith(("i", "u")):
        return None
    option = options_for(failure, (argument,))
    return note("doctor.write_static_perhaps", argument=argument, function=traced.function, option=option)


def flag_in_container(failure: Failure, condition: str) -> Note | None:
    """Return the advice for a condition that is an entry of an argument, such as ``flags["train"]``."""
    traced = failure.traced
    container = None if traced is None or traced.arguments != (condition,) else _PART.fullmatch(condition)
    if traced is None or container is None or traced.transform != "jit" or failure.type != "bool[]":
        return None
    return note(
        "doctor.write_static_flag",
        argument=condition,
        container=container[1],
        function=traced.function,
        jnp=spelled(failure, "jax.numpy"),
    )


def _given_number(failure: Failure, failing: Expression | None) -> tuple[Note, str | None] | None:
    """Return the advice for a size that depends on one argument alone: a Python number, or a container of them.

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
        return None if inner else _container(failure, nodes, argument, container[1])
    passed = () if failure.call is None else failure.call.arguments
    number = next((each for each in passed if each.name == argument and each.type in ("int", "bool")), None)
    if number is None or failure.call is None or argument in failure.call.unfit:
        return None
    if len(inner) > 1 or any(is_jax(failure, each) for each in inner) or (failure.own and not inner):
        return None
    advice = note(
        "doctor.write_static_if",
        argument=argument,
        type=number.type or "",
        function=traced.function,
        computed="".join(inner),
        option=options_for(failure, (argument,)),
    )
    return advice, None


def _container(
    failure: Failure, nodes: Sequence[ast.AST], argument: str, name: str
) -> tuple[Note, str | None] | None:
    """Return the advice for numbers in a container: to make all of it static if it is a tuple or a list of them."""
    read, call = _read(nodes, argument), failure.call
    function = failure.traced.function if failure.traced is not None else ""
    unfit = call is not None and name in call.unfit
    if read is None or (read == name and unfit):
        return None
    passed = None if call is None else next((each for each in call.arguments if each.name == name), None)
    holds = passed is None or (passed.type in ("tuple", "list") and passed.flat is not False)
    if not _ELEMENT.fullmatch(argument) or unfit or not holds:
        return None if read == name else (_part(read, argument, name, function), None)
    option = options_for(failure, (name,))
    if passed is None or passed.flat is None:
        advice = note("doctor.write_static_perhaps", argument=name, function=function, tuple=True, option=option)
        return advice, None
    if passed.type == "tuple":
        return write_static(failure, StaticArgument((name,), "yes", "tuple"))
    return note("doctor.write_static_list", argument=name, function=function, option=option), None


def _part(read: str, argument: str, container: str, function: str) -> Note:
    several = read != argument
    return note("doctor.write_static_part", argument=read, container=container, function=function, several=several)


def _read(nodes: Sequence[ast.AST], argument: str) -> str | None:
    """Return which part of an argument expressions read, such as ``cfg['shape']`` for the number ``cfg['shape'][0]``.

    ``None`` if they read an element or an attribute of the number, which is an array then.
    """
    parts = [each for each in nodes if isinstance(each, ast.Name | ast.Subscript | ast.Attribute)]
    texts = {ast.unparse(each) for each in parts}
    if any(not isinstance(each, ast.Name) and ast.unparse(each.value) == argument for each in parts):
        return None
    found = [each for each in texts if argument == each or re.match(rf"{re.escape(each)}[.\[]", argument)]
    return max(found, key=len, default=None)
