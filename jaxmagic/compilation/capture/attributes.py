"""Read the attributes of objects and classes, how they compare, and which of them a function reads.

None of the user's code runs for that.
"""

from __future__ import annotations

import dis
import struct
import sys
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from ...records.call_stack import is_users_file
from ...records.code_names import code_objects
from ...runtime.around import attributes, classes, inherits, is_a, is_exactly, member, members, of_type

#: At most this many methods of a class are compared.
_MOST_METHODS = 50

#: The instructions that load, store or delete local variables, also two at a time.
_OF_VARIABLES = tuple(f"{verb}_{kind}" for verb in ("LOAD", "STORE", "DELETE") for kind in ("FAST", "DEREF"))

_POINTER_BYTES = struct.calcsize("P")


def attributes_of(value: Any) -> dict[str, Any] | None:
    """Return the attributes and slots of an object; ``None`` if they cannot be read.

    >>> class Model:
    ...     def __init__(self): self.rate = 0.5
    ...     @property
    ...     def loud(self): raise RuntimeError("do not run")
    >>> attributes_of(Model()), attributes_of(3)
    ({'rate': 0.5}, None)
    """
    held = attributes(value)
    readable = held is not None
    values = {name: each for name, each in (held or {}).items() if is_exactly(name, str)}
    for own in classes(value):
        if "__slots__" not in own:
            continue
        readable = True
        for name, slot in own.items():
            if is_exactly(slot, MemberDescriptorType):
                with suppress(AttributeError):  # it is not set
                    values.setdefault(name, slot.__get__(value))
    return values if readable else None


def compared_fields(value: Any) -> dict[str, Any] | None:
    """Return the compared fields of a named tuple or a dataclass; ``None`` if its class has an ``__eq__`` of its own.

    >>> from dataclasses import dataclass, field
    >>> @dataclass
    ... class Point:
    ...     x: int
    ...     note: str = field(default="", compare=False)
    >>> compared_fields(Point(3))
    {'x': 3}
    """
    kind, compare = type(value), member(type(value), "__eq__")
    if inherits(kind, tuple):
        names = member(kind, "_fields")
        plain = type(names) is tuple and compare is tuple.__eq__
        return dict(zip(names, tuple.__iter__(value), strict=False)) if plain else None
    fields = member(kind, "__dataclass_fields__")
    generated = type(compare) is FunctionType and compare.__code__.co_filename == "<string>"
    held = attributes_of(value)
    if type(fields) is not dict or not generated or held is None:
        return None
    names = [name for name, field in fields.items() if field.compare and field._field_type.name == "_FIELD"]
    return {name: held[name] for name in names if name in held}


def holds_more(kind: type) -> bool:
    """Return whether objects of a class hold data beside attributes and slots, which only C code can read.

    >>> holds_more(type("Model", (), {})), holds_more(type("Rate", (float,), {}))
    (False, True)
    """
    while kind is not object:
        base, own = of_type("__base__", kind), members(kind)
        known = sum(is_exactly(each, MemberDescriptorType) for each in own.values())
        known += ("__dict__" in own) + ("__weakref__" in own)
        size = of_type("__basicsize__", kind) - of_type("__basicsize__", base)
        if size > known * _POINTER_BYTES or of_type("__itemsize__", kind):
            return True
        kind = base
    return False


def is_users_class(kind: type) -> bool:
    """Return whether a class is the user's own, and neither Python's nor an installed package's.

    >>> import fractions
    >>> is_users_class(type("Own", (), {"__module__": "__main__"})), is_users_class(fractions.Fraction)
    (True, False)
    """
    name = members(kind).get("__module__")
    if type(name) is not str:
        return False  # it was made by C code
    module = sys.modules.get(name)
    if name == "__main__" or not is_a(module, ModuleType):
        return True
    file = object.__getattribute__(module, "__dict__").get("__file__")
    return type(file) is str and is_users_file(file)


def is_written(kind: type) -> bool:
    """Return whether a class is created by a statement, which may run again, and is not a built-in type of Python.

    >>> is_written(dict), is_written(type("Own", (), {"__module__": "__main__"}))
    (False, True)
    """
    return type(members(kind).get("__module__")) is str


def methods_of(kind: type) -> list[FunctionType]:
    """Return the methods and properties of a class that the user has written, including inherited ones."""
    written = [each for base in of_type("__mro__", kind) if is_users_class(base) for each in members(base).values()]
    inside = (_function_of(each) for each in written)
    return [each for each in inside if type(each) is FunctionType][:_MOST_METHODS]


def _function_of(value: Any) -> Any:
    """Return the function of a method, a property, or an object that ``jax.jit`` returned."""
    kind = type(value)
    if kind is FunctionType:
        return value
    if kind is property:
        return value.fget
    return (attributes_of(value) or {}).get("__wrapped__")


def attributes_read(function: FunctionType, parameter: str, kind: type) -> frozenset[str] | None:
    """Return the attributes of an object that a function reads; ``None`` if it may read others.

    The methods and properties of the object that it uses count as well, by what they read.

    >>> class Model:
    ...     def loss(self, x): return self.scaled(x) + self.b
    ...     def scaled(self, x): return self.w * x
    ...     def shown(self): return repr(self)
    >>> sorted(attributes_read(Model.loss, "self", Model)), attributes_read(Model.shown, "self", Model)
    (['b', 'w'], None)

    Args:
        function: the function.
        parameter: its parameter that takes the object.
        kind: the class of the object.
    """
    if member(kind, "__getattr__") is not None or member(kind, "__getattribute__") is not object.__getattribute__:
        return None
    found: set[str] = set()
    met, pending = {function.__code__}, [(function.__code__, parameter)]
    for code, name in pending:  # grows meanwhile
        names = _read_of(code, name)
        if names is None:
            return None
        for each in names:
            value = member(kind, each)
            method = None if value is None else _function_of(value)
            if type(method) is FunctionType:
                if not method.__code__.co_argcount:
                    return None
                if method.__code__ not in met:
                    met.add(method.__code__)
                    pending.append((method.__code__, method.__code__.co_varnames[0]))
            elif value is None or type(value) is MemberDescriptorType or member(type(value), "__get__") is None:
                found.add(each)
            elif type(value) is not staticmethod:
                return None
    return frozenset(found)


@lru_cache(maxsize=256)
def _read_of(code: CodeType, name: str) -> frozenset[str] | None:
    """Return the attributes of a variable that code reads; ``None`` if it does anything else with the variable."""
    found: set[str] = set()
    for each in code_objects(code):
        if name not in (each.co_freevars if each is not code else (*each.co_varnames, *each.co_cellvars)):
            continue
        if "__class__" in each.co_freevars:  # super() needs no instruction to load the variable
            return None
        loaded, in_cell = False, name in (*each.co_cellvars, *each.co_freevars)
        for instruction in dis.get_instructions(each):
            operation, argument = instruction.opname, instruction.argval
            if operation == "EXTENDED_ARG" or (loaded and operation == "COPY"):  # as in self.n += 1
                continue
            if loaded and operation in ("LOAD_ATTR", "LOAD_METHOD"):
                found.add(argument)
            elif loaded and operation not in ("STORE_ATTR", "DELETE_ATTR"):
                return None
            loaded = False
            if not operation.startswith(_OF_VARIABLES) or (in_cell and operation.startswith("LOAD_FAST")):
                continue  # a cell is loaded to make a function
            *others, last = argument if type(argument) is tuple else (argument,)
            loaded = last == name and operation.rfind("LOAD") > max(
                operation.rfind("STORE"), operation.rfind("DELETE")
            )
            if name in others or (last == name and not loaded):
                return None
    return frozenset(found)


def class_values(kind: type) -> dict[str, Any]:
    """Return the values that a user's class and its bases define beside methods, such as ``rate = 0.5``.

    >>> class_values(type("Model", (), {"__module__": "__main__", "rate": 0.5, "step": lambda self: 1}))
    {'rate': 0.5}
    """
    values: dict[str, Any] = {}
    for base in of_type("__mro__", kind):
        for name, value in members(base).items() if is_users_class(base) else ():
            if name.startswith("__") or member(type(value), "__get__") is not None or name == "_abc_impl":
                continue
            values.setdefault(name, value)
    return values


def name_of_class(kind: type) -> str:
    """Return the name of a class, without the function that it was defined in."""
    name = of_type("__qualname__", kind)
    return name.rpartition("<locals>.")[2] if type(name) is str else "?"
