"""Tells when a thread traced, lowered or compiled something, with the time in which jaxmagic noted it."""

from __future__ import annotations

import threading
from bisect import bisect_right

from ...interrupts import begins, ends
from ...runtime.clock import now_ns
from ..record.events import Span
from .compile_log import CompileLog

#: Between two stages of one compilation, JAX needs no longer than this; what takes longer is the user's code.
_MOST_BETWEEN_NS = 5_000_000


class CompilingTimes:
    """The times at which the thread that starts it compiles, in nanoseconds of the clock of records."""

    def __init__(self) -> None:
        self._log = _Noted()
        self._thread = 0
        self._times: list[tuple[int, int]] | None = None

    @begins("stop")
    def start(self) -> None:
        """Begin to listen."""
        self._thread = threading.get_ident()
        self._log.start()

    @ends
    def stop(self) -> None:
        """Stop listening. A second call does nothing."""
        self._log.stop()
        self._times = None

    def __contains__(self, time_ns: int) -> bool:
        """Return whether something was being compiled."""
        return self.within(time_ns, time_ns + 1) > 0

    def within(self, begin_ns: int, end_ns: int) -> int:
        """Return for how long something was being compiled between two times."""
        times = self._merged()
        total_ns = 0
        for at in range(bisect_right(times, (end_ns,)) - 1, -1, -1):
            began_ns, ended_ns = times[at]
            if ended_ns <= begin_ns:
                break
            total_ns += max(min(ended_ns, end_ns) - max(began_ns, begin_ns), 0)
        return total_ns

    def _merged(self) -> list[tuple[int, int]]:
        """Return the times in order and without overlap. The stages of one compilation follow each other."""
        if self._times is None:
            self._times = []
            for span, noted_ns in sorted(self._log.noted, key=lambda each: each[0].start_ns):
                if span.thread != self._thread:
                    continue
                reach_ns = 0 if span.stage == "tracing" else _MOST_BETWEEN_NS
                if self._times and span.start_ns <= self._times[-1][1] + reach_ns:
                    began_ns, ended_ns = self._times[-1]
                    self._times[-1] = (began_ns, max(ended_ns, noted_ns))
                else:
                    self._times.append((span.start_ns, noted_ns))
        return self._times


class _Noted(CompileLog):
    """Stages, and when each of them had been noted."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[tuple[Span, int]] = []

    def add_span(self, span: Span) -> None:
        self.noted.append((span, now_ns()))
