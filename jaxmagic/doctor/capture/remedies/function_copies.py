"""Copies functions and methods, so that they see other objects in place of some; the originals stay as they are."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ....interrupts import begins, ends
from ....runtime.around import enclosed, is_a, is_exactly, members, of_type
from .user_functions import functions_seen, global_names, is_users_function, seen_by

#: What stands for a method in its class, besides functions.
_WRAPPERS = staticmethod, classmethod


class FunctionCopies:
    """Copies of functions.

    Plain functions that the user wrote are copied, and the functions that those call by a global name or from their
    closure. A library's function, such as one that ``jax.grad`` has returned, is copied if it has a user's function
    in its closure, and a bound method is that of the copy. Jitted functions and objects are not entered: what they
    see stays the same.

    Args:
        replacements: what the copies see, by the id of what the originals see.
    """

    def __init__(self, replacements: Mapping[int, Any]) -> None:
        self._replacements = replacements
        self._globals: dict[int, dict[str, Any]] = {}
        self._copied: dict[int, Any] = {}

    def of_globals(self, variables: Mapping[str, Any], copy: dict[str, Any]) -> None:
        """Use `copy` as the globals of functions whose globals are `variables`."""
        self._globals[id(variables)] = copy

    def of(self, value: Any) -> Any:
        """Return what stands in place of `value`; `value` itself if it sees nothing that is replaced."""
        if id(value) in self._replacements:
            value = self._replacements[id(value)]
            if not is_users_function(value):
                return value
        if is_exactly(value, functools.partial):
            function = self.of(value.func)
            return value if function is value.func else functools.partial(function, *value.args, **value.keywords)
        if is_exactly(value, types.MethodType):
            function = self.of(value.__func__)
            return value if function is value.__func__ else types.MethodType(function, value.__self__)
        if not is_exactly(value, types.FunctionType) or not self._leads(value, set()):
            return value
        return self._copied[id(value)] if id(value) in self._copied else self._copy(value)

    def _leads(self, value: Any, met: set[int]) -> bool:
        """Return whether a function sees anything that is replaced, directly or through other functions."""
        if id(value) in self._replacements:
            return True
        if is_exactly(value, functools.partial):
            return self._leads(value.func, met)
        if is_exactly(value, types.MethodType):
            return self._leads(value.__func__, met)
        if id(value) in met or not is_exactly(value, types.FunctionType):
            return False
        met.add(id(value))
        return any(self._leads(each, met) for each in seen_by(value).values())

    def _copy(self, function: types.FunctionType) -> types.FunctionType:
        around = function.__globals__
        if is_users_function(function):
            around = self._globals.setdefault(id(around), dict(around))
        values = enclosed(function)
        cells = tuple(
            types.CellType() if name in values and self._leads(values[name], set()) else cell
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        copied = types.FunctionType(function.__code__, around, function.__name__, None, cells or None)
        self._copied[id(function)] = copied
        for name in global_names(function.__code__) if is_users_function(function) else ():
            if name in function.__globals__:
                value = function.__globals__[name]
                replaced = self.of(value)
                if replaced is not value:
                    around[name] = replaced
        for name, cell, own in zip(function.__code__.co_freevars, cells, function.__closure__ or (), strict=True):
            if cell is not own:  # the others stay shared, so that what one function assigns, all see
                cell.cell_contents = self.of(values[name])
        copied.__defaults__ = _all(self.of, function.__defaults__)
        if function.__kwdefaults__ is not None:
            copied.__kwdefaults__ = {name: self.of(value) for name, value in function.__kwdefaults__.items()}
        copied.__qualname__, copied.__module__ = function.__qualname__, function.__module__
        copied.__dict__.update(function.__dict__)
        return copied


def _all(of: Any, values: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(of(each) for each in values)


class MethodCopies:
    """Copies of the methods of the user's classes, to which the originals switch while some code runs.

    No object is copied or changed. In a ``with`` statement, a name of the class stands for the method or its copy;
    afterwards the classes have their own methods again.

    Args:
        copies: makes the copies.
        values: objects; their classes count, and those among them.

    Attributes:
        found: the classes, the names of the methods, the methods and their copies.
        used: whether a copy has been read. A bound method that a container or an object holds stays as it is.
    """

    def __init__(self, copies: FunctionCopies, values: Iterable[Any]) -> None:
        kinds = {id(kind): kind for value in values for kind in _kinds(value)}
        self.found = [
            (kind, name, method, _like(method, copies.of(function)))
            for kind in kinds.values()
            for name, method in members(kind).items()
            if any(map(is_users_function, functions_seen(function := _function_of(method))))
            and copies.of(function) is not function
        ]
        self.used = self._copied = False

    @begins("__exit__")
    def __enter__(self) -> None:
        """Let the names stand for one or the other."""
        for kind, name, method, copy in self.found:
            type.__setattr__(kind, name, _Either(functools.partial(self._one_of, method, copy)))

    @ends
    def __exit__(self, *exc_info: object) -> None:
        """Put the methods back."""
        for kind, name, method, _ in self.found:
            type.__setattr__(kind, name, method)

    @contextmanager
    def called(self) -> Iterator[None]:
        """Let the names stand for the copies."""
        self._copied = True
        try:
            yield
        finally:
            self._copied = False

    def _one_of(self, method: Any, copy: Any) -> Any:
        self.used |= self._copied
        return copy if self._copied else method


class _Either:
    """A member of a class that is read as one method or another: JAX keeps what it compiles of each apart."""

    def __init__(self, one: Callable[[], Any]) -> None:
        self._one = one

    def __get__(self, value: Any, owner: type | None = None) -> Any:
        return self._one().__get__(value, owner)


def methods_of(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the methods, as functions, of the classes of some objects, and of classes among these."""
    kinds = {id(kind): kind for value in values for kind in _kinds(value)}
    yield from (_function_of(member) for kind in kinds.values() for member in members(kind).values())


def _kinds(value: Any) -> Sequence[type]:
    """Return the class of a value and its bases; of a class, itself and its bases."""
    kinds: Sequence[type] = of_type("__mro__", value if is_a(value, type) else type(value))
    return kinds


def _function_of(member: Any) -> Any:
    return member.__func__ if is_exactly(member, *_WRAPPERS) else member


def _like(method: Any, function: Any) -> Any:
    """Return a function as a member of a class, static where the method is static."""
    return type(method)(function) if is_exactly(method, *_WRAPPERS) else function


def module_with(module: types.ModuleType, **members: Any) -> types.ModuleType:
    """Return a copy of a module with other members. What it lacks is looked up in the original."""
    copy = types.ModuleType(module.__name__)
    copy.__dict__.update(vars(module), **members)
    copy.__dict__["__getattr__"] = functools.partial(getattr, module)
    return copy


def module_with_at(module: types.ModuleType, path: Sequence[str], value: Any) -> types.ModuleType:
    """Return a copy of a module in which an attribute, perhaps of a module inside it, has another value."""
    name, *rest = path
    return module_with(module, **{name: module_with_at(getattr(module, name), rest, value) if rest else value})
