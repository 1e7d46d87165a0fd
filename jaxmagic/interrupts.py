"""Ctrl-C arrives where nothing is half begun or half ended.

Python raises ``KeyboardInterrupt`` wherever it happens to be, also in the first instruction of the ``__exit__`` that
would have ended something. So while a measurement has begun something (listeners, the profiler, a thread), SIGINT has
a handler of ours. It looks at the stack of the main thread, where the innermost mark decides:

- within ``@uninterrupted``, ``@begins`` and ``@ends`` the interrupt is noted, and arrives when that function ends;
- within ``@interruptible``, and everywhere else, it arrives at once.

The handler goes when the last thing has ended; the user's own handler is called as if there had been no other.
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

try:  # beneath `signal`, whose functions look for a member of an enumeration in every handler: 10 µs each time
    import _signal  # type: ignore[import-not-found]
except ImportError:  # not CPython
    _signal = signal

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: The code of the wrappers that keep an interrupt away, and of those that let it through.
_closed: set[CodeType] = set()
_open: set[CodeType] = set()


def uninterrupted(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function that no Ctrl-C interrupts: it arrives when the function has ended.

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
    """A method that begins something, which the method named `undo` ends.

    No Ctrl-C interrupts it. Where one has come meanwhile, or the method fails, all is undone before it is raised.
    From then on until `undo` has been called nothing marked with ``@uninterrupted`` or ``@ends`` is interrupted
    either, from its very first instruction on.

    Args:
        undo: the name of a method with :func:`ends`; it may be called when the other one has come half way.
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
    """A method that ends what one with :func:`begins` has begun; no Ctrl-C interrupts it. It may be called again."""

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
    """A function that Ctrl-C interrupts, also where one that must not be calls it: user code, or a long wait."""

    @functools.wraps(function)
    def open_to_it(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        __tracebackhide__ = True
        _guard.deliver(sys._getframe())  # one that came before
        return function(*args, **kwargs)

    _open.add(_code_of(open_to_it))
    return open_to_it


def interrupted() -> bool:
    """Tell whether Ctrl-C came and has not arrived: then it never does, and the caller says that it came."""
    noted, _guard.noted = _guard.noted, None
    return noted is not None


def forget(*holders: object) -> None:
    """Hold nothing for `holders` any more, which nobody ended and nobody can end. Raises nothing."""
    _guard.forget(holders, sys._getframe(1))


def put_back() -> None:
    """Take a handler of ours away that nobody holds: another thread ended it, or the user's code put it back.

    For the main thread, behind a cell.
    """
    _guard.put_back()


def _code_of(function: Any) -> CodeType:
    code: CodeType = function.__code__
    return code


class _Call:
    """One call of an uninterrupted function."""


class _Handler:
    """A handler of SIGINT in the place of the user's, as long as somebody holds it.

    Attributes:
        users: the handler that was there.
        holders: what has begun and not ended, by its identity; what nobody else holds any more is forgotten.
    """

    def __init__(self, users: Callable[..., Any]) -> None:
        self.users = users
        self.holders: WeakValueDictionary[int, object] = WeakValueDictionary()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Called by Python, in the main thread."""
        __tracebackhide__ = True
        if _is_closed(frame):
            _guard.noted = partial(self.users, number, None)  # without the frame, which holds all that is in it
        else:
            self.users(number, frame)


class _Guard:
    """The handlers of ours. There is another one where the user's code has put its own in the place of the first.

    Attributes:
        noted: lets an interrupt arrive that has not yet.
    """

    def __init__(self) -> None:
        self.noted: Callable[[], Any] | None = None
        self._handlers: list[_Handler] = []

    def hold(self, holder: object) -> None:
        """Keep a handler until `holder` releases it; does nothing in other threads, which nothing interrupts."""
        if not _in_main_thread():
            return
        if not self._handlers:
            self.noted = None
        found = _signal.getsignal(signal.SIGINT)
        if self._handlers and found is self._handlers[-1]:
            self._handlers[-1].holders[id(holder)] = holder
        elif callable(found):
            handler = _Handler(found)
            handler.holders[id(holder)] = holder
            self._handlers.append(handler)
            _signal.signal(signal.SIGINT, handler)

    def release(self, holder: object, caller: FrameType) -> None:
        """Hold it no longer, and let arrive what was noted if `caller` may be interrupted."""
        for each in self._handlers:
            each.holders.pop(id(holder), None)
        if not _in_main_thread() or _is_closed(caller):
            return  # the outermost function puts the user's handler back
        try:
            self._put_back()
            self.deliver(caller)
        except BaseException:  # one has arrived, and the one that was noted is the same to the user
            self.noted = None
            raise

    def forget(self, holders: Iterable[object], caller: FrameType) -> None:
        """Release without letting anything arrive: the garbage collector would throw that away."""
        for holder in holders:
            for each in self._handlers:
                each.holders.pop(id(holder), None)
        if _in_main_thread() and not _is_closed(caller):
            self._put_back()

    def put_back(self) -> None:
        """Put the user's handlers back, also where theirs or another thread has left one of ours."""
        if _in_main_thread():
            self._put_back()
            while isinstance(found := _signal.getsignal(signal.SIGINT), _Handler) and not found.holders:
                _signal.signal(signal.SIGINT, found.users)

    def _put_back(self) -> None:
        """Put the user's handlers back where nobody holds ours any more."""
        while self._handlers and not self._handlers[-1].holders:
            handler = self._handlers.pop()
            if _signal.getsignal(signal.SIGINT) is handler:  # or else the user's code has put its own there
                _signal.signal(signal.SIGINT, handler.users)

    def arrives(self, frame: FrameType) -> bool:
        """Tell whether an interrupt was noted and arrives as soon as the function that `frame` has called is left."""
        return self.noted is not None and not _is_closed(frame)

    def deliver(self, frame: FrameType) -> None:
        """Let arrive what was noted, if `frame` may be interrupted."""
        if self.noted is not None and _in_main_thread() and not _is_closed(frame):
            noted, self.noted = self.noted, None
            noted()


def _in_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def _is_closed(frame: FrameType | None) -> bool:
    """Tell whether the innermost mark above a frame, or on it, keeps interrupts away."""
    while frame is not None:
        if frame.f_code in _closed:
            return True
        if frame.f_code in _open:
            return False
        frame = frame.f_back
    return False


_guard = _Guard()
