"""Put static arguments into words that are equal where the values are, without running any of the user's code.

A word in brackets tells apart what prints alike: ``(object 0x…)`` an object that is equal to itself alone, ``(class
0x…)`` a value whose class has to be the same one, ``(value 0x…)`` one that is too long to be kept. They are read in
``compilation/analysis/static_values.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from types import BuiltinFunctionType, MethodType
from typing import Any

import numpy as np

from ...runtime.around import inherits, is_exactly, member, members
from ...runtime.private_api import device_order
from .attributes import attributes_of, compared_fields, is_users_class, is_written, name_of_class
from .function_identity import innermost, name_of

#: The longest that is kept of one value: it is compared in full, and shown in part.
_MOST_CHARACTERS = 2000

#: How deep a value is described, and so many of the values that it holds: some 10 µs each.
_DEEPEST, _MOST = 5, 1000


def static_words(values: Mapping[str, Any]) -> dict[str, str]:
    """Return static values in words."""
    return {name: in_words(value) for name, value in values.items()}


def in_words(value: Any) -> str:
    """Return one static value in words.

    >>> in_words((1, "a")), in_words({1: 2}), in_words(range(3))
    ("(1, 'a')", 'a dict', 'range(0, 3)')
    """
    text = _words(value, 0, iter(range(_MOST)))
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[: _MOST_CHARACTERS - 30]}… (value {hash(text) % 2**64:#x})"


def _words(value: Any, depth: int, left: Iterator[int]) -> str:
    """The words for a value, or ``…`` when none of those that are `left` is left for it."""
    kind = type(value)
    if next(left, None) is None:
        return "…"
    if value is None or is_exactly(value, bool, int, float, complex, str, bytes, range, type(...)):
        # Not a number is equal to nothing, but found again if it is the same object.
        number = not is_exactly(value, float, complex) or value == value
        return repr(value) if number else f"{value!r} (object {id(value):#x})"
    if (kind is tuple or kind is list) and depth < _DEEPEST:
        inner = ", ".join(_words(item, depth + 1, left) for item in value[:_MOST])
        inner += ", …" if len(value) > _MOST else "," if kind is tuple and len(value) == 1 else ""
        return f"[{inner}]" if kind is list else f"({inner})"
    if kind is frozenset and depth < _DEEPEST:
        return f"frozenset({{{', '.join(sorted(_words(item, depth + 1, left) for item in list(value)[:_MOST]))}}})"
    if inherits(kind, np.generic):
        return f"{kind.__name__}({np.generic.item(value)!r})"
    if inherits(kind, np.dtype) or _is_jaxs(kind):
        return repr(value) + device_order(value)
    if inherits(kind, Enum):
        name = (attributes_of(value) or {}).get("_name_")
        shown = f"{name_of_class(kind)}.{name}" if type(name) is str else f"a {name_of_class(kind)}"
        return f"{shown} (object {id(value):#x})"
    if kind is BuiltinFunctionType:  # the same one for as long as its module lives
        return f"{value.__qualname__} (object {id(value):#x})"
    if kind is MethodType:  # made anew whenever it is asked for, and equal
        return f"{name_of(value.__func__)} (object {id(value.__self__):#x})"
    if depth < _DEEPEST and (fields := compared_fields(value)) is not None:
        shown = ", ".join(f"{name}={_words(each, depth + 1, left)}" for name, each in fields.items())
        return f"{name_of_class(kind)}({shown})" + _class(kind, depth)
    if _by_identity(kind):
        if inherits(kind, type) or (member(kind, "__call__") is not None and name_of(innermost(value)) is not None):
            return f"{name_of(innermost(value))} (object {id(value):#x})"
        return f"{name_of_class(kind)} object {id(value):#x}"
    return f"a {name_of_class(kind)}{_class(kind, depth)}"  # two may be equal, and only their own code could tell


def _class(kind: type, depth: int) -> str:
    """Find which class it is, among those of its name. A tuple in a tuple is equal to one of another class."""
    if not is_written(kind) or (depth and inherits(kind, tuple)):
        return ""
    return f" (class {id(kind):#x})"


def _is_jaxs(kind: type) -> bool:
    """Tell whether its words come from JAX's own code: a mesh, a sharding, ``jnp.float32``."""
    import jax

    return kind is type(jax.numpy.float32) or (inherits(kind, *placements()) and not is_users_class(kind))


def placements() -> tuple[type, ...]:
    """Return JAX's classes that say where arrays lie."""
    import jax

    return jax.sharding.Sharding, jax.sharding.Mesh, jax.sharding.PartitionSpec, jax.Device


def _by_identity(kind: type) -> bool:
    """Tell whether objects of this type are equal to no other."""
    return member(kind, "__eq__") is members(object)["__eq__"]
