"""Reads the objects in NumPy's arrays and records, also in their fields, and runs no code of derived classes.

A reader yields the steps from an object, and the objects that they lead to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....records.attribute_names import Step

_Part = tuple[Step, Any]


def of_array(array: Any) -> Iterator[_Part]:
    """Read the elements of an array that are objects, and what a view of other memory is of."""
    if np.ndarray.dtype.__get__(array).hasobject:
        yield from _elements(np.ndarray.view(array, np.ndarray), ())
    yield ("attribute", "base"), np.ndarray.base.__get__(array)


def of_record(record: Any) -> Iterator[_Part]:
    """Read the fields of a record that are objects, and the array that it is an element of."""
    yield from _fields(record, ())
    yield ("attribute", "base"), np.void.base.__get__(record)


def _elements(array: Any, names: tuple[str, ...]) -> Iterator[_Part]:
    """Yield the objects in an array, or in its fields. It is of no derived class.

    Args:
        array: the array.
        names: the names of the fields that lead to it.
    """
    if array.dtype.names is not None:
        for name in _with_objects(array.dtype):
            yield from _elements(array[name], (*names, name))
    elif array.dtype.kind == "O":
        for place, element in zip(np.ndindex(*array.shape), array.flat, strict=True):
            key = place[0] if len(place) == 1 else place
            yield (("items", (*names, key)) if names else ("item", key)), element


def _fields(record: Any, names: tuple[str, ...]) -> Iterator[_Part]:
    for name in _with_objects(np.void.dtype.__get__(record)):
        value, path = np.void.__getitem__(record, name), (*names, name)
        if np.void.dtype.__get__(record)[name].kind == "O":
            yield ("items", path), value
        elif issubclass(type(value), np.void):
            yield from _fields(value, path)
        else:
            yield from _elements(value, path)


def _with_objects(dtype: Any) -> list[str]:
    """Return the names of the fields that have objects in them."""
    return [name for name in dtype.names or () if dtype[name].hasobject]
