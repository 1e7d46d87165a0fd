"""Show that a long compilation is in progress, while code runs once and is timed.

The code may print between compilations, so the line exists only while JAX compiles, and is removed before the
compiled function runs. Nothing is shown in the first second of a compilation. The first one starts the thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from ..interrupts import uninterrupted
from .bar import is_shown
from .line import Line, can_be_shown, open_plain_line
from .ticker import Ticker
from .words import seconds, short

#: Shorter compilations are not shown, and the line is redrawn at this interval.
_TICK_S = 1.0

#: If drawing takes longer than this, it hangs, and is not waited for.
_LOCK_S = 2.0


class _Compiling(NamedTuple):
    """A compilation in progress.

    Attributes:
        function: the name of the compiled function.
        began_s: when it began.
        goes_on: whether it is still in progress; a function that was only lowered is not compiled.
    """

    function: str
    began_s: float
    goes_on: Callable[[], bool]


class CompilingLine:
    """The line for the compilation in progress during a measurement.

    Args:
        clock: a monotonic clock in seconds.
        make_line: opens the line on the screen.
        wait: see :class:`~jaxmagic.progress.ticker.Ticker`.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        make_line: Callable[[], Line] = open_plain_line,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self._clock = clock
        self._make_line = make_line
        self._wait = wait
        self._lock = threading.Lock()
        self._compiling: _Compiling | None = None
        self._line: Line | None = None
        self._ticker: Ticker | None = None

    def began(self, function: str, goes_on: Callable[[], bool]) -> None:
        """Note that `function` has been lowered; it is being compiled as long as `goes_on()` returns true."""
        self._compiling = _Compiling(function, self._clock(), goes_on)
        if self._ticker is None:
            self._ticker = Ticker(self._tick, _TICK_S, self._wait)
            self._ticker.start()

    def ended(self) -> None:
        """Remove the line, if there is one."""
        self._compiling = None
        if self._lock.acquire(timeout=_LOCK_S):
            try:
                self._remove()
            finally:
                self._lock.release()

    @uninterrupted
    def close(self) -> None:
        """Remove the line, and end the thread."""
        ticker, self._ticker = self._ticker, None
        try:
            if ticker is not None:
                ticker.stop()
        finally:
            self.ended()

    def _tick(self) -> float:
        """Draw or remove the line; after an error, nothing is drawn any more."""
        with self._lock:
            compiling = self._compiling
            if compiling is None or not compiling.goes_on():
                self._remove()
                return _TICK_S
            lasted_s = self._clock() - compiling.began_s
            if lasted_s < _TICK_S:
                return _TICK_S - lasted_s
            try:
                if self._line is None:
                    self._line = self._make_line()
                self._line.draw(f"compiling {short(compiling.function)}: {seconds(int(lasted_s))}", None)
            except Exception:
                self._remove()
                return threading.TIMEOUT_MAX
            return _TICK_S

    def _remove(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            with suppress(Exception):
                line.close()


def compiling_line() -> CompilingLine | None:
    """Return a line for one measurement; ``None`` if nothing can be shown, or progress is already shown."""
    return CompilingLine() if can_be_shown() and not is_shown() else None
