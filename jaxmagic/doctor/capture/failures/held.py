"""Finds arrays and traced values in containers and objects, without running code of their classes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from ....runtime.around import attributes, is_a, is_exactly, member, of_type
from ....runtime.tracing import is_array
from .calls import Names, is_missing, value_of

#: A larger container is not searched.
_LARGEST = 1000

#: Containers inside of containers are searched down to this depth.
_DEPTH = 4

#: At most this many of the largest arrays are listed.
_MOST = 5


def arrays_in(
    name: str, value: Any, is_wanted: Callable[[object], bool], depth: int = _DEPTH, *, static: bool = True
) -> Iterator[tuple[str, Any]]:
    """Iterate over the arrays in a value with their names: the value itself, or those that it holds.

    Lists, tuples, dictionaries, named tuples, and the attributes of pytrees of other classes are searched.

    Args:
        name: the value as it is written.
        value: the value.
        is_wanted: returns whether a value is one of those that are looked for.
        depth: how many containers inside of each other are searched.
        static: whether fields are searched that JAX takes for no part of the pytree.
    """
    if is_missing(value):
        return
    if is_wanted(value):
        yield name, value
    elif depth:
        for inner, each in _items(name, value, static):
            yield from arrays_in(inner, each, is_wanted, depth - 1, static=static)


def _items(name: str, value: Any, static: bool) -> list[tuple[str, Any]]:
    if is_exactly(value, dict):
        pairs = list(value.items()) if len(value) <= _LARGEST else []
        return [(f"{name}[{key!r}]", each) for key, each in pairs if is_exactly(key, str, int)]
    if is_a(value, (list, tuple)):
        kind = list if is_a(value, list) else tuple
        if kind.__len__(value) > _LARGEST:
            return []
        fields: Any = member(type(value), "_fields") if kind is tuple else None
        items = list(kind.__iter__(value))
        if is_exactly(fields, tuple) and len(fields) == len(items):
            return [(f"{name}.{field}", each) for field, each in zip(fields, items, strict=True)]
        return [(f"{name}[{place}]", each) for place, each in enumerate(items)]
    if _is_pytree(type(value)):
        held, left_out = attributes(value) or {}, () if static else _static_fields(type(value))
        names = [each for each in list(held)[:_LARGEST] if is_exactly(each, str) and each not in left_out]
        return [(f"{name}.{each}", held[each]) for each in names]
    return []


def _is_pytree(kind: type) -> bool:
    """Return whether a class is a dataclass, as the states and modules of libraries are."""
    return of_type("__module__", kind) != "builtins" and member(kind, "__dataclass_fields__") is not None


def _static_fields(kind: type) -> list[str]:
    """Return the fields of a dataclass that libraries mark as no part of the pytree."""
    fields: Any = member(kind, "__dataclass_fields__")
    return [each.name for each in fields.values() if each.metadata.get("static")] if is_exactly(fields, dict) else []


def shared_in(call: ast.AST | None, frame: Names) -> list[str]:
    """Return the names of an array that the arguments of a call hold more than once; none if it is unknown which."""
    names: dict[int, list[str]] = {}
    arguments = [*call.args, *(each.value for each in call.keywords)] if isinstance(call, ast.Call) else []
    for each in arguments:
        for name, array in arrays_in(ast.unparse(each), value_of(each, frame), is_array):
            names.setdefault(id(array), []).append(name)
    return next((each for each in names.values() if len(each) > 1), [])


def largest_alive(namespace: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    """Return the largest live arrays with the names that hold them, and their bytes on all devices."""
    from ....memory_use.capture.live_arrays import list_live_arrays

    try:
        arrays = list_live_arrays(namespace).arrays
    except Exception:  # a device that is out of memory may answer nothing more
        return ()
    named = ((each.names[0] if each.names else "no name", each) for each in arrays[:_MOST])
    return tuple((f"{name} {each.shape}", each.own_bytes) for name, each in named)
