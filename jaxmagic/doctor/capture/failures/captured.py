"""Follows deleted arrays into functions and libraries that use them, and out to callers of the failing function."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from types import FrameType, FunctionType, MethodType
from typing import Any

from ....compilation.capture.function_identity import innermost, of_partial
from ....runtime.around import attribute, enclosed, is_exactly, member
from ....runtime.tracing import is_array
from ...analysis.written_paths import root_of
from ..remedies.user_functions import global_names, is_users_function
from .buffers import Donors, deleted_in, donors_of, names_of
from .calls import is_jitted, value_of
from .entries import Entry
from .held import arrays_in
from .statement import Place

#: At most this many arrays are listed.
_MOST = 5

#: So many functions that call each other are read for the variables that they capture.
_DEPTH = 3


def deleted_by(users: Sequence[Entry], calls: Sequence[Entry]) -> tuple[tuple[str, ...], Donors]:
    """Return the names of the deleted arrays that a line uses, and the calls that may have donated them.

    Arrays that only a library sees, as those of a layer, have the names by which the innermost caller reaches them.

    Args:
        users: the user's calls on the stack; the last one failed.
        calls: the calls that its line led to.
    """
    last = users[-1]
    place, frame = last.place, last.frame
    found = deleted_in(place, frame) or _captured_in(place, frame)
    arrays = list(found.values()) or _used_in(calls)
    names = tuple(found)[:_MOST] or _names_in_line(arrays, last)
    donors = donors_of(names, arrays, frame, last.where, place) if names else Donors()
    donors = donors if donors.calls else _donors_in_callers(names, users, arrays)
    if not names:
        names = next(filter(None, (_names_in_line(arrays, each) for each in reversed(users))), ())
    return names, donors


def _used_in(calls: Sequence[Entry]) -> list[Any]:
    """Return the deleted arrays among the variables of the innermost call that has any."""
    for each in reversed(calls):
        found = [value for value in list(each.frame.f_locals.values()) if is_array(value) and value.is_deleted()]
        if found:
            return found
    return []


def _names_in_line(arrays: Sequence[Any], entry: Entry) -> tuple[str, ...]:
    """Return the names under which the variables of a call's line lead to arrays."""
    node = (entry.place.node or entry.place.statement) if arrays else None
    roots = {each.id: None for each in ast.walk(node) if isinstance(each, ast.Name)} if node is not None else {}
    return tuple(name for root in roots for name in names_of(arrays, root, entry.frame))[:_MOST]


def _captured_in(place: Place, frame: FrameType) -> dict[str, Any]:
    """Return the deleted arrays that functions of the failing expression read, by their names in a frame.

    These are the jitted functions that it calls, and functions that it passes, as to ``jax.lax.scan``.
    """
    node = place.node or place.statement
    found: dict[str, Any] = {}
    for each in ast.walk(node) if node is not None else ():
        for called in _called_by(each, frame) if isinstance(each, ast.Call) else ():
            for name, value in _read_in(called):
                if _is_seen(name, value, frame):
                    held = arrays_in(name, value, is_array)
                    found |= {path: array for path, array in held if array.is_deleted()}
    return found


def _called_by(call: ast.Call, frame: FrameType) -> Iterator[object]:
    """Yield what a call calls if it is jitted, and what it passes by a name."""
    passed = [each for each in (*call.args, *(pair.value for pair in call.keywords)) if isinstance(each, ast.Name)]
    called = value_of(call.func, frame)
    if is_jitted(called):
        yield called
    yield from (value_of(each, frame) for each in passed)


def _behind(called: Any) -> tuple[Any, Any]:
    """Return the function that runs if something is called, and the object whose method it is, if it is one."""
    if is_jitted(called):
        called = attribute(called, "__wrapped__")
    while is_exactly(called, functools.partial):
        called = of_partial("func", called)
    if is_exactly(called, MethodType):
        return called.__func__, called.__self__
    if is_exactly(called, FunctionType):
        return called, None
    own = member(type(called), "__call__")
    return (own, called) if is_exactly(own, FunctionType) else (None, None)


def _read_in(called: object, depth: int = _DEPTH) -> Iterator[tuple[str, object]]:
    """Yield the variables that the user's functions read from outside if something is called."""
    function, owner = _behind(called)
    if is_users_function(function):
        yield from _read_by(function, owner, depth)
    elif is_exactly(function, FunctionType) and owner is None:  # such as a function that a library has wrapped
        yield from _read_by(function, None, depth)
    else:  # a method of a library's class calls those of the user's
        yield from _read_in_methods(owner, ("setup", "__call__"), depth)


def _read_by(function: FunctionType, owner: object, depth: int) -> Iterator[tuple[str, object]]:
    """Yield the variables that a function, and those that it uses in turn, read from outside.

    Args:
        function: the function.
        owner: the object whose method it is, if it is one.
        depth: so many functions that call each other are followed.
    """
    variables, used = function.__globals__, tuple(global_names(function.__code__))
    read = {name: variables[name] for name in used if name in variables}
    for name, value in {**read, **enclosed(function)}.items():
        yield name, value
        if depth and is_users_function(_behind(value)[0]):
            yield from _read_in(value, depth - 1)
        elif depth:
            yield from _read_in_methods(value, used, depth)
    if depth:
        yield from _read_in_methods(owner, used, depth)


def _read_in_methods(owner: object, names: Sequence[str], depth: int) -> Iterator[tuple[str, object]]:
    """Yield the variables that methods with some names read from outside, if the user wrote them."""
    for name in names if owner is not None else ():
        method = innermost(member(type(owner), name))  # flax wraps the methods of modules
        if is_users_function(method):
            yield from _read_by(method, owner, depth - 1)


def _is_seen(name: str, value: object, frame: FrameType) -> bool:
    """Return whether a frame has the same value under a name."""
    return frame.f_locals.get(name, frame.f_globals.get(name)) is value


def _donors_in_callers(deleted: Sequence[str], users: Sequence[Entry], arrays: Sequence[Any]) -> Donors:
    """Return the calls that may have donated an array in the callers of the failing function, innermost first."""
    for caller in reversed(users[:-1]):
        names = tuple(name for each in deleted for name in _names_in(each, users[-1].frame, caller.frame))
        names = names or _names_in_line(arrays, caller)
        donors = donors_of(names, arrays, caller.frame, caller.where, caller.place) if names else Donors()
        if donors.calls:
            return donors._replace(names=(*donors.names, *names))
    return Donors()


def _names_in(name: str, frame: FrameType, outer: FrameType) -> Iterator[str]:
    """Yield the names under which another frame has what a name such as ``state["w"]`` is in one."""
    root = root_of(name)
    value = frame.f_locals.get(root, frame.f_globals.get(root))
    for other, held in list(outer.f_locals.items()):
        if value is not None and held is value:
            yield other + name[len(root) :]
