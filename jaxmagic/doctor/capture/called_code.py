"""Finds the user's functions that a function may call by what it reads from outside, without running any code."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator
from itertools import chain
from typing import Any

from ...memory_use.capture.imported import dict_of, is_module, is_users_module
from ...runtime.around import attribute, attributes, enclosed, is_a, is_exactly, member, of_type
from ...runtime.functions import is_jitted
from .failures.libraries.module_use import library_of
from .remedies.user_functions import all_codes, is_users_function, seen_by

#: Attributes of attributes are followed down to this depth.
_DEEPEST = 3

#: Larger containers are data.
_MOST_ELEMENTS = 50

#: What a class calls to make an object.
_MAKING = "__new__", "__init__", "__post_init__"

#: What a class calls to read an attribute that the object does not have.
_ANY_ATTRIBUTE = "__getattr__", "__getattribute__"

#: The user's functions that run when something is called; ``None`` if that is unknown.
Run = tuple[types.FunctionType, ...] | None


def calls_of(function: types.FunctionType) -> dict[str, Run]:
    """Return what a function may call, as it writes it, with the user's functions that would run then.

    ``"hooks[]"`` stands for an element of ``hooks``, whichever it is. What only runs functions of libraries is left
    out.
    """
    attribute_names = sorted({name for code in all_codes(function.__code__) for name in code.co_names})
    read = {name: value for name, value in seen_by(function).items() if name.isidentifier()}
    calls = (each for name, value in read.items() for each in _calls(name, value, attribute_names, _DEEPEST))
    return {text: run for text, run in calls if run != ()}


def _calls(text: str, value: Any, names: list[str], depth: int) -> Iterator[tuple[str, Run]]:
    """Yield the expressions that begin with one, and what calling each of them runs."""
    yield text, _run(value)
    if depth == 0:
        return
    elements = _elements(value)
    if elements is not None:
        run = _all(elements) if len(elements) <= _MOST_ELEMENTS else ()
        yield from ((f"{text}{end}", run) for end in ("[]", ".get()"))
    elif is_module(value):
        held = dict_of(value) if is_users_module(dict_of(value)) else {}
        for name in names:
            if name in held:
                yield from _calls(f"{text}.{name}", held[name], names, depth - 1)
    elif _is_of_user(value):
        is_class = is_a(value, type)
        for name in names:
            inside = member(value, name) if is_class else attribute(value, name)
            if inside is not None:
                yield from _calls(f"{text}.{name}", inside, names, depth - 1)
            elif any(_is_written(member(type(value), each)) for each in _ANY_ATTRIBUTE):
                yield f"{text}.{name}", None
        if _is_written(member(type(value), "__getitem__")):
            yield f"{text}[]", None


def _elements(value: Any) -> list[Any] | None:
    if is_exactly(value, dict):
        return list(value.values())
    return list(value) if is_exactly(value, list, tuple) else None


def _run(value: Any) -> Run:
    """Return the user's functions that calling an object runs; none for objects of libraries and what is jitted."""
    if is_exactly(value, types.FunctionType):
        return tuple(_inside(value))
    if is_exactly(value, types.MethodType, staticmethod, classmethod):
        return _run(value.__func__)
    if is_a(value, functools.partial):
        return _all([value.func, *value.args, *value.keywords.values()])
    if is_exactly(value, property):
        return None
    if _is_of_user(value):
        made = [member(value, each) for each in _MAKING] if is_a(value, type) else [member(type(value), "__call__")]
        return tuple(filter(_is_written, made))
    if is_a(value, type) or not callable(value) or is_jitted(value):
        return ()
    held = (attributes(value) or {}).values()  # of a library's object, such as numpy.vectorize(f)
    return _all([each for each in held if is_exactly(each, types.FunctionType)])


def _all(values: list[Any]) -> Run:
    """Return what calling all of some objects runs."""
    runs = [_run(each) for each in values]
    known = [each for each in runs if each is not None]
    return tuple(dict.fromkeys(chain(*known))) if len(known) == len(runs) else None


def _inside(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """Yield a function of the user's, or those that a library's function has around it, as ``jax.vmap(f)`` has."""
    queue, met = [function], set()
    for each in queue:  # grows meanwhile
        if is_exactly(each, types.FunctionType) and id(each) not in met:
            met.add(id(each))
            if _is_written(each):
                yield each
            elif not is_users_function(each):
                queue += enclosed(each).values()


def _is_written(value: Any) -> bool:
    """Return whether an object is a function that the user wrote, and not one that Python has, as for dataclasses."""
    return is_users_function(value) and value.__code__.co_filename != "<string>"


def _is_of_user(value: Any) -> bool:
    """Return whether an object is a class of the user's, or of one, but no module of a library with a jit for it."""
    home = of_type("__module__", value if is_a(value, type) else type(value))
    module = sys.modules.get(home) if is_exactly(home, str) else None
    users = module is None or not is_module(module) or is_users_module(dict_of(module))
    return users and library_of(value) is None
