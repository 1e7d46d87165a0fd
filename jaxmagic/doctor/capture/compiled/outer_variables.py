"""Reads the variables outside of a function that its code reads: globals, and variables of enclosing functions.

None of the user's code runs for that.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ....compilation.capture.attributes import attributes_of, is_users_class
from ....compilation.capture.function_identity import innermost
from ....records.call_stack import is_users_file
from ....records.code_names import code_objects
from ....runtime.around import attribute, inherits, is_a, is_exactly, of_type
from ..stored_names import ABSENT, assigned_outside

#: At most this many functions are followed.
_MOST_FUNCTIONS = 50

#: The types whose values are no arrays, numbers or pytrees of them.
_STATIC = {
    "function": (FunctionType, MethodType, BuiltinFunctionType, partial, np.ufunc),
    "string": (str, bytes),
    "module": (ModuleType,),
}

#: The types of jitted functions, and of those with derivatives of their own.
_JITTED = "PjitFunction", "custom_jvp", "custom_vjp"

_READING = "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"


def outer_variables(function: FunctionType) -> dict[str, Callable[[], Any]]:
    """Return what reads each outer variable of a function, and of the user's functions that it reads.

    An object counts by its attributes, such as ``"model.w"``. Names that mean different variables in these functions
    are left out.
    """
    found: dict[str, tuple[object, Callable[[], Any]]] = {}
    different: set[str] = set()
    met, pending = {function.__code__}, [function]
    for each in pending:  # grows meanwhile
        for name in _names(each.__code__):
            place, read = _variable(name, each)
            value = read()
            inside = innermost(value)
            if is_exactly(inside, FunctionType):
                is_new = inside.__code__ not in met and len(met) < _MOST_FUNCTIONS
                if is_new and is_users_file(inside.__code__.co_filename):
                    met.add(inside.__code__)
                    pending.append(inside)
                continue
            if found.setdefault(name, (place, read))[0] is not place:
                different.add(name)
    kept = {name: read for name, (_, read) in found.items() if name not in different}
    return dict(_with_attributes(kept))


def static_only(function: Any) -> tuple[tuple[str, str], ...]:
    """Return the outer variables of a function that ``jit`` takes only as static arguments, each with what it is."""
    if not is_exactly(function, FunctionType):
        return ()
    kinds = ((name, _static_kind(_variable(name, function)[1]())) for name in _names(function.__code__))
    return tuple((name, kind) for name, kind in kinds if kind)


def _static_kind(value: Any) -> str:
    """Return what a value is that ``jit`` takes only as a static argument; empty if it is another, or unknown.

    >>> _static_kind(print), _static_kind("mean"), _static_kind(int), _static_kind(1.0)
    ('function', 'string', 'class', '')
    """
    kinds = (kind for kind, types in _STATIC.items() if is_exactly(value, *types))
    kind = "class" if is_a(value, type) else next(kinds, "")
    return kind or ("function" if of_type("__name__", type(value)) in _JITTED else "")


def plain_reads(function: FunctionType) -> frozenset[str]:
    """Return the outer variables that a function reads by itself, and does not assign."""
    return frozenset(_names(function.__code__)) - {*assigned_outside(function.__code__)}


def is_array(value: Any) -> bool:
    """Return whether a value is an array of JAX or NumPy, and not of a class of the user's."""
    import jax

    return inherits(type(value), jax.Array, np.ndarray, np.generic) and not is_users_class(type(value))


def _with_attributes(readers: dict[str, Callable[[], Any]]) -> Iterator[tuple[str, Callable[[], Any]]]:
    for name, read in readers.items():
        value = read()
        held = None if is_a(value, (type, ModuleType)) or is_array(value) else attributes_of(value)
        if held is None:
            yield name, read
        else:
            yield from ((f"{name}.{each}", partial(_attribute, read, each)) for each in held)


def _attribute(read: Callable[[], Any], name: str) -> Any:
    return attribute(read(), name)


def _variable(name: str, function: FunctionType) -> tuple[object, Callable[[], Any]]:
    """Return what holds a variable, and what reads it without keeping the function, and so its program, alive."""
    free = function.__code__.co_freevars
    if name in free and function.__closure__:
        cell = function.__closure__[free.index(name)]
        return cell, lambda: _in_cell(cell)
    variables = function.__globals__
    return variables, lambda: dict.get(variables, name, ABSENT)


def _in_cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing is assigned yet
        return ABSENT


@lru_cache(maxsize=256)
def _names(code: CodeType) -> tuple[str, ...]:
    """Return the globals and variables of enclosing functions that code, and functions defined in it, read."""
    own = set(code.co_cellvars)
    read = (
        step.argval
        for each in code_objects(code)
        for step in dis.get_instructions(each)
        if step.opname in _READING and not (step.opname.endswith("DEREF") and step.argval in own)
    )
    return tuple(dict.fromkeys(map(str, read)))
