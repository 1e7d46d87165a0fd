"""Tell whether two function objects are one, or were made from the same source, without running any of their code."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import re
import weakref
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType, MethodType
from typing import Any

#: Every function object that was seen, by its address, with a number that no other one gets.
_functions: dict[int, tuple[weakref.ref[Any], int]] = {}
_numbers = itertools.count(1)

#: Files that stand for cells and for text that was executed.
_CELL = re.compile(r"^<|ipykernel_\d+[/\\]")

#: How many functions within functions are compared.
_DEEPEST = 20

#: Values that are compared by what they are; of all others only the type is.
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def function_id(function: Any) -> int | None:
    """A number for this very object; unlike its address, none that a later object could have."""
    address = id(function)
    known = _functions.get(address)
    if known is not None and known[0]() is function:
        return known[1]
    try:
        reference = weakref.ref(function, lambda dead: _forget(address, dead))
    except TypeError:
        return None
    _functions[address] = reference, next(_numbers)
    return _functions[address][1]


def _forget(address: int, dead: weakref.ref[Any]) -> None:
    if address in _functions and _functions[address][0] is dead:
        del _functions[address]


def source_id(function: Any) -> int | None:
    """Equal for two functions made from the same source in one file or in cells; ``None`` if it has none in Python.

    What a function closes over, its defaults and the globals that it names belong to its source as far as they are
    functions or plain values. A callable object is its class's ``__call__`` and its attributes.
    """
    found = list(_layers(function))
    return hash(tuple(found)) if found and found[-1] is not None else None


def name_of(function: Any) -> str | None:
    """The name that a function or a callable object bears, read without running its code; ``None`` if it has none."""
    for attribute in ("__qualname__", "__name__"):
        name = inspect.getattr_static(function, attribute, None)
        if isinstance(function, FunctionType | type):
            name = getattr(function, attribute)
        if isinstance(name, str):
            return name
    return None


def defined_at(function: Any) -> str:
    """``"train.py:12"``; ``""`` for what is not written in Python."""
    function = innermost(function)
    code = getattr(function if isinstance(function, FunctionType) else _call_of(function), "__code__", None)
    return f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}" if isinstance(code, CodeType) else ""


def innermost(function: Any) -> Any:
    """The function inside of partials, methods and wrappers."""
    for _ in range(_DEEPEST):
        further = _inner(function)
        if further is None:
            break
        function = further
    return function


def enclosed(function: FunctionType) -> dict[str, Any]:
    """What a function closes over, by name."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # an empty cell
            found[name] = cell.cell_contents
    return found


def _layers(function: Any) -> Iterator[object]:
    """What `function` consists of, from outside; the last one is ``None`` if something cannot be compared."""
    for _ in range(_DEEPEST):
        if isinstance(function, FunctionType):
            yield from _parts(function)
        elif isinstance(function, functools.partial):
            yield from (_identity(value) for value in function.args)
            yield from ((name, _identity(value)) for name, value in function.keywords.items())
        elif isinstance(function, MethodType):
            yield _attributes(function.__self__)
        elif isinstance(call := _call_of(function), FunctionType):
            yield type(function).__qualname__
            yield _attributes(function)
            yield from _parts(call)
        # jax.vmap and jax.grad return the same code for every function: what they wrap tells.
        further = _inner(function)
        if further is None:
            if not isinstance(function, FunctionType) and not isinstance(_call_of(function), FunctionType):
                yield None
            return
        function = further


def _inner(function: Any) -> Any:
    if isinstance(function, MethodType):
        return function.__func__
    if isinstance(function, functools.partial):
        return function.func
    if isinstance(function, FunctionType):
        return function.__dict__.get("__wrapped__")
    further = inspect.getattr_static(function, "__wrapped__", None)
    return None if isinstance(further, property) else further


def _call_of(value: Any) -> Any:
    """The ``__call__`` of an object's class."""
    return next((kind.__dict__["__call__"] for kind in type(value).__mro__ if "__call__" in kind.__dict__), None)


def _attributes(value: Any) -> object:
    """The attributes of an object, as far as they can be compared."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return type(value).__qualname__
    return tuple((name, _identity(each)) for name, each in found.items() if name != "__wrapped__")


def _parts(function: FunctionType) -> Iterator[object]:
    """Its code and what it finds around itself."""
    yield _content(function.__code__)
    yield from map(_identity, enclosed(function).values())
    yield from (_identity(value) for value in function.__defaults__ or ())
    yield from ((name, _identity(value)) for name, value in (function.__kwdefaults__ or {}).items())
    surroundings = function.__globals__
    for name in _names(function.__code__):
        if name in surroundings and (
            type(surroundings[name]) in _PLAIN or isinstance(surroundings[name], FunctionType)
        ):
            yield name, _identity(surroundings[name])


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _content(code: CodeType) -> object:
    """What makes it this code, on whichever line of its file. Its own hash leaves the instructions out on 3.11."""
    # An edited cell has another file name and is still the place where the function was defined before.
    file = "" if _CELL.search(code.co_filename) else code.co_filename
    constants = tuple(_content(each) if isinstance(each, CodeType) else (type(each), each) for each in code.co_consts)
    return file, code.co_name, code.co_code, constants, code.co_names, code.co_varnames


def _identity(value: object) -> object:
    """Code for a function, which tells which transformation a wrapper of JAX's stands for; a value if it is plain."""
    if isinstance(value, FunctionType):
        return _content(value.__code__)
    if type(value) is tuple:
        return tuple(_identity(each) for each in value[:100])
    return (type(value), value) if type(value) in _PLAIN else type(value)
