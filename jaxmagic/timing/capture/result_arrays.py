"""Finds the arrays in a result without running user code.

``jax.block_until_ready`` returns at once for a plain object that holds arrays, recurses forever on a list that
contains itself, and runs the flattening code of registered pytrees. Less is needed here: the arrays that are easy to
reach, so that the clock can be read as soon as *they* are ready. The fence waits for arrays that are missed.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from ...records.note import Note, note
from ...runtime.around import attributes, classes, inherits
from ...runtime.copies import unguarded

#: Objects that are searched in one result.
_MOST_NODES = 1000


class Found(NamedTuple):
    """The arrays of a result, and notes about the result."""

    arrays: list[Any]
    notes: list[Note]


class Search:
    """Searches containers, attributes and slots of a result for JAX arrays, each once, without deleted ones.

    The search can be resumed, because a large result takes up to a millisecond, and the fence has to be queried
    before.

    Attributes:
        result: the object to search.
        arrays: the arrays found so far.
        over: whether the search is complete.
    """

    def __init__(self, result: Any) -> None:
        self.result = result
        self.arrays: list[Any] = []
        self.over = False
        self._notes = _about(result)
        self._deleted = self._looked_at = 0
        self._seen: dict[int, Any] = {}  # with the objects: an address stays that of one object
        self._kinds: dict[int, _Kind] = {}
        # Iterators over the containers that were entered, innermost last; long containers are not copied.
        self._left: list[Iterator[Any]] = [] if self._notes else [iter([result])]

    @property
    def notes(self) -> list[Note]:
        """Notes about the result, as far as it was searched."""
        return [*self._notes, note("timing.deleted")] if self._deleted else self._notes

    def look(self, most: int = _MOST_NODES) -> list[Any]:
        """Search at most this many more objects, and return the arrays found among them."""
        known, left, seen, kinds = len(self.arrays), self._left, self._seen, self._kinds
        looked_at = self._looked_at
        until = min(looked_at + most, _MOST_NODES)
        while left and looked_at < until:
            try:
                for node in left[-1]:
                    looked_at += 1
                    address = id(type(node))
                    if address not in _PLAIN and id(node) not in seen:
                        seen[id(node)] = node
                        kind = kinds.get(address) or kinds.setdefault(address, _kind_of(type(node)))
                        if kind == "array":
                            self._add(node)
                        elif kind == "parts" and (parts := _parts(node)):
                            left += parts
                            break
                    if looked_at >= until:
                        break
                else:
                    left.pop()
            except Exception:  # another thread changed a dictionary
                left.pop()
        self._looked_at = looked_at
        self.over = not left or looked_at >= _MOST_NODES
        if self.over:
            left.clear()
            seen.clear()
        return self.arrays[known:]

    def _add(self, array: Any) -> None:
        try:  # suppress() would take longer than the rest
            deleted = array.is_deleted()
        except Exception:  # a user class derived from JAX's
            return
        if deleted:
            self._deleted += 1
        else:
            self.arrays.append(array)


def find_arrays(result: Any) -> Found:
    """Find the JAX arrays in `result`, as :class:`Search` does."""
    if id(type(result)) in _PLAIN:
        return Found([], [])
    if is_array(result) and not result.is_deleted():
        return Found([result], [])  # quickly, because the clock is running
    search = Search(result)
    search.look()
    return Found(search.arrays, search.notes)


def is_array(value: Any) -> bool:
    """Return whether this is an array with values: no tracer.

    Asked of the type, because an object may answer anything.
    """
    return _kind_of(type(value)) == "array"


_Kind = Literal["array", "parts", "nothing"]


def _kind_of(kind: type) -> _Kind:
    """Return whether objects of this class are arrays, or may hold some."""
    import jax

    if inherits(kind, jax.core.Tracer):  # what it holds is JAX's; on JAX 0.8 it inherits from the arrays, too
        return "nothing"
    if inherits(kind, jax.Array):
        return "array"
    return "nothing" if issubclass(kind, _CODE) else "parts"


def _parts(node: Any) -> list[Iterator[Any]]:
    """List what an object holds, last first, read around its ``__getattr__``, ``__iter__`` and ``__eq__``.

    What was computed last is most often there: the loss behind the state.
    """
    kind = type(node)
    if issubclass(kind, dict):
        return [reversed(dict.values(node))]
    if issubclass(kind, list):
        return [list.__reversed__(node)]
    if issubclass(kind, tuple):
        return [reversed(node if kind is tuple else tuple.__getitem__(node, slice(0, _MOST_NODES)))]
    with suppress(Exception):  # a class may refuse to say what it is
        return [*_of_partial(node), reversed((attributes(node) or {}).values()), iter(_slots(node))]
    return []


def _of_partial(node: Any) -> list[Iterator[Any]]:
    """The arguments of a partial function, also of a ``jax.tree_util.Partial``: what ``jax.vjp`` returns."""
    if not issubclass(type(node), functools.partial):
        return []
    return [iter([functools.partial.keywords.__get__(node), functools.partial.args.__get__(node)])]


def _slots(node: Any) -> list[Any]:
    held = []
    for defined in classes(node):
        if "__slots__" not in defined:  # the members of built-in types are no arrays
            continue
        for slot in defined.values():
            if type(slot) is types.MemberDescriptorType:
                with suppress(AttributeError):
                    held.append(slot.__get__(node))
    return held


def _about(result: object) -> list[Note]:
    for kind, name in _NOT_RUN.items():
        if type(result) is kind:
            begun = any(getattr(result, f"{prefix}_suspended", False) for prefix in ("gi", "ag", "cr"))
            return [] if begun else [note("timing.not_run", result=name)]
    return []


def host_copy(arrays: list[Any]) -> int:
    """Copy `arrays` to the host and forget the copies; the bytes copied.

    Arrays that are not fully addressable from this process are left out.
    """
    import jax

    here = [array for array in arrays if array.is_fully_addressable]
    unguarded(jax.device_get, here)
    return sum(array.nbytes for array in here)


#: What runs rather than holds: behind a function's globals lies the whole session.
_CODE = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.CodeType,
    types.FrameType,
    types.TracebackType,
)

#: By address: a class of the user's may have a metaclass that refuses to be hashed or compared.
_PLAIN = frozenset(map(id, (type(None), bool, int, float, complex, str, bytes, bytearray, range, type)))

_NOT_RUN: dict[type, str] = {
    types.GeneratorType: "generator",
    types.AsyncGeneratorType: "asynchronous generator",
    types.CoroutineType: "coroutine",
    map: "map",
    filter: "filter",
}
