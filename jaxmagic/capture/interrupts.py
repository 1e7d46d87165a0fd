"""Ctrl-C that waits for a moment, so that what has to be undone is not left half done."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

try:  # beneath `signal`, whose functions look for a member of an enumeration in every handler: 10 µs each time
    import _signal as _handlers  # type: ignore[import-not-found]
except ImportError:  # not CPython
    _handlers = signal


class uninterrupted:
    """A block of a few lines that no Ctrl-C interrupts: it arrives when the block has ended.

    >>> with uninterrupted():
    ...     pass
    """

    def __enter__(self) -> None:
        self._caught: tuple[int, FrameType | None] | None = None
        self._handler: Any = None
        if threading.current_thread() is threading.main_thread():  # the only one that is interrupted
            handler = _handlers.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                _handlers.signal(signal.SIGINT, self._note)

    def __exit__(self, *_: object) -> None:
        if self._handler is None:
            return
        _handlers.signal(signal.SIGINT, self._handler)
        if self._caught is not None:
            self._handler(*self._caught)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._caught = number, frame
