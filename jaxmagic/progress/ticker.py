"""A thread that draws periodically while the calling thread is in one long call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from ..interrupts import uninterrupted

#: A thread that has not ended after this time hangs in a write to the terminal, and is no longer waited for.
_JOIN_S = 2.0


class Ticker:
    """Calls a function repeatedly from :meth:`start` to :meth:`stop`.

    >>> ticker = Ticker(lambda: 1.0)
    >>> ticker.start()
    >>> ticker.stop()
    True

    Args:
        tick: draws, and returns the seconds until it is to be called again.
        first_s: the seconds until it is first called.
        wait: waits for the given number of seconds, and returns ``True`` as soon as the thread has to end.
    """

    def __init__(
        self, tick: Callable[[], float], first_s: float = 1.0, wait: Callable[[float], bool] | None = None
    ) -> None:
        self._tick = tick
        self._first_s = first_s
        self._gate = threading.Lock()  # waiting for it is cheaper than for a threading.Event
        self._gate.acquire()
        self._wait = wait or (lambda timeout_s: self._gate.acquire(timeout=timeout_s))
        self._thread = threading.Thread(target=self._run, name="jaxmagic progress", daemon=True)

    @uninterrupted
    def start(self) -> None:
        """Start the thread; if there are no threads, as in a browser, nothing happens."""
        with suppress(RuntimeError):
            self._thread.start()

    @uninterrupted
    def stop(self) -> bool:
        """End the thread and wait for it, even if Ctrl-C comes at the same time.

        Returns:
            Whether it has ended; if not, it hangs in a write, and a write by another thread would hang too.
        """
        with suppress(RuntimeError):  # released by an earlier call
            self._gate.release()
        try:
            self._join()
        except BaseException:
            self._join()
            raise
        return not self._thread.is_alive()

    def _join(self) -> None:
        with suppress(RuntimeError):  # it was never started
            self._thread.join(_JOIN_S)

    def _run(self) -> None:
        with suppress(Exception):  # it would be printed by the interpreter
            pause_s = self._first_s
            while not self._wait(pause_s):
                pause_s = self._tick()
