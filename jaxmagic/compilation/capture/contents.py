"""Record the values that a function or a static argument holds, so that two with the same source can be compared.

A re-created function does the same only if it closes over the same values. Arrays are compared by identity and small
NumPy arrays by content, plain values by content, objects by their attributes. None of the user's code runs for
that, and no value is kept.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable, Iterator
from enum import Enum
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...records.call_stack import is_users_file
from ...records.code_names import code_objects
from ...records.names import truncated
from ...runtime.around import enclosed, inherits, is_a, is_exactly, member
from ..record.events import CUT, Held, HeldKind
from .attributes import (
    attributes_of,
    class_values,
    compared_fields,
    holds_more,
    is_users_class,
    is_written,
    methods_of,
    name_of_class,
)
from .function_identity import call_of, code_content, defined_at, function_id, inner, name_of, of_partial
from .static_values import placements

#: The most values recorded for a function and for a static argument, and the deepest nesting.
_MOST, _MOST_STATIC, _DEEPEST = 100, 500, 12

#: NumPy arrays up to this size are compared by content, because they are mutable.
_MOST_BYTES = 64 * 1024

#: The most characters kept of a value in words.
_LONGEST = 60

#: The instructions that read a global, and by how many bits the index of its name is shifted in their argument.
_READS_GLOBAL = {dis.opmap["LOAD_GLOBAL"]: 1, dis.opmap["LOAD_NAME"]: 0}

_NUMBERS = (bool, int, float, complex)
_TEXTS = (str, bytes, type(None), type(...), range)


def contents(function: Any) -> dict[str, Held]:
    """Return the closure, default and global values that a function uses, by path.

    >>> def make(rate, name):
    ...     return lambda x: x * rate if name else x
    >>> {path: each.words for path, each in contents(make(0.5, "a")).items()}
    {'name': "'a'", 'rate': '0.5'}
    """
    return _collected(lambda walk: walk.layers(function), _MOST)


def contents_of(value: Any, name: str) -> dict[str, Held]:
    """Return a value and the values that it holds, by path from `name`."""
    return _collected(lambda walk: walk.value(name, value), _MOST_STATIC)


def _collected(start: Callable[[Walk], None], most: int) -> dict[str, Held]:
    """Return the values that a walk finds; values that cannot be read never count as equal."""
    walk = Walk(most)
    try:
        start(walk)
    except Exception:
        walk.held[CUT] = Held("unknown", CUT, None)
    return walk.held


class Walk:
    """A walk through the values that a function holds, which visits each object once, and a limited number."""

    def __init__(self, most: int, namespace: Any = None) -> None:
        self._most = most
        self.held: dict[str, Held] = {}
        self._met: set[int] = set()
        self._globals = namespace

    def layers(self, function: Any) -> None:
        """Record a function and the functions that it wraps."""
        layers = [function]
        while len(layers) < _DEEPEST and (further := inner(layers[-1])) is not None:
            layers.append(further)
        self._met |= set(map(id, layers))
        self._globals = next((each.__globals__ for each in reversed(layers) if type(each) is FunctionType), None)
        for each in layers:
            if is_exactly(each, MethodType):
                self.value("self", each.__self__, 1)
            elif is_a(each, functools.partial):
                self._partial("", each, 1)
            elif is_exactly(each, FunctionType):
                self._surroundings("", each, 1, ours=is_users_file(each.__code__.co_filename))
            elif is_exactly(call_of(each), FunctionType):
                self._object("self", each, 1, is_users_class(type(each)))

    def value(self, path: str, value: Any, depth: int = 0, *, ours: bool = True) -> None:
        """Record a value and the values that it holds; `ours` is false inside a library's own objects."""
        if path in self.held or len(self.held) > self._most:
            return
        if depth > _DEEPEST or len(self.held) == self._most:
            self.held[path if len(self.held) < self._most else CUT] = Held("unknown", CUT, None)
            return
        leaf = _leaf(value, ours)
        if leaf is not None:
            self.held[path] = leaf
            return
        if id(value) in self._met:
            return
        self._met.add(id(value))
        self._inside(path, value, depth + 1, ours)

    def _inside(self, path: str, value: Any, depth: int, ours: bool) -> None:
        kind = type(value)
        if kind is FunctionType:
            self.held[path] = _function(value)
            self._surroundings(f"{path}.", value, depth, ours=ours and is_users_file(value.__code__.co_filename))
        elif inherits(kind, functools.partial):
            self.held[path] = Held("object", "a partial", _token("partial"))
            self.value(f"{path}.func", of_partial("func", value), depth, ours=ours)
            self._partial(f"{path}.", value, depth)
        elif kind is MethodType:
            self.held[path] = _function(value.__func__)
            self.value(f"{path}.self", value.__self__, depth, ours=ours)
        elif inherits(kind, type):
            self.held[path] = Held("value", name_of_class(value), _token(*_class(value)))
            for name, each in class_values(value).items():
                self.value(f"{path}.{name}", each, depth, ours=ours)
        elif inherits(kind, dict):
            items = [(_key(each), one) for each, one in dict.items(value)]
            self._container(path, value, [(f"{path}[{key}]", one) for key, one in items], depth, ours)
        elif inherits(kind, tuple):
            names = member(kind, "_fields")
            elements = list(tuple.__iter__(value))
            if names is None and len(elements) == 2 and type(elements[0]) is str and elements[0].isidentifier():
                names = ("name", elements[0])  # a pair that stands for an attribute
            steps = [f".{name}" for name in names] if names else [f"[{i}]" for i in range(len(elements))]
            self._container(
                path, value, [(path + s, one) for s, one in zip(steps, elements, strict=False)], depth, ours
            )
        elif inherits(kind, list):
            elements = list(list.__iter__(value))
            self._container(path, value, [(f"{path}[{i}]", one) for i, one in enumerate(elements)], depth, ours)
        elif not is_users_class(kind) and (further := inner(value)) is not None:  # jax.jit, jax.custom_jvp
            self.held[path] = Held("function", _words(name_of(value)), _token(name_of_class(kind)))
            self.value(f"{path}.__wrapped__", further, depth, ours=ours)
        else:
            self._object(path, value, depth, ours)

    def _container(self, path: str, value: Any, items: list[tuple[str, Any]], depth: int, ours: bool) -> None:
        keys = [each.removeprefix(path) for each, _ in items]
        name = name_of_class(type(value))
        self.held[path] = Held("object", f"a {name} of {len(items)}", _token(name, *keys))
        for where, each in items:
            self.value(where, each, depth, ours=ours)

    def _object(self, path: str, value: Any, depth: int, ours: bool) -> None:
        kind = type(value)
        attributes = compared_fields(value) or attributes_of(value)
        if attributes is None or holds_more(kind):
            self.held[path] = Held("unknown", f"a {name_of_class(kind)}", None)
            return
        shown = {
            name: each
            for name, each in (class_values(kind) | attributes).items()
            if name == "__wrapped__" or not name.startswith("__")
        }
        self.held[path] = Held("object", f"a {name_of_class(kind)}", _token(*_class(kind), *sorted(shown)))
        for name, each in shown.items():
            self.value(f"{path}.{name}", each, depth, ours=ours and (is_users_class(kind) or not is_written(kind)))

    def _partial(self, path: str, value: functools.partial[Any], depth: int) -> None:
        for number, each in enumerate(of_partial("args", value)):
            self.value(f"{path}args[{number}]", each, depth)
        for name, each in of_partial("keywords", value).items():
            self.value(path + name, each, depth)

    def _surroundings(self, path: str, function: FunctionType, depth: int, *, ours: bool) -> None:
        """Record the values from a function's closure, and for the user's functions the defaults and globals."""
        for name, each in enclosed(function).items():
            self.value(path + name, each, depth, ours=ours)
        code = function.__code__
        if not is_users_file(code.co_filename):
            return
        names = code.co_varnames[: code.co_argcount]
        defaults = function.__defaults__ or ()
        for name, each in zip(names[len(names) - len(defaults) :], defaults, strict=True):
            self.value(path + name, each, depth, ours=ours)
        for name, each in (function.__kwdefaults__ or {}).items():
            self.value(path + name, each, depth, ours=ours)
        if function.__globals__ is not self._globals:
            return
        for name in globals_named(code):
            if name in function.__globals__:
                each = function.__globals__[name]
                if not is_a(each, (ModuleType, BuiltinFunctionType)):
                    self.value(name, each, depth, ours=ours)


def globals_named(code: CodeType) -> Iterator[str]:
    """Yield the names that code reads as globals, including those in nested functions.

    The instructions are read from the bytes: ``dis.get_instructions`` takes a millisecond for a few lines.
    """
    for each in code_objects(code):
        operations, arguments = each.co_code[::2], each.co_code[1::2]
        for operation, shift in _READS_GLOBAL.items():
            at = operations.find(operation)
            while at >= 0:
                index, before = arguments[at], at - 1
                while operations[before] == dis.EXTENDED_ARG and before >= 0:
                    index |= arguments[before] << 8 * (at - before)
                    before -= 1
                yield each.co_names[index >> shift]
                at = operations.find(operation, at + 1)


def _leaf(value: Any, ours: bool) -> Held | None:
    """Describe a value that holds no other values; ``None`` for any other."""
    import jax

    kind = type(value)
    if is_exactly(value, *_NUMBERS) or inherits(kind, np.number, np.bool_):
        number = np.generic.item(value) if inherits(kind, np.generic) else value
        shown: HeldKind = "number" if ours else "value"
        return Held(shown, _words(repr(number)), _token(kind, repr(number)), _token(kind))
    if kind is object:  # a sentinel
        return Held("value", "an object", _token(kind))
    if is_exactly(value, *_TEXTS) or inherits(kind, np.dtype, np.generic):
        return Held("value", _words(repr(value)), _token(kind, repr(value)))
    if inherits(kind, jax.Array, jax.core.Tracer, np.ndarray):
        return _array(value)
    if inherits(kind, Enum):
        name = (attributes_of(value) or {}).get("_name_")
        return Held("value", f"{name_of_class(kind)}.{name}", _token(name_of_class(kind), str(name)))
    if inherits(kind, ModuleType):
        name = str(object.__getattribute__(value, "__dict__").get("__name__"))
        return Held("value", _words(name), _token(kind, name))
    if kind is BuiltinFunctionType:  # a method of an object, or a function of a module
        own = value.__self__ is None or is_a(value.__self__, ModuleType)
        return Held(
            "function" if own else "unknown", _words(value.__qualname__), _token(value.__qualname__) if own else None
        )
    if inherits(kind, *placements()) and not is_users_class(kind):
        return Held("value", _words(str(value)), _token(repr(value)))
    if is_exactly(value, set, frozenset) and all(is_exactly(each, *_NUMBERS, *_TEXTS) for each in value):
        return Held("value", _words(", ".join(sorted(map(repr, value)))), _token(*sorted(map(repr, value))))
    return None


def _array(value: Any) -> Held:
    import jax

    if is_users_class(type(value)):  # reading its shape would run the user's code
        return Held("array", name_of_class(type(value)), _identity(value))
    try:
        kind = jax.typeof(value)
        words = kind.str_short(short_dtypes=True) if hasattr(kind, "str_short") else str(kind)
    except TypeError:
        return Held("array", name_of_class(type(value)), _identity(value))
    form = _token(words, bool(getattr(kind, "weak_type", False)))
    small = type(value) is np.ndarray and value.nbytes <= _MOST_BYTES and not value.dtype.hasobject
    return Held("array", words, _token(words, np.ndarray.tobytes(value)) if small else _identity(value), form)


def _class(kind: type) -> list[object]:
    """Return the name of a class, and the code of the methods that the user has written."""
    return [name_of_class(kind), *(code_content(each.__code__) for each in methods_of(kind))]


def _function(value: FunctionType) -> Held:
    where = defined_at(value)
    name = (name_of(value) or "?").rpartition("<locals>.")[2]
    return Held("function", _words(f"{name} ({where})" if where else name), _token(code_content(value.__code__)))


def _identity(value: Any) -> int | None:
    number = function_id(value)
    return None if number is None else _token("object", number)


def _key(key: Any) -> str:
    """Describe the key of a dictionary."""
    if is_exactly(key, *_NUMBERS, *_TEXTS):
        return _words(repr(key))
    return _words(name_of(key) or f"a {name_of_class(type(key))}")


def _token(*parts: Any) -> int:
    return hash(parts)


def _words(text: str | None) -> str:
    return truncated(text or "?", _LONGEST)
