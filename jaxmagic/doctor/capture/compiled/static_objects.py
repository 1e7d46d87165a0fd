"""Tells which attributes and outer variables have changed since their values were built into a program.

JAX compares a static argument with ``__eq__`` and ``__hash__``, and compares neither the object of a jitted method
nor the variables outside of a function. So it runs the same program after ``self.w = new``, with the old ``w``.
Arrays count if they are constants of the program, and numbers if the code of the function reads them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ....compilation.capture.attributes import attributes_of, attributes_read, is_users_class, name_of_class
from ....compilation.capture.function_identity import inner, innermost
from ....compilation.capture.jit_parameters import static_names
from ....records.call_stack import is_users_file
from ....runtime.around import attribute, is_a, is_exactly, member, members
from ....runtime.executed_programs import Origin, constants, host_copy, numpy_of
from ...record.program import StaleAttribute
from .outer_variables import is_array, outer_variables, plain_reads

#: Containers and objects are followed to this depth.
_DEEPEST = 6

#: At most this many of them are.
_MOST_OBJECTS = 2000

#: NumPy arrays up to this size are compared by content, because they are mutable.
_MOST_BYTES = 64 * 1024

#: Larger arrays are not compared with those that have replaced them.
_MOST_COMPARED = 16 * 1024**2

#: How classes compare their objects.
_COMPARING = "__eq__", "__hash__"


class _Leaf(NamedTuple):
    """A value inside an attribute, with a copy of it if it can be changed in place."""

    value: Any
    content: bytes | None


class SeenObject(NamedTuple):
    """An object whose attributes were built into a program, or the variables outside of a function.

    Attributes:
        key: tells the calls of one function with one object from others.
        parameter: the parameter that takes it; empty for variables.
        owner: the class of the object; empty for variables.
        read: returns the value of an attribute or variable.
        bound: whether the object is part of the function.
        leaves: the arrays and numbers of it that are in the program, by attribute and path.
    """

    key: tuple[object, int]
    parameter: str
    owner: str
    read: Callable[[str], Any]
    bound: bool
    leaves: Mapping[str, Mapping[str, _Leaf]]


def changed(seen: SeenObject) -> Iterator[StaleAttribute]:
    """Yield the attributes of an object that have another value than in the program."""
    for name, before in seen.leaves.items():
        held = seen.read(name)
        now = dict(_leaves("", held))
        differing = [path for path, leaf in before.items() if path in now and _differs(leaf, now[path])]
        if differing:
            first = differing[0]
            yield StaleAttribute(
                parameter=seen.parameter,
                name=name,
                owner=seen.owner,
                before=_words(before[first].value),
                now=_words(now[first]),
                number=any(_is_number(each.value) for each in before.values()),
                passable=_is_passable(held),
                bound=seen.bound,
            )


def objects_of(origin: Origin) -> tuple[SeenObject, ...]:
    """Return the user's objects and variables whose values are constants of a program, as it begins to run."""
    function = innermost(origin.function)
    if not is_exactly(function, FunctionType) or not is_users_file(function.__code__.co_filename):
        return ()
    built_in = {id(numpy_of(each)) for each in constants(origin.jaxpr)}
    found = []
    for parameter, value, bound in _objects(origin, function):
        kind = type(value)
        read = attributes_read(function, parameter, kind) if is_users_class(kind) else None
        compared = frozenset[str]() if bound else _compared(kind)
        if read is None or compared is None:
            continue
        leaves = {name: _built_in(attribute(value, name), built_in) for name in sorted(read - compared)}
        key, owner = (function.__code__, id(value)), name_of_class(kind)
        found.append(SeenObject(key, parameter, owner, partial(attribute, value), bound, leaves))
    found.append(_variables(function, built_in))
    kept = (each._replace(leaves={name: some for name, some in each.leaves.items() if some}) for each in found)
    return tuple(each for each in kept if each.leaves)


def _variables(function: FunctionType, built_in: Collection[int]) -> SeenObject:
    """Return the variables outside of a function whose values are constants of its program."""
    readers, own = outer_variables(function), plain_reads(function)
    leaves = {}
    for name, read in readers.items():
        value = read()
        some = _built_in(value, built_in)
        numbers = name in own and _is_number(value)
        leaves[name] = {path: leaf for path, leaf in some.items() if numbers or not _is_number(leaf.value)}
    return SeenObject((function.__code__, 0), "", "", lambda name: readers[name](), False, leaves)


def _objects(origin: Origin, function: FunctionType) -> Iterator[tuple[str, Any, bool]]:
    """Yield the object of a method, and the static arguments, with the parameters that take them."""
    layer = origin.function
    while layer is not None:
        if is_exactly(layer, MethodType) and function.__code__.co_argcount:
            yield function.__code__.co_varnames[0], layer.__self__, True
        layer = inner(layer)
    if origin.call is None:
        return
    args, kwargs, info = origin.call
    with suppress(TypeError, ValueError):
        given = inspect.signature(origin.function).bind(*args, **kwargs).arguments
        yield from ((name, given[name], False) for name in static_names(info) if name in given)


def _compared(kind: type) -> frozenset[str] | None:
    """Return the attributes that a class compares its objects by; ``None`` if that is unknown."""
    compared = frozenset[str]()
    for name in _COMPARING:
        method = member(kind, name)
        if method is members(object)[name]:
            continue
        if type(method) is not FunctionType or not method.__code__.co_argcount:
            return None
        read = attributes_read(method, method.__code__.co_varnames[0], kind)
        if read is None:
            return None
        compared |= read
    return compared


def _built_in(value: Any, constants: Collection[int]) -> dict[str, _Leaf]:
    """Return the numbers in a value, and those of its arrays that are constants."""
    return {
        path: _Leaf(each, _content(each))
        for path, each in _leaves("", value)
        if id(each) in constants or (_is_number(each) and "." not in path)
    }


def _leaves(path: str, value: Any, depth: int = 0, met: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield the arrays and numbers in containers and objects, such as modules, with their paths."""
    met = set() if met is None else met
    if _is_number(value) or is_array(value):
        yield path, value
    elif depth < _DEEPEST and len(met) < _MOST_OBJECTS and id(value) not in met:
        met.add(id(value))
        for step, each in _parts(value):
            yield from _leaves(f"{path}{step}", each, depth + 1, met)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if is_exactly(value, dict, list, tuple):
        items = value.items() if type(value) is dict else enumerate(value)
        yield from ((f"[{key!r}]", each) for key, each in items if is_exactly(key, str, int))
    elif not is_a(value, (type, FunctionType, MethodType, ModuleType)):
        yield from ((f".{name}", each) for name, each in (attributes_of(value) or {}).items())


def _is_passable(value: Any, depth: int = 0) -> bool:
    """Return whether jit takes a value as an argument."""
    if is_exactly(value, dict, list, tuple):
        items = value.values() if type(value) is dict else value
        return depth < _DEEPEST and all(_is_passable(each, depth + 1) for each in items)
    return value is None or _is_number(value) or is_array(value)


def _is_number(value: Any) -> bool:
    return is_exactly(value, bool, int, float, complex)


def _content(value: Any) -> bytes | None:
    small = is_exactly(value, np.ndarray) and value.nbytes <= _MOST_BYTES and not value.dtype.hasobject
    return value.tobytes() if small else None


def _differs(leaf: _Leaf, now: Any) -> bool:
    if _is_number(leaf.value) or _is_number(now):
        return type(leaf.value) is not type(now) or repr(leaf.value) != repr(now)
    if now is leaf.value:
        return _content(now) != leaf.content
    return _words(now) != _words(leaf.value) or not _have_same_values(now, leaf)


def _have_same_values(now: Any, leaf: _Leaf) -> bool:
    """Return whether an array is known to have the values of an earlier one of its type."""
    if max(now.nbytes, leaf.value.nbytes) > _MOST_COMPARED:
        return False
    try:
        one, other = (
            each if isinstance(each, np.ndarray | np.generic) else host_copy(each) for each in (now, leaf.value)
        )
    except (RuntimeError, TypeError, ValueError):  # deleted, a random key, or on several devices
        return False
    if one is None or other is None:
        return False
    return one.tobytes() == (other.tobytes() if leaf.content is None else leaf.content)


def _words(value: Any) -> str:
    if _is_number(value):
        return repr(value)
    return f"{value.dtype}[{','.join(map(str, value.shape))}]"
