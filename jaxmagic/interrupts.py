"""Delay Ctrl-C while something is half begun or half ended.

Python raises ``KeyboardInterrupt`` wherever it happens to be, even in the first instruction of the ``__exit__`` that
would have ended something. So while a measurement holds something open (listeners, the profiler, a thread), jaxmagic
installs its own SIGINT handler. It inspects the stack of the main thread, where the innermost mark decides:

- within ``@uninterrupted``, ``@begins`` and ``@ends``, the interrupt is noted, and delivered when that function ends;
- within ``@interruptible``, and everywhere else, it is delivered at once.

The handler is removed when nothing is open any more. An interrupt is delivered to the user's own handler.
"""

from __future__ import annotations

import functools
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from functools import partial
from types import CodeType, FrameType
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

try:  # faster than `signal`, whose functions convert every handler to an enumeration member in 10 µs
    import _signal  # type: ignore[import-not-found]
except ImportError:  # not CPython
    _signal = signal

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: The code of the wrappers that hold an interrupt back, and of those that let it through.
_closed: set[CodeType] = set()
_open: set[CodeType] = set()


def uninterrupted(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Hold Ctrl-C back until `function` has ended.

    >>> @uninterrupted
    ... def both(first, second):
    ...     first()
    ...     second()
    >>> both(list, dict)
    """

    @functools.wraps(function)
    def closed(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        __tracebackhide__ = True
        call = _Call()
        try:
            _guard.hold(call)
            return function(*args, **kwargs)
        finally:
            _guard.release(call, sys._getframe(1))

    _closed.add(_code_of(closed))
    return closed


def begins(undo: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorate a method that begins something, which the method named `undo` ends.

    Ctrl-C does not interrupt the method. If Ctrl-C was pressed during it, or it fails, everything is undone before
    the exception is raised. From then on until `undo` is called, functions with ``@uninterrupted`` or ``@ends`` are
    protected from their very first instruction.

    Args:
        undo: the name of a method with :func:`ends`; it must work even if the decorated method failed half way.
    """

    def decorate(method: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(method)
        def beginning(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            __tracebackhide__ = True
            owner, caller = args[0], sys._getframe(1)
            begun = held = False
            try:
                _guard.hold(owner)
                held = True
                result = method(*args, **kwargs)
                begun = not _guard.arrives(caller)
                return result
            finally:
                if not begun:
                    try:
                        if held:
                            getattr(owner, undo)()
                    finally:
                        _guard.release(owner, caller)

        _closed.add(_code_of(beginning))
        return beginning

    return decorate


def ends(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a method that ends what one with :func:`begins` began; it holds Ctrl-C back, and may run twice."""

    @functools.wraps(method)
    def ending(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        __tracebackhide__ = True
        try:
            return method(*args, **kwargs)
        finally:
            _guard.release(args[0], sys._getframe(1))

    _closed.add(_code_of(ending))
    return ending


def interruptible(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let Ctrl-C interrupt `function` even inside protected functions, as for user code or a long wait."""

    @functools.wraps(function)
    def open_to_it(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        __tracebackhide__ = True
        _guard.deliver(sys._getframe())  # an interrupt noted earlier
        return function(*args, **kwargs)

    _open.add(_code_of(open_to_it))
    return open_to_it


def interrupted() -> bool:
    """Return whether an interrupt was noted, and drop it; the caller is then responsible for reporting it."""
    noted, _guard.noted = _guard.noted, None
    return noted is not None


def forget(*holders: object) -> None:
    """Release `holders` that were never ended and can no longer be. Raises nothing."""
    _guard.forget(holders, sys._getframe(1))


def put_back() -> None:
    """Remove a handler that nothing holds, because another thread released it or the user's code reinstalled it.

    Called in the main thread when a cell has run.
    """
    _guard.put_back()


def _code_of(function: Any) -> CodeType:
    code: CodeType = function.__code__
    return code


class _Call:
    """One call of an uninterrupted function."""


class _Handler:
    """A SIGINT handler that replaces the user's as long as something holds it.

    Attributes:
        users: the handler that it replaced.
        holders: the objects that have begun something and not ended it, by id; weak, so that dead ones are dropped.
    """

    def __init__(self, users: Callable[..., Any]) -> None:
        self.users = users
        self.holders: WeakValueDictionary[int, object] = WeakValueDictionary()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGINT; called by Python, in the main thread."""
        __tracebackhide__ = True
        if _is_closed(frame):
            _guard.noted = partial(self.users, number, None)  # without the frame, which would keep its locals alive
        else:
            self.users(number, frame)


class _Guard:
    """All installed handlers; there are several if the user's code has replaced an earlier one by its own.

    Attributes:
        noted: delivers an interrupt that was held back.
    """

    def __init__(self) -> None:
        self.noted: Callable[[], Any] | None = None
        self._handlers: list[_Handler] = []

    def hold(self, holder: object) -> None:
        """Keep a handler until `holder` releases it; does nothing in other threads, which are never interrupted."""
        if not _in_main_thread():
            return
        if not self._handlers:
            self.noted = None
        installed = _signal.getsignal(signal.SIGINT)
        if self._handlers and installed is self._handlers[-1]:
            self._handlers[-1].holders[id(holder)] = holder
        elif callable(installed):
            handler = _Handler(installed)
            handler.holders[id(holder)] = holder
            self._handlers.append(handler)
            _signal.signal(signal.SIGINT, handler)

    def release(self, holder: object, caller: FrameType) -> None:
        """Release a handler, and deliver a noted interrupt if `caller` may be interrupted."""
        for handler in self._handlers:
            handler.holders.pop(id(holder), None)
        if not _in_main_thread() or _is_closed(caller):
            return  # the outermost function puts the user's handler back
        try:
            self._put_back()
            self.deliver(caller)
        except BaseException:  # an interrupt was delivered, which stands for the noted one as well
            self.noted = None
            raise

    def forget(self, holders: Iterable[object], caller: FrameType) -> None:
        """Release without delivering an interrupt, whose exception the garbage collector would discard."""
        for holder in holders:
            for handler in self._handlers:
                handler.holders.pop(id(holder), None)
        if _in_main_thread() and not _is_closed(caller):
            self._put_back()

    def put_back(self) -> None:
        """Put the user's handlers back, even if the user's code or another thread left one of jaxmagic's."""
        if _in_main_thread():
            self._put_back()
            while isinstance(left := _signal.getsignal(signal.SIGINT), _Handler) and not left.holders:
                _signal.signal(signal.SIGINT, left.users)

    def _put_back(self) -> None:
        """Put the user's handlers back if nothing holds jaxmagic's any more."""
        while self._handlers and not self._handlers[-1].holders:
            handler = self._handlers.pop()
            if _signal.getsignal(signal.SIGINT) is handler:  # if not, the user's code has installed its own
                _signal.signal(signal.SIGINT, handler.users)

    def arrives(self, frame: FrameType) -> bool:
        """Return whether an interrupt was noted and is delivered when the function called by `frame` returns."""
        return self.noted is not None and not _is_closed(frame)

    def deliver(self, frame: FrameType) -> None:
        """Deliver a noted interrupt, if `frame` may be interrupted."""
        if self.noted is not None and _in_main_thread() and not _is_closed(frame):
            noted, self.noted = self.noted, None
            noted()


def _in_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def _is_closed(frame: FrameType | None) -> bool:
    """Return whether the innermost mark on a frame or above it holds interrupts back."""
    while frame is not None:
        if frame.f_code in _closed:
            return True
        if frame.f_code in _open:
            return False
        frame = frame.f_back
    return False


_guard = _Guard()
