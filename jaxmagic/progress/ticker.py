"""A thread that draws now and then while one long call gives nobody else a chance to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from ..interrupts import uninterrupted

#: A thread that has not ended after so long hangs in a write to the terminal, and is left alone.
_JOIN_S = 2.0


class Ticker:
    """Calls a function again and again from :meth:`start` to :meth:`stop`.

    >>> ticker = Ticker(lambda: 1.0)
    >>> ticker.start()
    >>> ticker.stop()
    True

    Args:
        tick: draws, and returns after how many seconds it is to be called again.
        first_s: when it is called for the first time.
        wait: waits for so many seconds, and returns ``True`` as soon as the thread is to end.
    """

    def __init__(
        self, tick: Callable[[], float], first_s: float = 1.0, wait: Callable[[float], bool] | None = None
    ) -> None:
        self._tick = tick
        self._first_s = first_s
        self._gate = threading.Lock()  # cheaper to wait for than a threading.Event
        self._gate.acquire()
        self._wait = wait or (lambda timeout_s: self._gate.acquire(timeout=timeout_s))
        self._thread = threading.Thread(target=self._run, name="jaxmagic progress", daemon=True)

    @uninterrupted
    def start(self) -> None:
        """Start the thread; where there can be none, as in a browser, nothing ticks."""
        with suppress(RuntimeError):
            self._thread.start()

    @uninterrupted
    def stop(self) -> bool:
        """End the thread and wait for it, also where Ctrl-C comes meanwhile.

        Returns:
            Whether it has ended; if not, it hangs in a write, and nobody else should write there.
        """
        with suppress(RuntimeError):  # called before
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
        with suppress(Exception):  # it would be printed, and nobody waits for it
            pause_s = self._first_s
            while not self._wait(pause_s):
                pause_s = self._tick()
