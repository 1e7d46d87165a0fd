"""Copies what some code changes, so that each of its runs begins with the same."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from ....compilation.capture.attributes import is_users_class
from ....runtime.around import attributes, is_a, is_exactly, members, of_type
from ....runtime.functions import is_jitted

#: Kinds of plain values that an input may have inside.
_PLAIN = bool, int, float, complex, str, bytes, types.NoneType

#: Where modules of flax linen are defined, whose attributes cannot be assigned.
_LINEN = "flax.linen.module"

#: Objects in the attributes of others are copied down to this depth.
_DEEPEST = 3


def is_copyable(value: Any, depth: int = _DEEPEST, *, code: bool = False) -> bool:
    """Return whether a value consists of arrays, plain values and containers, also in attributes of objects.

    Args:
        value: the value.
        depth: how deep objects may be in the attributes of others.
        code: whether there may be functions in it, which a copy shares.
    """
    import jax

    return all(
        (isinstance(each, jax.Array) and not each.is_deleted())
        or (is_exactly(each, np.ndarray) and not each.dtype.hasobject)
        or is_a(each, _PLAIN)
        or (code and _is_code(each))
        or (depth > 0 and _is_of_data(each, depth - 1))
        for each in jax.tree.leaves(value)
    )


def _is_of_data(value: Any, depth: int) -> bool:
    """Return whether an object of a class of the user's has nothing but attributes, and each is copyable or code."""
    own = _attributes(value)
    return own is not None and all(_is_code(each) or is_copyable(each, depth, code=True) for each in own.values())


def _attributes(value: Any) -> dict[str, Any] | None:
    """Return the attributes of an object; ``None`` if it may have more, as one of a library's class may."""
    kinds = [each for each in of_type("__mro__", type(value)) if each is not object]
    plain = all(is_users_class(each) and "__slots__" not in members(each) for each in kinds)
    return attributes(value) if plain else None


def _is_code(value: Any) -> bool:
    """Return whether a value is a function, a class or a module, or a module of flax linen, which is as constant."""
    import jax

    kinds = types.FunctionType, type, types.ModuleType, jax.custom_jvp, jax.custom_vjp
    is_linen = any(str(of_type("__module__", each)) == _LINEN for each in of_type("__mro__", type(value)))
    return _attributes(value) is None and (is_a(value, kinds) or is_jitted(value) or is_linen)


def copied(value: Any) -> Any:
    """Return a copy of a value that is copyable; no code of the user's runs for it."""
    import jax

    def copy(each: Any) -> Any:
        own = _attributes(each)
        if own is None:
            return each if is_a(each, _PLAIN) or _is_code(each) else each.copy()
        made = object.__new__(type(each))
        made.__dict__.update({name: copied(part) for name, part in own.items()})
        return made

    return jax.tree.map(copy, value)


def contents(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is in some variables, to compare it; not of those with a donated array inside.

    >>> contents({"state": {"n": 1}})
    {'state': {'n': 1}}
    """
    import jax

    found = {name: _data(value) for name, value in values.items()}
    return {
        name: value
        for name, value in found.items()
        if not any(isinstance(each, jax.Array) and each.is_deleted() for each in jax.tree.leaves(value))
    }


def _data(value: Any) -> Any:
    """Return a value with the attributes of objects in place of these."""
    import jax

    def data(each: Any) -> Any:
        own = _attributes(each)
        return each if own is None else {name: _data(part) for name, part in own.items()}

    return jax.tree.map(data, value)
