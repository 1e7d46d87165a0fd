"""Follows deleted arrays into jitted functions that captured them, and out to the callers of the failing function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import FrameType, FunctionType

from ....runtime.around import enclosed, is_exactly
from ....runtime.tracing import is_array
from .buffers import Donors, donors_of
from .calls import value_of, wrapped_function
from .entries import Entry
from .held import arrays_in
from .statement import Place


def captured_in(place: Place, frame: FrameType) -> tuple[str, ...]:
    """Return the variables of a frame with deleted arrays that functions of the failing expression read.

    These are the jitted functions that it calls, and functions that it passes, as to ``jax.lax.scan``.
    """
    node = place.node or place.statement
    names: dict[str, None] = {}
    for each in ast.walk(node) if node is not None else ():
        for own in _functions_of(each, frame) if isinstance(each, ast.Call) else ():
            for name, value in _read_by(own):
                if _is_seen(name, value, frame):
                    held = arrays_in(name, value, is_array)
                    names |= dict.fromkeys(path for path, array in held if array.is_deleted())
    return tuple(names)


def _functions_of(call: ast.Call, frame: FrameType) -> Iterator[FunctionType]:
    """Yield the jitted function that a call calls, and the functions that it passes by their names."""
    passed = [each for each in (*call.args, *(pair.value for pair in call.keywords)) if isinstance(each, ast.Name)]
    for value in (wrapped_function(value_of(call.func, frame)), *(value_of(each, frame) for each in passed)):
        own = wrapped_function(value) or value
        if is_exactly(own, FunctionType):
            yield own


def _read_by(function: FunctionType) -> Iterator[tuple[str, object]]:
    """Yield the variables that a function reads from outside, with their values."""
    yield from enclosed(function).items()
    names, variables = function.__code__.co_names, function.__globals__
    yield from ((name, variables[name]) for name in names if name in variables)


def _is_seen(name: str, value: object, frame: FrameType) -> bool:
    """Return whether a frame has the same value under a name."""
    return frame.f_locals.get(name, frame.f_globals.get(name)) is value


def donors_in_callers(deleted: Sequence[str], users: Sequence[Entry]) -> Donors:
    """Return the calls that may have donated an array in the callers of the failing function, innermost first.

    Args:
        deleted: the names of the array in the failing function.
        users: the user's calls on the stack; the last one failed.
    """
    for caller in reversed(users[:-1]):
        names = [name for each in deleted for name in _names_in(each, users[-1].frame, caller.frame)]
        donors = donors_of(tuple(names), caller.frame, caller.where, caller.place) if names else Donors()
        if donors.calls:
            return donors._replace(names=tuple(names))
    return Donors()


def _names_in(name: str, frame: FrameType, outer: FrameType) -> Iterator[str]:
    """Yield the names under which another frame has what a name such as ``state["w"]`` is in one."""
    root = name.partition(".")[0].partition("[")[0]
    value = frame.f_locals.get(root, frame.f_globals.get(root))
    for other, held in list(outer.f_locals.items()):
        if value is not None and held is value:
            yield other + name[len(root) :]
