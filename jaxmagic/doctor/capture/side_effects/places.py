"""Finds objects again by what leads to them, so that nothing has to keep them, and their arrays, meanwhile."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from ....records.attribute_names import Step

#: Stands for an object that no longer exists, or in whose place there is another one.
GONE = object()


class Places:
    """Objects that variables lead to, held weakly; containers of Python, which cannot be, are read again.

    What an iterator of Python's own has is told by no name, so it is kept.

    Args:
        parts: what reads the parts of an object.
    """

    def __init__(self, parts: Callable[[Any], Iterable[tuple[Step, Any]]]) -> None:
        self._parts = parts
        self._found: dict[int, Callable[[], Any]] = {}
        self._read: dict[int, tuple[Any, dict[Step, Any]]] = {}

    def add(self, value: Any, step: Step, within: int) -> Callable[[], Any]:
        """Return what finds an object again; it returns `GONE` if another one is in its place.

        Args:
            value: the object, behind the one that leads to it.
            step: how that one leads to it.
            within: the id of that one; unknown for the value of a variable, which is kept.
        """
        self._found[id(value)] = found = self._again(value, self._found.get(within), step)
        return found

    def forget(self) -> None:
        """Forget what has been read to find objects: it is kept until then."""
        self._read.clear()

    def _again(self, value: Any, outer: Callable[[], Any] | None, step: Step) -> Callable[[], Any]:
        if outer is None or hasattr(type(value), "__next__"):
            return lambda: value
        with suppress(TypeError):
            reference = weakref.ref(value)
            return lambda: GONE if (kept := reference()) is None else kept
        number = id(value)

        def found() -> Any:
            part = self._parts_of(outer()).get(step, GONE)
            return part if id(part) == number else GONE

        return found

    def _parts_of(self, value: Any) -> dict[Step, Any]:
        if id(value) not in self._read:
            parts: dict[Step, Any] = {}
            with suppress(Exception):
                for step, part in self._parts(value):
                    with suppress(TypeError):  # a key that cannot be hashed
                        parts[step] = part
            self._read[id(value)] = value, parts
        return self._read[id(value)][1]
