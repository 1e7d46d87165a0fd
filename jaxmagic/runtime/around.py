"""Read objects without running the code of their class: no property, no metaclass, no ``__getattr__``.

``isinstance`` reads an object's ``__class__``, which may be a property. ``kind.__mro__``, ``kind.__name__``, ``kind
in (int, float)`` and hashing a tuple with a class in it run code of the metaclass. Code that inspects the user's
objects unasked uses the functions of this file instead.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Mapping
from contextlib import suppress
from types import FrameType, FunctionType
from typing import Any

#: The types of ``__dict__`` in a class whose objects have attributes; any other ``__dict__`` is the user's own.
_HOLDERS = types.GetSetDescriptorType, types.MemberDescriptorType


def is_a(value: object, kind: type | tuple[type, ...]) -> bool:
    """Return whether `value` is an instance of `kind`, whatever its ``__class__`` says; not for abstract classes.

    >>> is_a(True, int), is_a(1, (str, list))
    (True, False)
    """
    return issubclass(type(value), kind)


def is_exactly(value: object, *kinds: type) -> bool:
    """Return whether the class of `value` is one of `kinds`, and not derived from it; no metaclass's ``__eq__`` runs.

    >>> is_exactly(1, bool, int), is_exactly(True, int)
    (True, False)
    """
    own = type(value)
    return any(own is kind for kind in kinds)


def inherits(kind: type, *bases: type) -> bool:
    """Return whether `kind` is derived from one of `bases`; the hooks of abstract classes do not run.

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
    """Return the members that a class itself defines."""
    own: Mapping[str, Any] = of_type("__dict__", kind)
    return own


def classes(value: object) -> list[Mapping[str, Any]]:
    """Return the members of an object's class and of its bases, in the order in which Python looks them up."""
    return [members(kind) for kind in of_type("__mro__", type(value))]


def attributes(value: object) -> dict[str, Any] | None:
    """Return the attributes of an object; ``None`` if its class has no ``__dict__``.

    >>> attributes(RuntimeError()), attributes(1)
    ({}, None)
    """
    holders = (own["__dict__"] for own in classes(value) if "__dict__" in own)
    held = next((each.__get__(value) for each in holders if type(each) in _HOLDERS), None)
    return held if type(held) is dict else None


def attribute(value: object, name: str) -> Any:
    """Return the value stored under a name in an object or in its class; ``None`` if there is none.

    A property or any other descriptor is returned as it is, not evaluated.
    """
    held = attributes(value)
    if held is not None and name in held:
        return held[name]
    return member(type(value), name)


def member(kind: type, name: str) -> Any:
    """Return the member with a name of a class or the first of its bases that has it; ``None`` if there is none."""
    owners = (members(each) for each in of_type("__mro__", kind))
    return next((own[name] for own in owners if name in own), None)


def enclosed(function: FunctionType) -> dict[str, Any]:
    """Return the closure variables of a function, by name."""
    values = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # an empty cell
            values[name] = cell.cell_contents
    return values


#: References to the copy of the variables in a frame: those of the frame, of a variable here, and of a call.
_OWN_REFERENCES = 3


def variables_of(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a frame, and keep none of them alive.

    Before Python 3.13, to read those of a function leaves a copy in its frame. It is cleared again, unless somebody
    has got it by ``locals()``, for whom it has the present values then.
    """
    if not is_of_function(frame) or sys.version_info >= (3, 13):
        return dict(frame.f_locals)
    copied = frame.f_locals
    variables = dict(copied)
    if sys.getrefcount(copied) <= _OWN_REFERENCES:
        copied.clear()
    return variables


def is_of_function(frame: FrameType) -> bool:
    """Return whether a frame has variables of its own; the frame of a module or a class has a dictionary."""
    return bool(frame.f_code.co_flags & inspect.CO_OPTIMIZED)
