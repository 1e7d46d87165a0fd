"""Intercept JAX's own explanations of why it traces again on their way to the log.

``jax_explain_cache_misses`` makes JAX log a paragraph for every miss of its tracing cache. It is switched on
for the measuring thread only, with JAX's own context manager, and a filter takes the paragraphs out of the log. The
user's handlers and propagation are not touched, and a logger's level that is too high to let the paragraphs pass is
lowered for the duration. If the user had already switched the explanations on, they are still printed.
"""

from __future__ import annotations

import functools
import logging
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from ...runtime.private_api import CACHE_LOGGERS, CACHE_NOISE, MISS_LOGGERS, guard_explanations, release_explanations
from ..analysis.cache_keys import ranked

_MARK = "TRACING CACHE MISS"


class MissLog(logging.Filter):
    """Pass each explanation to `report`, between :meth:`begin` and :meth:`end`.

    Measurements may nest, or overlap without nesting (two tasks of one event loop): the first one in a thread
    switches the explanations on, and the last one switches them off.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__()
        self._report = report
        self._open: dict[int, tuple[int, AbstractContextManager[None], bool]] = {}
        self._left: dict[int, tuple[int, AbstractContextManager[None], bool]] = {}
        self._levels: dict[str, int] = {}

    def begin(self) -> int:
        """Begin to listen in this thread, and return the token for :meth:`end`."""
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
            self._detach_if_unused()
            raise
        self._open[thread] = 1, flag, ours
        return thread

    def end(self, thread: int) -> None:
        """Undo one :meth:`begin`.

        The flag belongs to its thread and cannot be reset from another one. Called from another thread, this leaves
        the flag until its own thread begins again or gets something explained.
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
            self._detach_if_unused()

    def filter(self, record: logging.LogRecord) -> bool:
        """Take our own explanations and let everything else pass; called by the logger."""
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
        """Reset the flag of this thread if another thread ended the measurement that set it."""
        entry = self._left.pop(threading.get_ident(), None)
        if entry is not None:
            entry[1].__exit__(None, None, None)
            self._detach_if_unused()
        return entry

    def _detach_if_unused(self) -> None:
        if not self._open and not self._left:
            self._detach()

    def _attach(self) -> None:
        guard_explanations(ranked)
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
    return tuple(logging.getLogger(name) for name in names)  # getLogger takes a lock each time
