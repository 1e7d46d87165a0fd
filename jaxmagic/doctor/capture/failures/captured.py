"""Follows deleted arrays into functions and libraries that use them, and out to callers of the failing function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import FrameType, FunctionType
from typing import Any

from ....runtime.around import enclosed, is_exactly
from ....runtime.tracing import is_array
from ..remedies.user_functions import global_names, is_users_function
from .buffers import Donors, deleted_in, donors_of, names_of
from .calls import value_of, wrapped_function
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
        for own in _functions_of(each, frame) if isinstance(each, ast.Call) else ():
            for name, value in _read_by(own):
                if _is_seen(name, value, frame):
                    held = arrays_in(name, value, is_array)
                    found |= {path: array for path, array in held if array.is_deleted()}
    return found


def _functions_of(call: ast.Call, frame: FrameType) -> Iterator[FunctionType]:
    """Yield the jitted function that a call calls, and the functions that it passes by their names."""
    passed = [each for each in (*call.args, *(pair.value for pair in call.keywords)) if isinstance(each, ast.Name)]
    for value in (wrapped_function(value_of(call.func, frame)), *(value_of(each, frame) for each in passed)):
        own = wrapped_function(value) or value
        if is_exactly(own, FunctionType):
            yield own


def _read_by(function: FunctionType, depth: int = _DEPTH) -> Iterator[tuple[str, object]]:
    """Yield the variables that a user's function, and those that it reads in turn, read from outside."""
    variables = function.__globals__
    read = {name: variables[name] for name in global_names(function.__code__) if name in variables}
    for name, value in {**read, **enclosed(function)}.items():
        yield name, value
        own = wrapped_function(value) or value
        if depth and is_users_function(own):
            yield from _read_by(own, depth - 1)


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
    root = name.partition(".")[0].partition("[")[0]
    value = frame.f_locals.get(root, frame.f_globals.get(root))
    for other, held in list(outer.f_locals.items()):
        if value is not None and held is value:
            yield other + name[len(root) :]
