"""Finds what names stand for in the user's functions: the modules and functions of libraries behind them."""

from __future__ import annotations

import argparse
import ast
import random
import sys
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import islice
from typing import Any

import numpy as np

from ...records.call_stack import is_users_file
from ...runtime.around import enclosed, is_a, of_type
from ...runtime.tracing import is_array
from ..analysis.parsed_code import parsed
from ..record.evidence import LibraryNames
from .called_code import calls_of
from .changes import reach
from .frames import first_line
from .remedies.user_functions import global_names, is_users_function, seen_by

#: Modules in which a function is looked up before the one that it says it is from, which may be private.
_PUBLIC = (
    *("numpy", "numpy.random", "numpy.linalg", "numpy.fft", "jax", "jax.numpy", "jax.lax", "jax.nn", "jax.random"),
    *("equinox", "flax.nnx", "scipy.special", "math", "random", "time"),
)

#: So many elements of a container are looked at.
_MOST_ELEMENTS = 50

#: What holds Python's own values, and objects that do nothing but hold attributes.
_VALUES = bool, int, float, complex, str, dict, list, set
_NAMESPACES = types.SimpleNamespace, argparse.Namespace

#: Packages whose functions may be objects of their own classes.
_PACKAGES = "builtins", "numpy", "jax", "jaxlib", "equinox", "flax", "functools"

#: Modules with a jit of their own.
_WITH_JIT = "equinox", "flax", "flax.nnx"

#: Generators stand for the module whose functions are their methods.
_GENERATORS: dict[type, str] = {
    np.random.Generator: "numpy.random",
    np.random.RandomState: "numpy.random",
    random.Random: "random",
}


def library_names(code: str | None, variables: Mapping[str, Any]) -> tuple[LibraryNames, ...]:
    """Return what the names that the code writes stand for, and those in the user's functions that it leads to.

    >>> import math
    >>> sorted(library_names("math.sqrt(n)", {"math": math, "n": 2})[0].paths)
    [('math', 'math'), ('math.sqrt', 'math.sqrt'), ('n', '')]
    """
    own = LibraryNames(function=None, paths=tuple(dict(_written(code or "", variables)).items()))
    return own, *map(_names_of, _functions(variables))


def _functions(variables: Mapping[str, Any]) -> Iterator[types.FunctionType]:
    """Yield the user's functions that variables lead to, and those that these may call."""
    queue, met = [each.value for each in reach(variables) if is_users_function(each.value)], set()
    for each in queue:  # grows meanwhile
        if id(each) not in met:
            met.add(id(each))
            yield each
            queue += [function for run in calls_of(each).values() for function in run or ()]


def _names_of(function: types.FunctionType) -> LibraryNames:
    calls = {text: None if run is None else tuple(map(first_line, run)) for text, run in calls_of(function).items()}
    seen = {name: value for name, value in seen_by(function).items() if name.isidentifier()}
    return LibraryNames(
        function=first_line(function),
        paths=tuple(dict(_seen(function)).items()),
        calls=tuple(calls.items()),
        arrays=tuple(name for name, value in seen.items() if _holds_array(value)),
        values=tuple(name for name, value in seen.items() if is_a(value, _VALUES) and not _holds_array(value)),
        objects=tuple(name for name, value in seen.items() if can_change(value)),
    )


def _holds_array(value: Any, depth: int = 2) -> bool:
    """Return whether a value is an array, or a container of Python with one in it."""
    if is_array(value) or is_a(value, np.ndarray):
        return True
    inside = dict.values(value) if is_a(value, dict) else value if is_a(value, (list, tuple)) else ()
    return depth > 0 and any(_holds_array(each, depth - 1) for each in islice(inside, _MOST_ELEMENTS))


def can_change(value: Any) -> bool:
    """Return whether a value is an object of a class of the user's, or a namespace, whose attributes can be assigned.

    >>> can_change(types.SimpleNamespace(rate=0.1)), can_change(types), can_change(3)
    (True, False, False)
    """
    kind = type(value)
    if is_a(value, _NAMESPACES):
        return True
    file = getattr(sys.modules.get(str(of_type("__module__", kind))), "__file__", None)
    is_users = of_type("__module__", kind) == "__main__" or (file is not None and is_users_file(file))
    members = [vars(each) for each in of_type("__mro__", kind)[:-1]]  # without those of object
    fixed = is_a(value, (type, tuple, Enum)) or any("__setattr__" in each for each in members)
    return is_users and not fixed


def path_of(value: Any) -> str:
    """Return the dotted path of a module or of a library's function or class; empty for anything else.

    >>> path_of(np.tanh), path_of(np), path_of(3)
    ('numpy.tanh', 'numpy', '')
    """
    if is_a(value, types.ModuleType):
        return str(vars(value).get("__name__", ""))
    generators = (path for kind, path in _GENERATORS.items() if is_a(value, kind))
    path = next(generators, None)
    if path is not None or is_users_function(value) or not callable(value):
        return path or ""
    if str(of_type("__module__", type(value))).partition(".")[0] not in _PACKAGES:
        return ""
    name, home = getattr(value, "__name__", None), getattr(value, "__module__", None)
    for module in (*_PUBLIC, home):
        held = vars(sys.modules[module]) if module in sys.modules else {}
        if name in held and held[name] is value:
            return f"{module}.{name}"
    if of_type("__name__", type(value)) == "PjitFunction":
        return "jax.jit"  # has made it
    return "numpy.ufunc" if is_a(value, (np.ufunc, np.vectorize)) else ""


def _written(code: str, variables: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the variables in the code, and the attributes of modules as they are written."""
    for node in ast.walk(parsed(code)):
        if isinstance(node, ast.Name | ast.Attribute):
            text = ast.unparse(node)
            root, *rest = text.split(".")
            value = variables.get(root)
            for name in rest:
                value = vars(value).get(name) if is_a(value, types.ModuleType) else None
            if root in variables and (not rest or value is not None):
                yield text, path_of(value)


def _seen(function: types.FunctionType) -> Iterator[tuple[str, str]]:
    """Yield the names that a function reads from outside, and those that its module has for libraries with a jit."""
    held, closure = function.__globals__, enclosed(function)
    yield from ((name, path_of(held[name])) for name in global_names(function.__code__) if name in held)
    yield from ((name, path_of(value)) for name, value in closure.items())
    with_jit = [module for name in _WITH_JIT if (module := sys.modules.get(name)) is not None]
    for name, value in list(held.items()) if with_jit else ():
        if name not in closure and any(value is module for module in with_jit):
            yield name, path_of(value)
