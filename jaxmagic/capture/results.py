"""Which arrays does a result hold? Answered without running any code of the user's.

``jax.block_until_ready`` returns at once for a plain object that holds arrays, recurses without end on a list
that holds itself, and runs the flattening code of whoever registered a pytree. What is needed here is less:
the arrays that are easy to reach, to take the clock as soon as *they* are ready. Whatever is missed is waited
for by the fence.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

#: How Python itself reads these attributes of a class.
_MRO, _DICT = type.__dict__["__mro__"], type.__dict__["__dict__"]

#: What ``__dict__`` is in a class whose objects have attributes.
_HOLDERS = types.GetSetDescriptorType, types.MemberDescriptorType

#: Objects that are looked at in one result. The search is inside the measured time where work is shorter.
_MOST_NODES = 1000


class Found(NamedTuple):
    """The arrays of a result, and what to say about it."""

    arrays: list[Any]
    notes: list[str]


def find_arrays(result: Any) -> Found:
    """The JAX arrays in `result`: in containers, attributes and slots, each once, deleted ones left out."""
    import jax

    if _is_plain(type(result)):
        return Found([], [])
    if is_array(result) and not result.is_deleted():
        return Found([result], [])  # at once: the clock is running
    notes = _about(result)
    arrays: list[Any] = []
    seen: set[int] = set()
    queue = [] if notes else [result]
    deleted = looked_at = 0
    while queue and looked_at < _MOST_NODES:
        node = queue.pop()
        looked_at += 1
        kind = type(node)
        if _is_plain(kind) or id(node) in seen:
            continue
        seen.add(id(node))
        if is_array(node):
            if node.is_deleted():
                deleted += 1
            else:
                arrays.append(node)
        elif not issubclass(kind, jax.core.Tracer):  # what it holds is JAX's
            with suppress(Exception):  # a class may refuse to say what it is
                queue.extend(_parts(node))
    if deleted:
        notes.append(
            "The result holds an array that has been deleted or donated: its work was waited for, "
            "but it cannot be read any more."
        )
    return Found(arrays, notes)


def is_array(value: Any) -> bool:
    """Whether this is an array with values: no tracer. Asked of the type, because an object may answer anything."""
    import jax

    return issubclass(type(value), jax.Array) and not isinstance(value, jax.core.Tracer)


def _is_plain(kind: type) -> bool:
    return id(kind) in _PLAIN


def _parts(node: Any) -> list[Any]:
    """What an object holds, read around its own ``__getattr__``, ``__iter__`` and ``__eq__``."""
    if issubclass(type(node), dict):
        return list(islice(dict.values(node), _MOST_NODES))
    if issubclass(type(node), (tuple, list)):
        base: Any = tuple if issubclass(type(node), tuple) else list
        return list(base.__getitem__(node, slice(0, _MOST_NODES)))
    if issubclass(type(node), _CODE):
        return []
    parts: list[Any] = []
    if issubclass(type(node), functools.partial):  # jax.tree_util.Partial, too: what jax.vjp returns
        parts += [functools.partial.args.__get__(node), functools.partial.keywords.__get__(node)]
    classes = [_own(kind) for kind in _MRO.__get__(type(node))]
    parts += islice(_attributes(node, classes).values(), _MOST_NODES)
    for members in classes:
        if "__slots__" not in members:  # the members of built-in types are no arrays
            continue
        for slot in members.values():
            if inspect.ismemberdescriptor(slot):
                with suppress(AttributeError):
                    parts.append(slot.__get__(node))
    return parts


def _own(kind: type) -> Mapping[str, Any]:
    """The members of a class, around its metaclass."""
    members: Mapping[str, Any] = _DICT.__get__(kind)
    return members


def _attributes(node: Any, classes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The attributes of an object, around a property of the user's that bears the name ``__dict__``."""
    found = (members["__dict__"] for members in classes if "__dict__" in members)
    held = next((each.__get__(node) for each in found if type(each) in _HOLDERS), None)
    return held if type(held) is dict else {}


def _about(result: object) -> list[str]:
    for kind, what, how in _NOT_RUN:
        if issubclass(type(result), kind):
            return [f"The result is {what} that has not run: only making it was timed. {how}"]
    return []


def host_copy(arrays: list[Any]) -> int:
    """Copy `arrays` to the host and forget the copies; the bytes copied.

    Arrays that are not fully addressable from this process are left out.
    """
    import jax

    here = [array for array in arrays if array.is_fully_addressable]
    jax.device_get(here)
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

_NOT_RUN: tuple[tuple[type, str, str], ...] = (
    (types.GeneratorType, "a generator", "Put list(…) around it to time its work."),
    (types.AsyncGeneratorType, "an asynchronous generator", "Iterate over it to time its work."),
    (types.CoroutineType, "a coroutine", "Put await before it to time its work."),
)
