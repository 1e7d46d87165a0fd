"""Finds the names that hold arrays, by a search from the names of a session that runs no user code.

References keep an array alive: a variable, a cell's output, a closure, the frame of the last traceback. The search is
breadth-first from the names, and writes each path as a Python expression. It calls no code of the user, not even
``__eq__`` or a property: attributes are read with the descriptors of Python's own types.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from heapq import heappop, heappush
from itertools import chain
from typing import Any, NamedTuple

from ...records.attribute_names import Step
from ...runtime.around import attributes, of_type
from ...runtime.clock import Clock, now_ns
from ...session.shown_errors import last_shown
from .imported import dict_of, imported, is_module
from .references.object_graph import LOADED_WITH, PLAIN, Part, Reader, reader_of

#: Most elements that are visited in one container; this does not limit the namespace.
_MOST_ITEMS = 100_000

#: Most steps from a name. Longer paths are not readable.
_DEEPEST = 60

#: Limits: names of one array, paths that are tried to find them, and holders that are kept of one object.
_MOST_NAMES = 5
_MOST_TRIES = 300
_MOST_HOLDERS = 8

#: Number of objects that are visited between two readings of the clock.
_BETWEEN = 256

#: Most characters of a key, and of a path.
_LONGEST_KEY = 40
_LONGEST_PATH = 120


#: IPython's names for the values of cells, of which it has hidden copies.
_VALUES = re.compile(r"_{1,3}|_\d+")
_INPUTS = frozenset(("In", "_ih", "_dh", "_i", "_ii", "_iii"))


class Holders(NamedTuple):
    """The names that were found for arrays.

    Attributes:
        names: Python expressions by ``id(array)``, shortest first; arrays without a name are left out.
        complete: whether the search finished. It did not if the time was up, or a container was too large, too deep
            or changed meanwhile.
    """

    names: dict[int, list[str]]
    complete: bool


def find_holders(
    arrays: Iterable[Any],
    namespace: dict[str, Any],
    *,
    beside: dict[str, Any] | None = None,
    limit_s: float = 0.5,
    clock: Clock = now_ns,
    everywhere: bool = True,
) -> Holders:
    """Find the names that lead to `arrays`: in `namespace`, the last traceback and the user's modules.

    Args:
        arrays: JAX arrays. No reference to them is kept.
        namespace: names and values, such as a notebook's.
        beside: further values to search, by their names.
        limit_s: time limit of the search. Arrays that were found until then have names.
        clock: the clock of that limit.
        everywhere: whether to search the last traceback and modules as well.

    >>> import jax.numpy as jnp
    >>> w = jnp.ones(3)
    >>> find_holders([w], {"model": {"layers": [w]}}).names[id(w)]
    ["model['layers'][0]"]
    """
    search = _Search(frozenset(map(id, arrays)), limit_s, clock)
    search.run(namespace, beside or {}, everywhere)
    return Holders(search.names(), search.complete)


class _Search:
    """One search: the objects that were met, their depths and their holders."""

    def __init__(self, wanted: frozenset[int], limit_s: float, clock: Clock) -> None:
        self.complete = True
        self._wanted = wanted
        self._clock = clock
        self._end_ns = clock() + round(limit_s * 1e9)
        self._looked_at = 0
        self._over = False
        self._queue: list[Any] = []  # nothing is removed, so that each id stays that of one object
        self._depths: dict[int, int] = {}
        self._holders: dict[int, list[tuple[int, Step]]] = {}
        self._readers: dict[int, tuple[type, Reader | None]] = {}
        self._imported = imported()

    def run(self, namespace: dict[str, Any], beside: dict[str, Any], everywhere: bool) -> None:
        """Visit all objects that the namespace leads to, nearest first."""
        self._depths[id(namespace)] = 0
        modules = self._imported.of_the_user if everywhere else None
        begin = chain(_roots(namespace, modules), ((("name", name), beside[name]) for name in beside))
        self._meet(_NOBODY, 0, begin, most=sys.maxsize)
        for node in self._queue:  # the queue grows meanwhile
            if self._over:
                break
            depth = self._depths[id(node)] + 1
            reader = self._reader(type(node))
            if reader is None:
                continue
            if depth > _DEEPEST:
                self.complete = False
                break
            with suppress(Exception):
                self._meet(id(node), depth, reader(node) if is_module(node) else self._but_modules(reader(node)))
        self.complete = self.complete and not self._over
        self._queue.clear()
        self._readers.clear()

    def _reader(self, kind: type) -> Reader | None:
        known = self._readers.get(id(kind))
        if known is None:  # with the type itself, so that no other type gets its id
            known = self._readers[id(kind)] = kind, reader_of(kind)
        return known[1]

    def _but_modules(self, parts: Iterable[Part]) -> Iterator[Part]:
        """Leave out modules: an object does not hold what is in its module."""
        modules = self._imported.addresses
        return (each for each in parts if id(each[1]) not in modules)

    def _meet(self, holder: int, depth: int, parts: Iterable[Part], most: int = _MOST_ITEMS) -> None:
        try:
            for number, (step, part) in enumerate(parts):
                self._looked_at += 1
                if self._looked_at % _BETWEEN == 0 and self._clock() >= self._end_ns:
                    self._over = True
                    return
                if number >= most:
                    self.complete = False
                    return
                if id(type(part)) not in PLAIN:
                    self._add(holder, depth, step, part)
        except Exception:  # another thread has changed the container
            self.complete = False

    def _add(self, holder: int, depth: int, step: Step, part: Any) -> None:
        address = id(part)
        if address not in self._depths:
            self._depths[address] = depth
            if address not in self._wanted:
                self._queue.append(part)
        holders = self._holders.setdefault(address, [])
        if len(holders) < _MOST_HOLDERS:
            holders.append((holder, step))

    def names(self) -> dict[int, list[str]]:
        """Return the names of every array that was found."""
        return {array: self._names_of(array) for array in self._wanted if array in self._holders}

    def _names_of(self, array: int) -> list[str]:
        """Return the shortest paths to an array: one for each first name, before a second one for any."""
        tried = 0
        ways: list[tuple[int, int, tuple[int, ...], tuple[Step, ...]]] = [(self._depths[array], 0, (array,), ())]
        found: dict[str, str] = {}
        while ways and tried < _MOST_TRIES and len(found) < 2 * _MOST_NAMES:
            _, _, nodes, steps = heappop(ways)
            for holder, step in reversed(self._holders.get(nodes[0], ())):  # among equal ones, the last is taken next
                tried += 1
                if holder == _NOBODY:
                    found.setdefault(path_of((step, *steps)), step[1])
                elif holder not in nodes:  # no cycles
                    length = len(nodes) + self._depths[holder]
                    heappush(ways, (length, -tried, (holder, *nodes), (step, *steps)))
        return _choose(found)


def _roots(namespace: dict[str, Any], modules: Iterable[str] | None) -> Iterator[Part]:
    """Yield the objects from which a search begins: values of `namespace`, the last traceback and result, modules.

    Args:
        namespace: names and values.
        modules: names of the user's modules; ``None`` for nothing but `namespace`.
    """
    names = {name: value for name, value in dict.items(namespace) if type(name) is str}
    outputs = names.get("Out")
    cells = dict.items(outputs) if type(outputs) is dict else ()
    numbers = {key: id(value) for key, value in cells if type(key) is int}
    for name in sorted(names, key=lambda name: name.startswith("_")):
        value = names[name]
        again = name == "_oh" and value is outputs
        again |= name[:1] == "_" and name[1:].isdecimal() and numbers.get(int(name[1:])) == id(value)
        if not again and name not in _INPUTS | LOADED_WITH and not name.startswith("__jaxmagic"):
            yield ("name", name), value
    if modules is None:
        return
    lasts = [getattr(sys, last, None) for last in ("last_exc", "last_value", "last_traceback")]
    shown = last_shown()
    for last in lasts if any(each is shown for each in lasts) else [shown]:  # an error about usage keeps another one
        yield ("name", "last traceback"), last
    yield from _of_shell(names, {id(frame) for last in lasts for frame in _frames(last)})
    for name in modules:
        module = sys.modules.get(name)
        if module is not None and is_module(module) and dict_of(module) is not namespace:
            yield ("name", name), module


def _frames(error: Any) -> Iterator[types.FrameType]:
    """Yield the frames of a traceback, or of the traceback of an exception."""
    traceback = BaseException.__dict__["__traceback__"].__get__(error) if isinstance(error, BaseException) else error
    while type(traceback) is types.TracebackType:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _of_shell(names: dict[str, Any], shown: Collection[int]) -> Iterator[Part]:
    """Yield what IPython holds: the last cell's result, a traceback, and copies of values that have lost their names.

    Args:
        names: the names of the session.
        shown: the frames of the last error, by address, which need no second name.
    """
    get_ipython = names.get("get_ipython")
    if type(get_ipython) is not types.MethodType:
        return
    held = attributes(get_ipython.__self__) or {}
    yield ("name", "get_ipython().last_execution_result"), held.get("last_execution_result")
    traceback = (attributes(held.get("InteractiveTB")) or {}).get("tb")
    if all(id(frame) not in shown for frame in [*_frames(traceback)][-1:]):
        yield ("name", "IPython's last traceback"), traceback
    hidden = held.get("user_ns_hidden")
    for key, value in dict.items(hidden) if type(hidden) is dict else ():
        if type(key) is str and _VALUES.fullmatch(key) and value is not names.get(key):
            yield ("name", f"get_ipython().user_ns_hidden[{key!r}]"), value


#: Stands for the id of a holder if a name holds the object.
_NOBODY = 0


def _choose(found: dict[str, str]) -> list[str]:
    """Choose a few of the paths in `found`, whose values are the names that they begin with.

    A path that ends in a call inside a library comes after the others, which name what the user knows.
    """
    paths = sorted(found, key=_unclear)
    first = {found[path]: path for path in reversed(paths)}
    others = [path for path in paths if first[found[path]] != path]
    return sorted([*sorted(first.values(), key=_unclear), *others][:_MOST_NAMES], key=_unclear)


def _unclear(path: str) -> tuple[bool, int]:
    """Order paths: those that name a variable first, the shortest first."""
    return ": a call inside " in path, len(path)


def path_of(steps: Iterable[Step]) -> str:
    """Write a path as a Python expression; steps that are no expression follow in words."""
    outer, text, parentheses = "", "", 0
    for kind, key in steps:
        if kind == "name":
            text = key
        elif kind == "attribute":
            text += f".{key}"
        elif kind == "item":
            text += f"[{_key_text(key)}]"
        elif kind == "items":
            text += "".join(f"[{_key_text(each)}]" for each in key)
        elif kind == "nth":
            text = f"list({text})[{key}]"
        elif kind == "type":
            text = f"type({text})"
        elif kind == "frame":
            outer, text = f"{outer}{text}: frame {key[0]}, variable ", key[1]
        elif kind == "library":  # its variables mean nothing to a user
            return f"{outer}{text}: a call inside {key}"
        elif kind == "inside":
            text += f" ({key})"
        elif kind != "same":
            outer, text, parentheses = f"{outer}{text} ({kind}: ", key, parentheses + 1
    return _cut(outer + text + ")" * parentheses, _LONGEST_PATH)


def _key_text(key: Any) -> str:
    """Write a key as in Python, if that is short and runs no code of the user."""
    if type(key) is tuple and len(key) <= 5:
        inner = ", ".join(map(_key_text, key))
        return _cut(f"({inner},)" if len(key) == 1 else f"({inner})", _LONGEST_KEY)
    if type(key) is int and key.bit_length() > 128:  # Python refuses to write thousands of digits
        return "<int>"
    if type(key) is str:
        return repr(_cut(key, _LONGEST_KEY))
    if key is None or type(key) in (int, bool, float):
        return repr(key)
    return f"<{of_type('__name__', type(key))}>"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}…{text[len(text) - most // 2 + 1 :]}"
