"""Describe static arguments in words that are equal if the values are, without running any of the user's code.

A suffix distinguishes values that print alike: ``(object 0x…)`` for an object that compares by identity, ``(class
0x…)`` for a value that equals only values of the same class, ``(value 0x…)`` for a value that is too long to keep.
The suffixes are parsed in ``compilation/analysis/static_values.py``.
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

#: The most characters kept of a value, which is compared in full (by hash) and shown in part.
_MOST_CHARACTERS = 2000

#: The deepest nesting that is described, and the most values in it; each takes about 10 µs.
_DEEPEST, _MOST = 5, 1000


def static_words(values: Mapping[str, Any]) -> dict[str, str]:
    """Describe static values in words."""
    return {name: in_words(value) for name, value in values.items()}


def in_words(value: Any) -> str:
    """Describe one static value in words.

    >>> in_words((1, "a")), in_words({1: 2}), in_words(range(3))
    ("(1, 'a')", 'a dict', 'range(0, 3)')
    """
    text = _words(value, 0, iter(range(_MOST)))
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[: _MOST_CHARACTERS - 30]}… (value {hash(text) % 2**64:#x})"


def _words(value: Any, depth: int, left: Iterator[int]) -> str:
    """Describe a value, or return ``…`` when the budget `left` is used up."""
    kind = type(value)
    if next(left, None) is None:
        return "…"
    if value is None or is_exactly(value, bool, int, float, complex, str, bytes, range, type(...)):
        # NaN equals nothing, but a dictionary finds it again if it is the same object.
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
    if kind is BuiltinFunctionType:  # the same object for as long as its module exists
        return f"{value.__qualname__} (object {id(value):#x})"
    if kind is MethodType:  # each access creates a new method object, equal to the others
        return f"{name_of(value.__func__)} (object {id(value.__self__):#x})"
    if depth < _DEEPEST and (fields := compared_fields(value)) is not None:
        shown = ", ".join(f"{name}={_words(each, depth + 1, left)}" for name, each in fields.items())
        return f"{name_of_class(kind)}({shown})" + _class(kind, depth)
    if _by_identity(kind):
        if inherits(kind, type) or (member(kind, "__call__") is not None and name_of(innermost(value)) is not None):
            return f"{name_of(innermost(value))} (object {id(value):#x})"
        return f"{name_of_class(kind)} object {id(value):#x}"
    return f"a {name_of_class(kind)}{_class(kind, depth)}"  # only its own __eq__ could compare it


def _class(kind: type, depth: int) -> str:
    """Return the suffix that identifies a class; none for a nested tuple, which may equal one of another class."""
    if not is_written(kind) or (depth and inherits(kind, tuple)):
        return ""
    return f" (class {id(kind):#x})"


def _is_jaxs(kind: type) -> bool:
    """Return whether a class is JAX's own, so that its ``repr`` may run: a mesh, a sharding, ``jnp.float32``."""
    import jax

    return kind is type(jax.numpy.float32) or (inherits(kind, *placements()) and not is_users_class(kind))


def placements() -> tuple[type, ...]:
    """Return JAX's classes that describe the placement of arrays."""
    import jax

    return jax.sharding.Sharding, jax.sharding.Mesh, jax.sharding.PartitionSpec, jax.Device


def _by_identity(kind: type) -> bool:
    """Return whether objects of this type compare by identity."""
    return member(kind, "__eq__") is members(object)["__eq__"]
