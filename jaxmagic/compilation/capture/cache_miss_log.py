"""JAX's own explanations of why it traces again, caught on their way to the log.

``jax_explain_cache_misses`` makes JAX log a paragraph for every miss of its tracing cache. It is switched on
for the measuring thread only, through the context manager that JAX has for it, and the paragraphs are taken out
of the log by a filter: the user's handlers and propagation are not touched, a level that is too high to let them
pass is lowered for the while, and nobody sees text that was not asked for. Where the user had switched the
explanations on already, they go on being printed.
"""

from __future__ import annotations

import functools
import logging
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from ...runtime.private_api import CACHE_LOGGERS, CACHE_NOISE, MISS_LOGGERS, guard_explanations, release_explanations

_MARK = "TRACING CACHE MISS"


class MissLog(logging.Filter):
    """Hands each explanation to `report`, from :meth:`begin` until as many calls of :meth:`end`.

    Calls nest, also where two measurements overlap without nesting (two tasks of one event loop): the first
    one in a thread switches the explanations on, the last one off.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__()
        self._report = report
        self._open: dict[int, tuple[int, AbstractContextManager[None], bool]] = {}
        self._left: dict[int, tuple[int, AbstractContextManager[None], bool]] = {}
        self._levels: dict[str, int] = {}

    def begin(self) -> int:
        """Begin to listen, in this thread; returns the token that :meth:`end` wants."""
        import jax

        thread = threading.get_ident()
        self.reset_left()
        if thread in self._open:
            count, flag, ours = self._open[thread]
            self._open[thread] = count + 1, flag, ours
            return thread
        try:
            if not self._open and not self._left:
                self._attach()
            ours = not jax.config.jax_explain_cache_misses
            flag = jax.explain_cache_misses(True)
            flag.__enter__()
        except BaseException:
            self._detach_unless_heard()
            raise
        self._open[thread] = 1, flag, ours
        return thread

    def end(self, thread: int) -> None:
        """Undo one :meth:`begin`.

        The flag is the thread's own and cannot be reset from another one. There it is left until that thread begins
        again or has something explained.
        """
        if thread not in self._open:
            return
        count, flag, ours = self._open[thread]
        if count > 1:
            self._open[thread] = count - 1, flag, ours
            return
        del self._open[thread]
        try:
            if thread == threading.get_ident():
                flag.__exit__(None, None, None)
            elif thread in sys._current_frames():
                self._left[thread] = 0, flag, ours
        finally:
            self._detach_unless_heard()

    def filter(self, record: logging.LogRecord) -> bool:
        """Called by the logger: take what is ours, let everything else pass."""
        try:
            thread = threading.get_ident()
            entry = self._open.get(thread) or self.reset_left()
            if entry is None:
                return True
            text = record.getMessage()
            if record.name in CACHE_LOGGERS:
                return not (entry[2] and text.startswith(CACHE_NOISE))
            if not text.startswith(_MARK):
                return True
            if entry[0]:
                self._report(text)
            return not entry[2]
        except Exception:  # an exception here would surface in the user's own call of JAX
            return True

    def reset_left(self) -> tuple[int, AbstractContextManager[None], bool] | None:
        """Reset the flag of this thread where another thread has ended what set it."""
        entry = self._left.pop(threading.get_ident(), None)
        if entry is not None:
            entry[1].__exit__(None, None, None)
            self._detach_unless_heard()
        return entry

    def _detach_unless_heard(self) -> None:
        if not self._open and not self._left:
            self._detach()

    def _attach(self) -> None:
        guard_explanations()
        for logger in _loggers(CACHE_LOGGERS):
            logger.addFilter(self)
        for logger in _loggers(MISS_LOGGERS):
            logger.addFilter(self)
            if not logger.isEnabledFor(logging.WARNING):
                self._levels[logger.name] = logger.level
                logger.setLevel(logging.WARNING)

    def _detach(self) -> None:
        release_explanations()
        for logger in _loggers((*CACHE_LOGGERS, *MISS_LOGGERS)):
            logger.removeFilter(self)
            if logger.name in self._levels:
                logger.setLevel(self._levels.pop(logger.name))


@functools.cache
def _loggers(names: tuple[str, ...]) -> tuple[logging.Logger, ...]:
    return tuple(logging.getLogger(name) for name in names)  # takes a lock for each
