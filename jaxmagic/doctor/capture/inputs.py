"""Lists what some code reads: arrays by their paths, and other variables by their kind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from ...records.call_stack import is_users_file
from ...runtime.around import is_a, is_exactly, of_type
from ..record.evidence import Input, InputKind
from ..record.library_use import Member, ModuleLibrary
from .changes import Reached, held_by, reach
from .failures.libraries.module_use import library_of
from .frames import first_line
from .library_names import can_change, path_of
from .remedies.user_functions import is_users_function

#: The most inputs that are listed.
_MOST_INPUTS = 1000

#: Containers inside of others are looked through down to this depth.
_DEEPEST = 6

#: Numbers and containers in attributes of objects are listed down to this depth: ``trainer.config.rate``.
_DEEPEST_ATTRIBUTE = 3

#: The type of what ``jax.jit`` returns.
JITTED = "PjitFunction"

#: What iterates over the items of a container, by its class; those of the user's classes may do more.
_ITEMS: dict[type, Callable[[Any], Iterator[Any]]] = {
    dict: lambda value: iter(dict.values(value)),
    list: list.__iter__,
    tuple: tuple.__iter__,
}


def inputs_of(variables: Mapping[str, Any]) -> tuple[Input, ...]:
    """Return the variables, and the arrays inside them, nearest first; numbers and containers in their attributes.

    >>> import numpy as np
    >>> [(each.path, each.kind, each.type) for each in inputs_of({"n": 3, "batch": {"x": np.ones((2, 3), "f4")}})]
    [('n', 'number', 'int'), ('batch', 'other', 'dict'), ("batch['x']", 'numpy array', 'float32[2,3]')]
    """
    found, listed = [], list(islice(_worth_listing(variables), _MOST_INPUTS))
    paths = {id(each.value): each.path for each in listed[::-1]}
    for each in listed:
        kind = _kind(each.value)
        changes = kind == "object" and can_change(each.value)
        array = kind in ("numpy array", "jax array")
        found.append(
            Input(
                path=each.path,
                kind=kind,
                type=_array_type(each.value) if array else str(of_type("__name__", type(each.value))),
                size_bytes=int(each.value.nbytes) if array else 0,
                library=None if array else library_in(each.value),
                function=first_line(each.value) if is_users_function(each.value) else None,
                public=path_of(each.value) if kind == "function" else "",
                value=each.value if is_exactly(each.value, int, float) else None,
                can_change=changes,
                members=tuple(_members(each, paths)) if changes else (),
            )
        )
    return tuple(found)


def deleted(variables: Mapping[str, Any]) -> list[Reached]:
    """Return the arrays that were donated or deleted."""
    arrays = (each for each in reach(variables) if _kind(each.value) == "jax array")
    return [each for each in arrays if each.value.is_deleted()]


def _worth_listing(variables: Mapping[str, Any]) -> Iterator[Reached]:
    for each in reach(variables):
        kind = _kind(each.value)
        if len(each.steps) == 1 or kind in ("numpy array", "jax array"):
            yield each
        if kind == "object" and len(each.steps) < _DEEPEST_ATTRIBUTE:
            yield from _data(each)


def _data(each: Reached) -> Iterator[Reached]:
    """Yield the attributes of an object that are numbers, containers of arrays, or jitted functions."""
    if all(kind != "item" for kind, _ in each.steps):
        parts = (each._replace(steps=(*each.steps, step), value=part) for step, part in held_by(each.value))
        yield from (part for part in parts if part.steps[-1][0] == "attribute" and _is_data(part.value))


def _is_data(value: Any) -> bool:
    return _kind(value) in ("number", "module of arrays", "other") or of_type("__name__", type(value)) == JITTED


def _members(each: Reached, paths: Mapping[int, str]) -> Iterator[Member]:
    """Yield the attributes of an object that are no inputs by their own names."""
    for (how, name), part in held_by(each.value):
        data = _kind(part) not in ("function", "iterator", "object")
        path = paths.get(id(part), "") if data else ""
        if how == "attribute" and path != f"{each.path}.{name}" and (path or not data):
            yield Member(name=str(name), home=_home(part), public=path_of(part), same_as=path)


def _home(value: Any) -> str:
    """Return the module of the class of a value, or of its nearest base class that the user did not write."""
    homes = (str(of_type("__module__", kind)) for kind in of_type("__mro__", type(value)))
    files = ((home, getattr(sys.modules.get(home), "__file__", None)) for home in homes if home != "__main__")
    return next(home for home, file in files if file is None or not is_users_file(file))


def _kind(value: Any) -> InputKind:
    if is_a(value, np.ndarray):
        return "numpy array"
    if _is_jax_array(value):
        return "jax array"
    if is_a(value, (bool, int, float, complex)):
        return "number"
    if _is_of_arrays(value):
        return "module of arrays"
    if callable(value):
        return "function"
    if hasattr(type(value), "__next__"):
        return "iterator"
    return "other" if _is_taken(value) else "object"


def _is_taken(value: Any, depth: int = _DEEPEST) -> bool:
    """Return whether jit may take an object: text, and classes that JAX does not know, are no arrays."""
    import jax

    if depth and (is_exactly(value, dict, list) or is_a(value, tuple)):
        return all(_is_taken(each, depth - 1) for each in islice(_items(value) or (), _MOST_INPUTS))
    known = value is None or is_a(value, (np.ndarray, np.generic, bool, int, float, complex))
    return known or _is_jax_array(value) or not jax.tree_util.all_leaves([value])


def library_in(value: Any, depth: int = _DEEPEST) -> ModuleLibrary | None:
    """Return the library of whose modules a value is one, or has one in its containers; ``None`` if there is none.

    A module of Equinox with arrays only, as ``eqx.partition`` makes one, does not count: ``jax.jit`` takes it.
    """
    items = _items(value)
    if items is None:
        library = library_of(value) or ("nnx" if _is_of_nnx(value) else None)
        return None if library is not None and _is_of_arrays(value) else library
    found = (library_in(each, depth - 1) for each in islice(items, _MOST_INPUTS if depth else 0))
    return next((each for each in found if each is not None), None)


def _items(value: Any) -> Iterator[Any] | None:
    """Iterate over the items of a container; ``None`` if a value is none."""
    return next((items(value) for kind, items in _ITEMS.items() if is_a(value, kind)), None)


def _is_of_arrays(value: Any) -> bool:
    """Return whether a value is a module of Equinox all of whose leaves are arrays."""
    import jax

    if library_of(value) != "equinox":
        return False
    return all(is_a(each, np.ndarray) or _is_jax_array(each) for each in jax.tree_util.tree_leaves(value))


def _is_of_nnx(value: Any) -> bool:
    """Return whether a value is an object of flax.nnx, such as an optimizer, whose changes ``nnx.jit`` keeps."""
    return any(
        of_type("__name__", kind) in ("Object", "Pytree") and str(of_type("__module__", kind)).startswith("flax.nnx")
        for kind in of_type("__mro__", type(value))
    )


def _is_jax_array(value: Any) -> bool:
    return of_type("__name__", type(value)) == "ArrayImpl"


def _array_type(array: Any) -> str:
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"
