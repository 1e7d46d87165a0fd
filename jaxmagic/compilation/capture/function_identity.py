"""Identify function objects and the source that they were made from, without running any of their code."""

from __future__ import annotations

import functools
import itertools
import os
import re
import weakref
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from ...records.call_stack import is_users_file
from ...records.cell_names import known_as
from ...runtime.around import attribute, enclosed, is_a, is_exactly, member, of_type
from .attributes import name_of_class

#: Every function object that was seen, by its address, with a number that no other object gets.
_functions: dict[int, tuple[weakref.ref[Any], int]] = {}
_numbers = itertools.count(1)

#: Files that stand for cells and for text that was executed.
_CELL = re.compile(r"^<|ipykernel_\d+[/\\]")

#: How many nested wrappers are followed.
_DEEPEST = 20

#: Types whose values are compared; of all other values, only the type is.
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def function_id(function: Any) -> int | None:
    """Return a number for this very object; unlike an address, it is never reused."""
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
    """Return a number for a function's source, in a file or in any cell; ``None`` if it is not written in Python.

    It does not depend on the closure, which ``compilation/capture/contents.py`` compares. The source of a callable
    object is its class's ``__call__``. For a function that a library returns, plain values of its closure count too.
    """
    found = list(_layers(function))
    return hash(tuple(found)) if found and found[-1] is not None else None


def name_of(function: Any) -> str | None:
    """Return the name of a function or a callable object without running its code; ``None`` if it has none."""
    for attribute_name in ("__qualname__", "__name__"):
        if is_exactly(function, FunctionType):
            name = getattr(function, attribute_name)
        elif is_a(function, type):
            name = of_type(attribute_name, function)
        else:
            name = attribute(function, attribute_name)
        if is_exactly(name, str):
            return str(name)
    return None


def defined_at(function: Any) -> str:
    """Return where a function is defined, as in ``"train.py:12"`` or ``"cell 3:2"``; empty if not in Python."""
    code = code_of(innermost(function))
    return "" if code is None else f"{os.path.basename(known_as(code.co_filename))}:{code.co_firstlineno}"


def code_of(function: Any) -> CodeType | None:
    """Return the code of a function, or of a callable object's class; ``None`` if it is not written in Python."""
    called = function if is_exactly(function, FunctionType) else call_of(function)
    return called.__code__ if is_exactly(called, FunctionType) else None


def innermost(function: Any) -> Any:
    """Return the function inside all partials, methods and wrappers."""
    for _ in range(_DEEPEST):
        further = inner(function)
        if further is None:
            break
        function = further
    return function


def _layers(function: Any) -> Iterator[object]:
    """Yield the content of each wrapper of `function`, from outside; the last is ``None`` if it is not in Python."""
    for _ in range(_DEEPEST):
        if is_exactly(function, FunctionType):
            yield code_content(function.__code__)
            if not is_users_file(function.__code__.co_filename):
                # jax.vmap and jax.grad return functions with the same code, which differ in their closures.
                yield from map(_plain, enclosed(function).values())
        elif is_a(function, functools.partial):
            yield len(of_partial("args", function)), tuple(of_partial("keywords", function))
        elif is_exactly(function, MethodType):
            yield name_of_class(type(function.__self__))
        elif is_exactly(call := call_of(function), FunctionType):
            yield name_of_class(type(function))
            yield code_content(call.__code__)
        further = inner(function)
        if further is None:
            if code_of(function) is None:
                yield None
            return
        function = further


def inner(function: Any) -> Any:
    """Return the function inside a partial, a method or a wrapper; ``None`` if there is none."""
    if is_exactly(function, MethodType):
        return function.__func__
    if is_a(function, functools.partial):
        return of_partial("func", function)
    if is_exactly(function, FunctionType):
        return dict.get(function.__dict__, "__wrapped__")
    further = attribute(function, "__wrapped__")
    return None if is_a(further, property) else further


def of_partial(name: str, function: Any) -> Any:
    """Return the ``args``, ``keywords`` or ``func`` of a partial, even if a derived class overrides them."""
    return vars(functools.partial)[name].__get__(function)


def call_of(value: Any) -> Any:
    """Return the ``__call__`` of an object's class."""
    return member(type(value), "__call__")


def code_content(code: CodeType) -> object:
    """Return the content of some code, independent of its line in the file.

    The hash of a code object would not do: on 3.11 it leaves out the instructions.
    """
    # An edited cell has a new file name, but counts as the same file.
    file = "" if _CELL.search(code.co_filename) else code.co_filename
    constants = tuple(
        code_content(each) if isinstance(each, CodeType) else (type(each), each) for each in code.co_consts
    )
    return file, code.co_name, code.co_code, constants, code.co_names, code.co_varnames


def _plain(value: Any) -> object:
    """Return a plain value itself, the code of a function, or else the type of the value."""
    if is_exactly(value, FunctionType):
        return code_content(value.__code__)
    if is_exactly(value, tuple):
        return tuple(_plain(each) for each in value[:100])
    # To hash the class itself would run the __hash__ of its metaclass.
    return (type(value), value) if is_exactly(value, *_PLAIN) else ("of the class", function_id(type(value)))
