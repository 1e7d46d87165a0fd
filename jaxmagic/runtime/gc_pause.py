"""Pause Python's garbage collector while many objects are made that all stay, or time its collections."""

from __future__ import annotations

import gc
import threading

from ..interrupts import begins, ends
from .clock import Clock


class held_back:
    """Pause garbage collection in a ``with`` block; each collection would traverse all of JAX's objects for nothing.

    >>> with held_back():
    ...     gc.isenabled()
    False
    """

    _enabled = False

    @begins("__exit__")
    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    @ends
    def __exit__(self, *_: object) -> None:
        if self._enabled:
            gc.enable()


class Collections:
    """Time the garbage collections of this thread in a ``with`` block.

    Attributes:
        spent_ns: the total time of the collections.
    """

    __slots__ = ("__weakref__", "_clock", "_noting", "_started_ns", "_thread", "spent_ns")

    def __init__(self, clock: Clock) -> None:
        self.spent_ns = 0
        self._clock = clock
        self._thread = threading.get_ident()
        self._started_ns = 0
        self._noting = self._note

    @begins("__exit__")
    def __enter__(self) -> Collections:
        gc.callbacks.append(self._noting)
        return self

    @ends
    def __exit__(self, *_: object) -> None:
        if self._noting in gc.callbacks:
            gc.callbacks.remove(self._noting)

    def _note(self, phase: str, _: dict[str, int]) -> None:
        if threading.get_ident() != self._thread:
            return
        if phase == "start":
            self._started_ns = self._clock()
        else:
            self.spent_ns += self._clock() - self._started_ns
