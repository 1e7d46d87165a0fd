"""Records what JAX compiles during a measurement, and tells which compilations are the code's."""

from __future__ import annotations

import sys
import threading
from collections.abc import Collection, Sequence
from dataclasses import replace

from ...interrupts import begins, ends
from ...progress.record import CompileProgress
from ...records.cell_names import place_known_as
from ..analysis.call_memory import Memory
from ..analysis.grouping import group
from ..analysis.self_times import self_times
from ..analysis.waits import own_waits_ns
from ..record.compilation import Compilation
from ..record.events import Miss, Span
from . import jit_calls
from .listeners import shared as _listeners
from .running_line import running_line

#: The calls observed in this session, with which new compilations are compared.
_memory = Memory()


class CompileLog:
    """Record what JAX compiles between :meth:`start` and :meth:`stop`, in any thread.

    Args:
        progress: shows what the thread that started the log is compiling.

    Attributes:
        spans: the stages, in the order in which they ended.
        misses: JAX's explanations.
        complete: whether the listeners stayed registered until the end.
    """

    def __init__(self, progress: CompileProgress | None = None) -> None:
        self.spans: list[Span] = []
        self.misses: list[Miss] = []
        self.complete = True
        self._token: int | None = None
        self._progress = progress
        self._thread = 0
        self._began_at: str | None = None

    @begins("stop")
    def start(self) -> None:
        """Begin to listen."""
        self._thread = threading.get_ident()
        self._began_at = running_line(sys._getframe(1))
        self._token = _listeners.add(self)

    def add_span(self, span: Span) -> None:
        """Record a stage that has ended, and show the stage that begins now."""
        self.spans.append(span)
        if self._progress is None or span.thread != self._thread:
            return
        if span.stage == "lowering":
            thread = span.thread
            self._progress.began(span.function, lambda: jit_calls.is_compiling(thread))
        elif span.stage != "tracing":
            self._progress.ended()

    def compilations(
        self,
        *,
        start_ns: int,
        end_ns: int,
        thread: int,
        threads_before: Collection[int | None],
        waits: Sequence[tuple[int, int]] = (),
    ) -> tuple[Compilation, ...]:
        """Return the compilations between two clock readings, with their causes.

        Args:
            start_ns: when the measured code began.
            end_ns: when the measured code had returned.
            thread: the thread that ran it.
            threads_before: the threads that existed before; their compilations do not belong to the measured code.
            waits: when the code itself waited for results, in order and without overlap.
        """
        compilations = group(
            self.spans,
            self.misses,
            _memory,
            start_ns=start_ns,
            end_ns=end_ns,
            main_thread=thread,
            threads=self._threads(thread, threads_before),
            waits=waits,
        )
        return tuple(self._placed(each) for each in compilations)

    def _placed(self, compilation: Compilation) -> Compilation:
        """Name cells in places as people know them."""
        called_at = None if compilation.called_at == self._began_at else place_known_as(compilation.called_at)
        return replace(compilation, location=place_known_as(compilation.location), called_at=called_at)

    def waited_ns(
        self,
        waits: Sequence[tuple[int, int]],
        *,
        start_ns: int,
        end_ns: int,
        thread: int,
        threads_before: Collection[int | None],
    ) -> int:
        """Return how much of `waits` was outside any compilation; takes the arguments of :meth:`compilations`."""
        threads = self._threads(thread, threads_before)
        return own_waits_ns(waits, self.spans, start_ns, end_ns, main_thread=thread, threads=threads)

    def busy_ns(self, start_ns: int, end_ns: int) -> int:
        """Return for how long any thread was in some stage between two clock readings."""
        return sum(
            self_times(self.spans, start_ns, end_ns, main_thread=0, threads={each.thread for each in self.spans})
        )

    def _threads(self, thread: int, before: Collection[int | None]) -> set[int]:
        """Return the threads that belong to the measured code: its own, and those that it started."""
        return {span.thread for span in self.spans} - set(before) | {thread}

    @ends
    def stop(self) -> None:
        """Stop listening. A second call does nothing."""
        if self._token is None:
            return
        token, self._token = self._token, None
        try:
            self.complete = _listeners.are_registered() is not False
            _listeners.remove(self, token)
        finally:
            if self._progress is not None:
                self._progress.close()

    def abandon(self) -> None:
        """Stop listening for a measurement that was garbage-collected, which may happen on any line and thread."""
        if self._token is not None:
            token, self._token = self._token, None
            _listeners.abandon(self, token)
            if self._progress is not None:
                self._progress.close()
