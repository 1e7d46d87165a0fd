"""Decides whether an argument may be made static: a Python number or flag that reaches the failing line unchanged."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from .....records.call_stack import Frame
from .....records.note import Note, note
from ....record.failure import Failure, Passed
from ..expression import Expression, spelled, value_named, with_imports
from .size_use import is_number

#: Libraries whose functions compute with traced values, but for those that select what is computed.
_ON_JAX = re.compile(r"/(flax|equinox|optax|haiku|numpyro|diffrax|optimistix|lineax|blackjax|distrax)/")


class StaticArgument(NamedTuple):
    """An argument that could be static.

    Attributes:
        name: its name.
        certain: ``"yes"`` if the call passes a Python value that can be hashed, ``"unknown"`` if that is unknown.
        type: the Python type that is passed.
    """

    name: str
    certain: Literal["yes", "unknown"]
    type: str | None


def static_argument(failure: Failure, failing: Expression | None, *, of_size: bool = False) -> StaticArgument | None:
    """Return the argument of a jitted function of which Python computes the failing value; ``None`` if there is none.

    It must be the only one on which the value depends, and no array where the function is called. A float is one that
    may be static if a size is computed of it.
    """
    traced = failure.traced
    if failure.selector is not None:
        given, name = failure.selector, failure.selector.argument
        if failure.call is None or name not in failure.call.unfit:
            return StaticArgument(name, "yes", given.type)
    if (
        traced is None
        or traced.transform != "jit"
        or not failure.own
        or len(traced.arguments) != 1
        or failing is None
    ):
        return None
    name = traced.arguments[0]
    value, nodes = value_named(failure, name), list(_computed(failure, failing))
    used = any(isinstance(each, ast.Name) and each.id == name for each in nodes)
    if name not in failure.parameters or not used or (value is not None and not value.type.endswith("[]")):
        return None
    call = failure.call
    if call is None:  # nothing says that the function does not assign to it
        return None
    inner = any(isinstance(each, ast.Call) and each is not failing.node and not is_number(each) for each in nodes)
    if name in call.unfit or inner:  # what a function of JAX returns is traced, even if its argument is static
        return None
    passed = next((each for each in call.arguments if each.name == name), None)
    if passed is None or passed.type is None:
        may_be_int = value is not None and value.type.startswith(("i", "u", "bool"))
        return StaticArgument(name, "unknown", None) if may_be_int else None
    return StaticArgument(name, "yes", passed.type) if _is_plain(passed, of_size) else None


def _computed(failure: Failure, failing: Expression) -> Iterator[ast.AST]:
    """Iterate over the nodes of the failing expression, and of what its variables were computed of."""
    known, waiting = dict(failure.computed_of), [failing.node]
    while waiting:
        for each in ast.walk(waiting.pop()):
            yield each
            if isinstance(each, ast.Name) and each.id in known:
                waiting.append(ast.parse(known.pop(each.id), mode="eval"))


def _is_plain(passed: Passed, of_size: bool) -> bool:
    """Return whether an argument selects a program, as a size or a flag does; another float is data."""
    return passed.type in ("int", "bool", "str") or (of_size and passed.type == "float")


def write_static(failure: Failure, static: StaticArgument) -> tuple[Note, str | None]:
    """Return the advice to make an argument static, and the decorator that does it."""
    given, traced = failure.selector, failure.traced
    function = given.function if given is not None else "the function" if traced is None else traced.function
    code = static_decorator(failure, static.name)
    option = given.option if given is not None and code is None else ""
    kind = static.type or ""
    return note("doctor.write_static", argument=static.name, type=kind, function=function, option=option), code


def library_remedy(failure: Failure, failing: Expression | None, library: Frame) -> Note:
    """Return the advice for a library's function that needs a Python value and gets a traced one."""
    called = (None if failing is None else failing.called) or library.function
    if _ON_JAX.search(library.file.replace("\\", "/")):
        return note("doctor.write_option", function=called)
    return note("doctor.write_library", function=called)


def static_decorator(failure: Failure, name: str) -> str | None:
    """Return the decorator with the argument made static; ``None`` if the function is jitted in another way."""
    call = failure.call
    if call is None or call.decorator is None:
        return None
    functools = spelled(failure, "functools")
    code = f'@{functools}.partial({call.decorator}, static_argnames="{name}")'
    return with_imports(failure, code, "functools")
