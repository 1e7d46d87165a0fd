"""Records where the measured code itself waits for JAX, as in ``block_until_ready()`` or ``float(y)``.

JAX has no event for waiting. So during a measurement the functions in which JAX waits are replaced by wrappers that
read the clock before and after, which costs about 1 µs per wait. The originals are restored when the last measurement
ends.
"""

from __future__ import annotations

import sys
import threading
from array import array
from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from typing import Any

from ...interrupts import begins, ends, uninterrupted
from ...runtime.clock import Clock, now_ns
from .wait_points import WaitPoint, wait_points

#: A call that had nothing to wait for takes no longer than this.
_SHORTEST_NS = 2_000

#: Python 3.13 stops caching attribute lookups of a class that has changed a thousand times. So after this many
#: installations the wrappers stay in place and record nothing.
_MOST_INSTALLED = 200 if sys.version_info >= (3, 13) else sys.maxsize


class _Heard:
    """The waits of one thread, shared by all measurements of that thread.

    Attributes:
        marks: when each wait began and ended, in pairs, without nested waits.
        entered: how often a function that waits was called, even if there was nothing to wait for.
        waiting: whether the thread is waiting now.
        listeners: the number of measurements that have not ended.
        listening: the number of those whose code has not returned.
        clock: the clock of the first measurement.
        noticed: called with the name of the function and the length of the wait, also if there was nothing to wait
            for; see :meth:`WaitLog.start`.
    """

    __slots__ = ("clock", "entered", "listeners", "listening", "marks", "noticed", "waiting")

    def __init__(self, clock: Clock) -> None:
        self.marks = array("q")
        self.entered = 0
        self.waiting = False
        self.listeners = self.listening = 0
        self.clock = clock
        self.noticed: Callable[[str, int], None] | None = None


class WaitLog:
    """Records the waits of the thread that called :meth:`start`, until :meth:`stop`.

    Attributes:
        heard: the functions of JAX that are observed, such as ``"ArrayImpl.item"``; empty before the start.
    """

    def __init__(self, clock: Clock = now_ns) -> None:
        self.heard: frozenset[str] = frozenset()
        self._clock = clock
        self._thread: int | None = None
        self._notes = _Heard(clock)
        self._listening = False

    @property
    def entered(self) -> int:
        """The number of calls of functions that wait in this thread, even if there was nothing to wait for."""
        return self._notes.entered

    def unheard(self, backend: str | None) -> str | None:
        """Return which waits may have been missed: ``"all"``, or ``"buffer"`` for those of the buffer protocol.

        Returns ``None`` if all kinds that matter on `backend` are observed.
        """
        if not self.heard:
            return "all"
        if "ArrayImpl.__buffer__" not in self.heard and backend == "cpu":
            return "buffer"
        return None

    @begins("stop")
    def start(self, noticed: Callable[[str, int], None] | None = None) -> None:
        """Begin to record.

        Args:
            noticed: called after each wait, from inside the function that waits, with its name and the length of the
                wait in nanoseconds; 0 if there was nothing to wait for.
        """
        thread = get_ident()
        self._notes, self.heard = _hooks.add(thread, self._clock)
        self._thread = thread
        if noticed is not None:
            self._notes.noticed = noticed
        self._notes.listening += 1
        self._listening = True

    def pause(self) -> None:
        """Stop recording: the measured code has returned."""
        if self._listening:
            self._listening = False
            self._notes.listening -= 1

    @ends
    def stop(self) -> None:
        """End the recording. A second call does nothing."""
        self.pause()
        if self._thread is not None:
            thread, self._thread = self._thread, None
            _hooks.remove(thread)

    def abandon(self) -> None:
        """End the recording of a measurement that was garbage-collected, at any line and in any thread."""
        self.pause()
        if self._thread is not None:
            thread, self._thread = self._thread, None
            _hooks.abandon(thread)

    def between(self, start_ns: int, end_ns: int) -> list[tuple[int, int]]:
        """Return the waits between two clock readings as disjoint (begin, end) pairs, in order."""
        marks = self._notes.marks
        pairs = zip(marks[::2], marks[1::2], strict=False)  # an interrupt may have left a beginning without an end
        clipped = ((max(begin, start_ns), min(end, end_ns)) for begin, end in pairs)
        return [(begin, end) for begin, end in clipped if begin < end]


class _Hooks:
    """Installs the wrappers around JAX's functions, and keeps the threads that record."""

    def __init__(self) -> None:
        self._heard: dict[int, _Heard] = {}
        self._lock = threading.Lock()
        self._abandoned: list[int] = []
        self._installed: list[tuple[WaitPoint, Any]] = []
        self._times = 0

    def add(self, thread: int, clock: Clock) -> tuple[_Heard, frozenset[str]]:
        with self._lock:
            self._remove_abandoned()
            if not self._heard and not self._installed:
                self._install()
            heard = self._heard.setdefault(thread, _Heard(clock))
            heard.listeners += 1
            return heard, frozenset(f"{point.owner.__name__}.{point.name}" for point, _ in self._installed)

    def remove(self, thread: int) -> None:
        with self._lock:
            self._remove(thread)
            self._remove_abandoned()

    def abandon(self, thread: int) -> None:
        """Remove a thread now, or at the next call if the lock is held, perhaps by this very thread."""
        self._abandoned.append(thread)
        if self._lock.acquire(blocking=False):
            try:
                self._remove_abandoned()
            finally:
                self._lock.release()

    def _remove_abandoned(self) -> None:
        while self._abandoned:
            self._remove(self._abandoned.pop())

    def _remove(self, thread: int) -> None:
        heard = self._heard[thread]
        heard.listeners -= 1
        if not heard.listeners:
            del self._heard[thread]
        if not self._heard and self._times < _MOST_INSTALLED:
            self._restore()

    def restore(self) -> None:
        """Restore JAX's functions if no measurement is running."""
        with self._lock:
            self._remove_abandoned()
            if not self._heard:
                self._restore()

    def _install(self) -> None:
        self._times += 1
        for found in wait_points():
            point = found._replace(original=_jaxs_own(found.original))
            ours = self._in_place_of(point)
            with suppress(AttributeError, TypeError):  # another JAX, whose class cannot be changed
                setattr(point.owner, point.name, ours)
                self._installed.append((point, ours))

    def _restore(self) -> None:
        while self._installed:
            point, ours = self._installed.pop()
            if vars(point.owner).get(point.name) is ours:  # or somebody else has replaced ours meanwhile
                setattr(point.owner, point.name, point.original)

    def _in_place_of(self, point: WaitPoint) -> Any:
        if isinstance(point.original, property):
            inside = self._timed(point.original.fget, point.is_ready, point.name)
            return property(inside, point.original.fset, point.original.fdel, point.original.__doc__)
        return self._timed(point.original, point.is_ready, point.name)

    def _timed(self, waits: Any, is_ready: Callable[[Any], bool] | None, name: str) -> Any:
        heard_by = self._heard

        def timed(waited_for: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            heard = heard_by.get(get_ident())
            if heard is None or heard.waiting or not heard.listening:
                return waits(waited_for, *args, **kwargs)
            heard.entered += 1
            if is_ready is not None:
                try:
                    ready = is_ready(waited_for)
                except Exception:  # unknown: the function itself handles that
                    ready = True
                if ready:  # copying available data is not waiting
                    if heard.noticed is not None:
                        heard.noticed(name, 0)
                    return waits(waited_for, *args, **kwargs)
            began_ns = heard.clock()
            try:
                heard.waiting = True
                return waits(waited_for, *args, **kwargs)
            finally:
                ended_ns = heard.clock()
                if ended_ns - began_ns >= _SHORTEST_NS:
                    heard.marks.extend((began_ns, ended_ns))
                if heard.noticed is not None:
                    heard.noticed(name, ended_ns - began_ns)
                heard.waiting = False

        timed.__name__, timed.__doc__ = waits.__name__, waits.__doc__
        timed.jaxs_own = waits  # type: ignore[attr-defined]
        return timed


def _jaxs_own(found: Any) -> Any:
    """Return JAX's original, even if code that had patched over our wrapper has put the wrapper back since."""
    if isinstance(found, property):
        inside = getattr(found.fget, "jaxs_own", None)
        return found if inside is None else property(inside, found.fset, found.fdel, found.__doc__)
    return getattr(found, "jaxs_own", found)


_hooks = _Hooks()


@uninterrupted
def restore() -> None:
    """Restore JAX's functions, which stay wrapped after very many measurements."""
    _hooks.restore()
