"""Finds the runs under the profiler in the trace: all of them, or those before an error or before the limit."""

from __future__ import annotations

from collections.abc import Sequence

from ...records.note import note
from ...timing.record import Timing
from ..analysis.run_windows import Window
from ..record.recording import Trace
from .profiler_session import NotRecorded, Profiler, cut_window, windows_of


class RecordedRuns:
    """Runs under the profiler.

    Args:
        profiler: the session that they run in.
        runs: how many are planned.

    Attributes:
        timings: the runs that have ended.
    """

    def __init__(self, profiler: Profiler, runs: int) -> None:
        self.timings: list[Timing] = []
        self._profiler = profiler
        self._runs = runs
        self._clocked: list[tuple[int, int]] = []

    def add(self, timing: Timing, after_mark_ns: int) -> None:
        """Add a run that has ended, and how long after its marker its stopwatch started."""
        self.timings.append(timing)
        self._clocked.append((after_mark_ns, timing.wall_ns))

    def windows(self, trace: Trace, error: BaseException | None) -> Sequence[Window]:
        """Find when the complete runs were; where there is none, the recorded part of the first one.

        Raises:
            NotRecorded: the profiler dropped the marker of a run.
        """
        windows = windows_of(trace, self._clocked)
        if self._profiler.is_cut:
            cut = cut_window(trace)
            return windows or ([] if cut is None else [cut])
        ended = len(self.timings)
        if len(windows) < ended or (error is None and len(windows) != self._runs):
            raise NotRecorded(note("profiling.lost_run_markers"))
        return windows if error is None or not ended else windows[:ended]

    def complete(self, trace: Trace | None, error: BaseException | None) -> int:
        """Count the complete runs in the trace; those that have ended if there is no trace."""
        if self._profiler.is_cut:
            return 0 if trace is None else len(windows_of(trace))
        return self._runs if error is None else len(self.timings)
