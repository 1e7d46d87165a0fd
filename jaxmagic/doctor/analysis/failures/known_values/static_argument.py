"""Decides whether an argument may be made static: a Python number or flag that reaches the failing line unchanged."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from .....records.call_stack import Frame
from .....records.names import one_or_tuple
from .....records.note import Note, note
from ....record.failing_code import Passed
from ....record.failure import Failure
from ..expression import Expression, spelled, value_named, with_imports
from .size_use import is_number, loops_in, names_in_body, parts_in, sizes_in
from .static_options import jit_with_static, options_for

#: Libraries whose functions compute with traced values, but for those that select what is computed.
_ON_JAX = re.compile(r"/(flax|equinox|optax|haiku|numpyro|diffrax|optimistix|lineax|blackjax|distrax)/")


class StaticArgument(NamedTuple):
    """An argument that could be static, or several that have to be static together.

    Attributes:
        names: their names.
        certain: ``"yes"`` if the call passes Python values that can be hashed, ``"unknown"`` if that is unknown.
        type: the Python type that is passed; ``None`` if it is unknown, or if there are several.
    """

    names: tuple[str, ...]
    certain: Literal["yes", "unknown"]
    type: str | None


def static_argument(failure: Failure, failing: Expression | None, *, of_size: bool = False) -> StaticArgument | None:
    """Return the arguments of a jitted function of which Python computes the failing value; ``None`` without any.

    They must be all on which the value and the sizes beside it depend, and no arrays where the function is called. A
    float is one that may be static if a size is computed of it.
    """
    traced = failure.traced
    if failure.selector is not None:
        given, name = failure.selector, failure.selector.argument
        if failure.call is None or name not in failure.call.unfit:
            beside = [] if failing is None else [*_of_sizes(failure, failing)]
            found = [_static(failure, failing, each, of_size) for each in beside if failing is not None]
            if name not in beside or not all(each is not None and each.certain == "yes" for each in found):
                return _with_others(failure, (name,), {given.type})
            types = {each.type for each in found if each is not None}
            return _with_others(failure, tuple(dict.fromkeys((name, *beside))), types | {given.type})
    if traced is None or traced.transform != "jit" or not failure.own or failing is None:
        return None
    names = tuple(dict.fromkeys((*traced.arguments, *_of_sizes(failure, failing))))
    found = [_static(failure, failing, each, of_size) for each in names]
    alone = len(found) == 1
    if not found or any(each is None or (each.certain != "yes" and not alone) for each in found):
        return None
    types = {each.type for each in found if each is not None}
    certain = "yes" if not alone or found[0] is None else found[0].certain
    if certain == "yes":
        return _with_others(failure, names, types)
    return StaticArgument(names, certain, types.pop() if len(types) == 1 else None)


def _with_others(failure: Failure, names: tuple[str, ...], types: set[str | None]) -> StaticArgument:
    """Return arguments that may be static, with those that decide sizes in other lines of the same function."""
    traced = failure.traced
    own = failure.own and traced is not None and traced.transform == "jit" and set(names) <= set(failure.parameters)
    others = {each.name: each.type for each in _other_sizes(failure) if own and each.name not in names}
    types = {*types, *others.values()}
    return StaticArgument((*names, *others), "yes", types.pop() if len(types) == 1 else None)


def _of_sizes(failure: Failure, failing: Expression) -> Iterator[str]:
    """Iterate over the arguments on which the sizes in the failing expression depend: JAX names those of one."""
    for name in sizes_in(failure, failing):
        value = value_named(failure, name)
        if value is not None and value.origin is not None and value.origin.line == getattr(failure.traced, "line", 0):
            yield from value.origin.arguments


def _other_sizes(failure: Failure) -> Iterator[Passed]:
    """Iterate over the arguments that decide sizes in other lines, at which the function would fail next."""
    call, names = failure.call, names_in_body(failure, "range", "slice", "size")
    for each in () if call is None else call.arguments:
        fits = each.type == "int" and each.name in failure.parameters and each.name in names
        if call is not None and fits and each.name not in (*call.unfit, *call.static):
            yield each


def is_jitted_itself(failure: Failure) -> bool:
    """Return whether the failing call is of a function of JAX that the user jits, as ``jax.jit(jnp.sum)``."""
    return "jitted itself" in dict(failure.said)


def is_static(failure: Failure, failing: Expression, name: str) -> bool:
    """Return whether a name is an argument of a jitted function that may be static: a Python integer at the call."""
    own = failure.own and failure.traced is not None and failure.traced.transform == "jit"
    found = _static(failure, failing, name, False) if own else None
    return found is not None and found.certain == "yes" and found.type == "int"


def _static(failure: Failure, failing: Expression, name: str, of_size: bool) -> StaticArgument | None:
    """Return an argument of which Python computes the failing value, if it may be static."""
    value, nodes = value_named(failure, name), list(computed(failure, failing))
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
        return StaticArgument((name,), "unknown", None) if may_be_int else None
    return StaticArgument((name,), "yes", passed.type) if _is_plain(passed, of_size) else None


def computed(failure: Failure, failing: Expression) -> Iterator[ast.AST]:
    """Iterate over the nodes of the failing expression, and of what its variables were computed of.

    In a call whose sizes depend on all that the value depends on, these are the nodes of its sizes.
    """
    arguments = () if failure.traced is None else failure.traced.arguments
    parts: list[ast.AST] = [*parts_in(failure, failing)]
    looped = {name: ast.unparse(each.iter) for each in loops_in(failing) for name in _targets(each)}
    known = {**dict(failure.computed_of), **looped}
    nodes = list(_with_computed(known, parts))
    names = {each.id for each in nodes if isinstance(each, ast.Name)}
    yield from nodes if arguments and names.issuperset(arguments) else _with_computed(known, [_decided(failing)])


def _decided(failing: Expression) -> ast.AST:
    """Return the failing expression; what a ``match`` statement compares with a pattern in place of the pattern."""
    match = failing.statement
    patterns = [case.pattern for case in match.cases] if isinstance(match, ast.Match) else []
    inside = any(failing.node is part for each in patterns for part in ast.walk(each))
    return match.subject if isinstance(match, ast.Match) and inside else failing.node


def _targets(loop: ast.comprehension) -> list[str]:
    return [each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)]


def _with_computed(computed_of: Mapping[str, str], waiting: list[ast.AST]) -> Iterator[ast.AST]:
    known, waiting = dict(computed_of), [*waiting]
    while waiting:
        for each in ast.walk(waiting.pop()):
            yield each
            if isinstance(each, ast.Name) and each.id in known:
                waiting.append(ast.parse(known.pop(each.id), mode="eval"))


def _is_plain(passed: Passed, of_size: bool) -> bool:
    """Return whether an argument selects a program, as a size or a flag does; another float is data."""
    return passed.type in ("int", "bool", "str") or (of_size and passed.type == "float")


def write_static(failure: Failure, static: StaticArgument, traced_too: str = "") -> tuple[Note, str | None]:
    """Return the advice to make an argument static, and the decorator that does it.

    Args:
        failure: the failure.
        static: the argument.
        traced_too: an expression in place of the failing one that takes a traced value, if there is one.
    """
    given, traced = failure.selector, failure.traced
    function = given.function if given is not None else "the function" if traced is None else traced.function
    code, call = static_decorator(failure, *static.names), failure.call
    option = given.option if given is not None and code is None else ""
    jit = given.jit if given is not None and len(static.names) == 1 else "" if call is None else call.jit
    if code is None and (given is None or len(static.names) > 1):
        whole = options_for(failure, static.names)
        option = whole if given is None and len(static.names) == 1 and call is not None and call.static else option
        code = jit_with_static(failure, jit, whole) if call is not None and call.options is not None else None
    code = code or jit_with_static(failure, jit, option)
    kind, names = static.type or "", ", ".join(static.names)
    passed = () if failure.call is None else failure.call.arguments
    varying = ", ".join(each.name for each in passed if each.varies and each.name in static.names)
    remedy = note(
        "doctor.write_static",
        argument=names,
        type=kind,
        function=function,
        option=option,
        varying=varying,
        traced_too=traced_too,
    )
    return remedy, code


def library_remedy(failure: Failure, failing: Expression | None, library: Frame) -> Note:
    """Return the advice for a library's function that needs a Python value and gets a traced one."""
    called = (None if failing is None else failing.called) or library.function
    if _ON_JAX.search(library.file.replace("\\", "/")):
        return note("doctor.write_option", function=called)
    return note("doctor.write_library", function=called)


def static_decorator(failure: Failure, *names: str) -> str | None:
    """Return the decorator with arguments made static; ``None`` if the function is jitted in another way."""
    call = failure.call
    if call is None or call.decorator is None:
        return None
    functools = spelled(failure, "functools")
    static = one_or_tuple(names)
    return with_imports(failure, f"@{functools}.partial({call.decorator}, static_argnames={static})", "functools")
