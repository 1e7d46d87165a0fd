"""What an object is and has, read around the code of its class: no property, no metaclass, no ``__getattr__`` runs.

``isinstance`` asks an object for its ``__class__``, ``kind.__mro__`` and ``kind.__name__`` ask a metaclass, and so do
``kind in (int, float)`` and a class in a hashed tuple. Whoever looks at objects of the user's without being asked to
reads them with the functions of this file.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from contextlib import suppress
from types import FunctionType
from typing import Any

#: What ``__dict__`` is in a class whose objects have attributes; anything else of that name is the user's.
_HOLDERS = types.GetSetDescriptorType, types.MemberDescriptorType


def is_a(value: object, kind: type | tuple[type, ...]) -> bool:
    """Tell whether `value` is of a kind, whatever it answers to ``__class__``. `kind` is no abstract class.

    >>> is_a(True, int), is_a(1, (str, list))
    (True, False)
    """
    return issubclass(type(value), kind)


def is_exactly(value: object, *kinds: type) -> bool:
    """Tell whether `value` is of one of these classes, and of none derived; no ``__eq__`` of a metaclass runs.

    >>> is_exactly(1, bool, int), is_exactly(True, int)
    (True, False)
    """
    own = type(value)
    return any(own is kind for kind in kinds)


def inherits(kind: type, *bases: type) -> bool:
    """Tell whether one of `bases` is among the classes that `kind` was derived from; an abstract class is not asked.

    >>> from collections.abc import Hashable
    >>> inherits(bool, int), inherits(int, Hashable)
    (True, False)
    """
    return any(type.__subclasscheck__(base, kind) for base in bases)


def of_type(name: str, kind: type) -> Any:
    """Return an attribute of a class that all classes have, such as ``"__mro__"``.

    >>> of_type("__name__", bool)
    'bool'
    """
    return type.__dict__[name].__get__(kind)


def members(kind: type) -> Mapping[str, Any]:
    """Return what a class defines itself."""
    found: Mapping[str, Any] = of_type("__dict__", kind)
    return found


def classes(value: object) -> list[Mapping[str, Any]]:
    """Return the members of an object's class and of its bases, in the order in which Python looks them up."""
    return [members(kind) for kind in of_type("__mro__", type(value))]


def attributes(value: object) -> dict[str, Any] | None:
    """Return the attributes of an object; ``None`` if its class keeps none.

    >>> attributes(RuntimeError()), attributes(1)
    ({}, None)
    """
    found = (each["__dict__"] for each in classes(value) if "__dict__" in each)
    held = next((each.__get__(value) for each in found if type(each) in _HOLDERS), None)
    return held if type(held) is dict else None


def attribute(value: object, name: str) -> Any:
    """Return what is stored under a name in an object or in its class; ``None`` if there is nothing.

    A property or another descriptor is returned and not asked.
    """
    held = attributes(value)
    if held is not None and name in held:
        return held[name]
    return member(type(value), name)


def member(kind: type, name: str) -> Any:
    """Return what a class or the first of its bases has stored under a name; ``None`` for nothing."""
    found = (members(each) for each in of_type("__mro__", kind))
    return next((each[name] for each in found if name in each), None)


def enclosed(function: FunctionType) -> dict[str, Any]:
    """Return what a function closes over, by name."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # an empty cell
            found[name] = cell.cell_contents
    return found
