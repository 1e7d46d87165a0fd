"""Finds what the code can reach, and what of that a run has changed, without running any code of the user.

Objects are read as for the names of arrays (``memory_use/capture/references/object_graph.py``). No array lives longer
because of this: what variables lead to is held weakly, or read again. What is replaced by the same contents has not
changed.
"""

from __future__ import annotations

import contextvars
import functools
import itertools
import logging
import os
import re
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...memory_use.capture.holders import path_of
from ...memory_use.capture.imported import is_module
from ...memory_use.capture.references.object_graph import GLOBALS, PLAIN, reader_of
from ...records.attribute_names import Step
from ...runtime.around import is_a, is_exactly, of_type
from .contents import FILES, Contents, content_of, is_array
from .remedies.user_functions import global_names, is_users_function
from .side_effects.places import GONE, Places
from .stored_names import ABSENT, StoredName, module_names, names_read, stored_names

#: Limits of the search: objects, and steps from a variable.
MOST_OBJECTS = 20_000
_DEEPEST = 10

#: Ids of types whose values cannot change.
_CONSTANT = PLAIN - {id(bytearray)}

#: What code consists of.
CODE = type, types.FunctionType, types.MethodType

#: Attributes in which flax.nnx notes where a module may be changed: each of its transforms makes them anew.
_OF_NNX = ("attribute", "_pytree__state"), ("attribute", "_object__state"), ("attribute", "_trace_state")

#: The attribute in which an abstract class notes the answers of ``isinstance()``.
_OF_ABSTRACT = ("attribute", "_abc_impl")

#: What a logger keeps of the tree of loggers: which others there are, and which levels it has asked them for.
_OF_LOGGERS = ("attribute", "_cache"), ("attribute", "manager")

#: What is not followed: of a function's globals, those count that it reads.
_NOT_FOLLOWED = {*_OF_NNX, _OF_ABSTRACT, GLOBALS}

#: Where a path goes on to what has no name of the user's: inside an iterator, the argument of a generator expression.
_UNNAMED = re.compile(r" \((?:inside|local: \.)")

#: The step from a view of NumPy to the array that it shows.
_BASE = ("attribute", "base")


class Reached(NamedTuple):
    """An object that the code can reach.

    Attributes:
        steps: how, from a variable on.
        value: the object.
        by_function: whether the variable is a global of a function that the code reaches, not one of the code.
        within: the id of the object that leads to it; 0 for the value of a variable of the code.
    """

    steps: tuple[Step, ...]
    value: Any
    by_function: bool = False
    within: int = 0

    @property
    def path(self) -> str:
        """The Python expression that reaches it."""
        return path_of(self.steps)


def reach(variables: Mapping[str, Any], *, code: bool = True) -> Iterator[Reached]:
    """Yield the objects that variables lead to, nearest first, each once; modules and plain values are left out.

    User-defined functions lead to the globals that they read, and to the attributes of the user's modules.

    Args:
        variables: the variables by name.
        code: whether classes and functions are followed.
    """
    queue = [Reached((("name", name),), value) for name, value in variables.items()]
    met = {id(each.value) for each in queue}
    for each in queue:  # grows meanwhile
        if is_module(each.value):
            continue
        yield each
        if len(each.steps) > _DEEPEST or len(queue) > MOST_OBJECTS or (not code and is_a(each.value, CODE)):
            continue
        for step, part in _parts(each.value):
            if id(type(part)) not in _CONSTANT and id(part) not in met:
                met.add(id(part))
                is_global = step[0] == "name"
                steps = (step,) if is_global else (*each.steps, step)
                queue.append(Reached(steps, part, each.by_function or is_global, id(each.value)))


def _parts(value: Any) -> Iterator[tuple[Step, Any]]:
    with suppress(Exception):
        if is_a(value, types.FunctionType):
            if not is_users_function(value):
                return
            held = value.__globals__
            yield from ((("name", name), held[name]) for name in global_names(value.__code__) if name in held)
            yield from ((("name", stored.path), stored.value()) for stored in module_names(value))
            if "environ" in global_names(value.__code__):
                yield ("name", "os.environ"), os.environ
        yield from held_by(value)


def held_by(value: Any) -> Iterator[tuple[Step, Any]]:
    """Yield the objects that an object refers to; of arrays of Python objects, their elements."""
    if is_exactly(value, np.ndarray):
        objects = value.ravel().tolist() if value.dtype == object and value.size <= MOST_OBJECTS else []
        yield from ((("item", number), each) for number, each in enumerate(objects))
    elif is_exactly(value, threading.local):
        yield from ((("attribute", name), each) for name, each in value.__dict__.items())
    elif not is_exactly(value, *FILES) and not _is_log(value):
        reader = reader_of(type(value))
        skipped = {*_NOT_FOLLOWED, *_OF_LOGGERS} if is_a(value, logging.Logger) else _NOT_FOLLOWED
        yield from (each for each in (() if reader is None else reader(value)) if each[0] not in skipped)


def _is_log(value: Any) -> bool:
    """Return whether an object is a handler of Python's own that writes a log, which may have its lines twice."""
    return is_a(value, logging.Handler) and str(of_type("__module__", type(value))).startswith("logging")


class Changed(NamedTuple):
    """Something that a run has changed.

    Attributes:
        path: the Python expression that reads it.
        by_function: whether a function reads it by that expression, and not the code itself.
    """

    path: str
    by_function: bool = False


class Snapshot:
    """The state of the objects that some variables lead to, and of the names that the reached functions assign.

    Args:
        variables: the variables by name.
        names: further names that the code may assign; what they are bound to can be reached as well.

    Attributes:
        whole: whether all objects were looked at, and not only `MOST_OBJECTS` of them.
    """

    def __init__(self, variables: Mapping[str, Any], names: Iterable[StoredName] = ()) -> None:
        self._states: list[tuple[Reached, _Identity, dict[Any, _Identity], dict[Any, Any]]] = []
        self._arrays: list[tuple[Reached, weakref.ref[Any], dict[Any, _Identity]]] = []
        self._names = {stored: _identity(stored.value()) for stored in names}
        contents = Contents(held_by, _CONSTANT)
        self._places = Places(_parts)
        found = list(reach({**variables, **{stored.path: stored.value() for stored in self._names}}))
        self.whole = len(found) <= MOST_OBJECTS
        for reached in found:
            same = self._places.add(reached.value, reached.steps[-1], reached.within)
            kept = reached._replace(value=None)
            if is_a(reached.value, np.ndarray):
                self._arrays.append((kept, weakref.ref(reached.value), _state(reached.value)))
            elif is_mutable(reached.value):
                self._states.append((kept, same, _state(reached.value), contents.of_parts(reached.value)))
            if is_users_function(reached.value):
                self._names |= {stored: _identity(stored.value()) for stored in stored_names(reached.value)}

    def changed(self) -> list[str]:
        """Return the paths of :meth:`changes`."""
        return list(dict.fromkeys(each.path for each in self.changes()))

    def changes(self) -> list[Changed]:
        """Return the names that are bound to another object since, and the changed objects, nearest first.

        A name that was not bound before, as that of a result, would be bound to the same again, unless it is bound to
        a number or list that the code reads. Parts that a user has not named, such as the iterators in a
        ``zip``, are given as the whole.
        """
        names = [
            Changed(stored.path, by_function=True)
            for stored, before in self._names.items()
            if self._is_bound_anew(stored, before())
        ]
        found = list(dict.fromkeys([*names, *self._changed_objects()]))
        self._places.forget()
        return found

    def _is_bound_anew(self, stored: StoredName, before: Any) -> bool:
        now = stored.value()
        return self._is_new_counter(stored.name, now) if before is ABSENT else _is_other(before, _identity(now)())

    def _changed_objects(self) -> Iterator[Changed]:
        now = Contents(held_by, _CONSTANT)
        for reached, same, before, contents in self._states:
            value = same()
            if value is GONE:  # something has taken its place, or its variable has gone
                continue
            steps = [*_differing(before, _state(value)), *self._new_counters(before, value)]
            if steps and contents:
                found = now.of_parts(value)
                steps = [each for each in steps if each not in contents or contents[each] != found.get(each)]
            if is_a(value, (type, types.FunctionType)):
                paths = [path_of((*reached.steps, step)) for step in steps]
            else:
                paths = [reached.path] if steps else []
            yield from (Changed(_UNNAMED.split(path)[0], reached.by_function) for path in paths)
        for reached, reference, before in self._arrays:
            array = reference()
            of_view = reached.steps[-1:] == (_BASE,)  # which has changed as well
            if array is not None and not of_view and any(_differing(before, _state(array))):
                yield Changed(reached.path, reached.by_function)

    def _new_counters(self, before: dict[Any, _Identity], value: Any) -> Iterator[Step]:
        with suppress(Exception):
            for step, part in held_by(value):
                if step[0] in _LATER and step not in before and self._is_new_counter(step[1], part):
                    yield step

    def _is_new_counter(self, name: str, value: Any) -> bool:
        """Return whether a name that the run has bound may count or list runs: the code reads it, too."""
        return is_exactly(value, int, float, list) and name in self._names_read

    @functools.cached_property
    def _names_read(self) -> set[str]:
        values = [same() for _, same, *_ in self._states]
        return {name for each in values if is_users_function(each) for name in names_read(each.__code__)}


def is_mutable(value: Any) -> bool:
    """Return whether a value can change without another one taking its place."""
    if is_a(value, types.FunctionType):
        return is_users_function(value)
    return is_a(value, np.ndarray) or not (is_a(value, (tuple, frozenset, weakref.ReferenceType)) or is_array(value))


#: Steps to parts that may be made when they are first used.
_LATER = "attribute", "closure"

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
    if is_exactly(value, contextvars.ContextVar):
        return {"value": _identity(value.get(ABSENT))}
    content = content_of(value)
    if content is not None:
        return {"content": lambda: content}
    parts: dict[Any, _Identity] = {}
    with suppress(Exception):
        for step, part in held_by(value):
            with suppress(TypeError):  # a key that cannot be hashed
                parts[step] = _identity(part)
    return parts


def _identity(part: Any) -> _Identity:
    if id(type(part)) in _CONSTANT or part is ABSENT:
        return lambda: part
    with suppress(TypeError):
        reference = weakref.ref(part)
        return lambda: GONE if (kept := reference()) is None else kept
    if is_a(part, tuple):  # kept by nothing, so that another one may get its address
        kind, within = type(part), tuple(map(_identity, tuple.__iter__(part)))
        return lambda: (id(kind), *(_mark(same()) for same in within))
    if is_array(part):  # a scalar of NumPy
        return lambda: part
    number = id(part)  # a container, which is reached itself: if another one got its address, its parts differ
    return lambda: number


def _differing(before: dict[Any, _Identity], now: dict[Any, _Identity]) -> Iterator[Any]:
    """Yield the steps to parts that have gone, have been replaced or, in a container, have come.

    An attribute that was not there before, as of ``functools.cached_property``, would be set to the same again. So
    would a variable of a closure.
    """
    yield from (step for step, same in before.items() if step not in now or _is_other(same(), now[step]()))
    yield from (step for step in now if step not in before and not (isinstance(step, tuple) and step[0] in _LATER))


def _mark(part: Any) -> Any:
    """Return what an object is compared by inside a tuple, without its ``__eq__``."""
    return (type(part), part) if id(type(part)) in _CONSTANT or is_exactly(part, tuple) else id(part)


def _is_other(before: Any, now: Any) -> bool:
    if before is now:
        return False
    plain = id(type(before)) in _CONSTANT or is_exactly(before, tuple)
    return not (plain and type(before) is type(now) and before == now)
