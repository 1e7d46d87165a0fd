"""Finds what the code can reach, and what of that a run has changed, without running any code of the user.

Objects are read as for the names of arrays (``memory_use/capture/object_graph.py``). Arrays are held weakly, so that
nothing lives longer because of this.
"""

from __future__ import annotations

import itertools
import re
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ...memory_use.capture.holders import path_of
from ...memory_use.capture.imported import is_module
from ...memory_use.capture.object_graph import PLAIN, reader_of
from ...records.attribute_names import Step
from ...records.call_stack import Frame, is_users
from ...runtime.around import is_a, is_exactly, of_type

#: Limits of the search: objects, and steps from a variable.
_MOST_OBJECTS = 20_000
_DEEPEST = 10


#: Where a path goes on to what has no name of the user's: inside an iterator, the argument of a generator expression.
_UNNAMED = re.compile(r" \((?:inside|local: \.)")


class Reached(NamedTuple):
    """An object that the code can reach.

    Attributes:
        steps: how, from a variable on.
        value: the object.
    """

    steps: tuple[Step, ...]
    value: Any

    @property
    def path(self) -> str:
        """The Python expression that reaches it."""
        return path_of(self.steps)


def reach(variables: Mapping[str, Any]) -> Iterator[Reached]:
    """Yield the objects that variables lead to, nearest first, each once; modules and plain values are left out.

    User-defined functions lead to the globals that they read.
    """
    queue = [Reached((("name", name),), value) for name, value in variables.items()]
    met = {id(each.value) for each in queue}
    for each in queue:  # grows meanwhile
        if is_module(each.value):
            continue
        yield each
        if len(each.steps) > _DEEPEST or len(queue) > _MOST_OBJECTS:
            continue
        for step, part in _parts(each.value):
            if id(type(part)) not in PLAIN and id(part) not in met:
                met.add(id(part))
                steps = (step,) if step[0] == "name" else (*each.steps, step)
                queue.append(Reached(steps, part))


def _parts(value: Any) -> Iterator[tuple[Step, Any]]:
    with suppress(Exception):
        if is_a(value, types.FunctionType):
            if not _is_users(value):
                return
            held = value.__globals__
            yield from ((("name", name), held[name]) for name in value.__code__.co_names if name in held)
        reader = reader_of(type(value))
        yield from () if reader is None else reader(value)


def _is_users(function: types.FunctionType) -> bool:
    code = function.__code__
    return is_users(Frame(function=code.co_name, file=code.co_filename, line=code.co_firstlineno))


class Snapshot:
    """The state of the objects that some variables lead to.

    Args:
        variables: the variables by name.
    """

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self._states = [(each, _state(each.value)) for each in reach(variables) if _is_mutable(each.value)]

    def changed(self) -> list[str]:
        """Return the paths of the objects that have changed since, nearest first.

        Parts that a user has not named, such as the iterators in a ``zip``, are given as the whole.
        """
        changed = (each for each, before in self._states if _differs(before, _state(each.value)))
        return list(dict.fromkeys(_UNNAMED.split(each.path)[0] for each in changed))


def _is_mutable(value: Any) -> bool:
    return not is_a(value, (tuple, frozenset, type, types.FunctionType)) and not _is_array(value)


def _is_array(value: Any) -> bool:
    return hasattr(type(value), "dtype") and hasattr(type(value), "shape")


#: The identity of a part: called, it returns the part if that still exists.
_Identity = Callable[[], Any]


def _state(value: Any) -> dict[Any, _Identity]:
    if is_a(value, types.GeneratorType):
        frame = value.gi_frame
        place = None if frame is None else (frame.f_lasti, *(id(each) for each in frame.f_locals.values()))
        return {"position": lambda: place}
    if of_type("__module__", type(value)) == "builtins" and hasattr(type(value), "__length_hint__"):
        rest = value.__length_hint__()  # an iterator of Python's own
        return {"position": lambda: rest}
    if is_exactly(value, itertools.count):  # its number is no object
        text = repr(value)
        return {"position": lambda: text}
    reader = reader_of(type(value))
    parts: dict[Any, _Identity] = {}
    with suppress(Exception):
        for step, part in () if reader is None else reader(value):
            with suppress(TypeError):  # a key that cannot be hashed
                parts[step] = _identity(part)
    return parts


def _identity(part: Any) -> _Identity:
    if id(type(part)) in PLAIN:
        return lambda: part
    try:
        return weakref.ref(part)
    except TypeError:
        number = id(part)  # a container, which is reached itself, and kept until the comparison
        return lambda: number


def _differs(before: dict[Any, _Identity], now: dict[Any, _Identity]) -> bool:
    """Return whether a part has gone, has been replaced or, in a container, has come.

    An attribute that was not there before, as of ``functools.cached_property``, would be set to the same again.
    """
    if any(step not in now or _is_other(same(), now[step]()) for step, same in before.items()):
        return True
    return any(step not in before and not (isinstance(step, tuple) and step[0] == "attribute") for step in now)


def _is_other(before: Any, now: Any) -> bool:
    if before is now:
        return False
    plain = id(type(before)) in PLAIN or is_a(before, tuple)
    return not (plain and type(before) is type(now) and before == now)
