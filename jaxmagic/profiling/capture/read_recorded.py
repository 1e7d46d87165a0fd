"""Reads what the profiler recorded of the runs; whatever goes wrong becomes a note, since the timings remain."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ...interrupts import interruptible
from ...records.note import Note, note
from ..analysis.devices.programs_run import ran_no_program
from ..analysis.interpret import interpreted
from ..analysis.summarize import ProfileSummary, summarize
from ..record.recording import Interpreted, Trace
from .logdir import LogDir
from .profiler_session import NotRecorded, Profiler, windows_of
from .recorded_runs import RecordedRuns
from .run_plan import RunPlan


class RecordedReader:
    """Ends the recording, and reads it.

    Args:
        profiler: the session that records.
        recorded: the runs under the profiler.
        plan: the runs before.
        logdir: keeps the recording, which is deleted after reading if this is ``None``.
        on_trace: called with the trace; it returns notes, and its errors become notes.

    Attributes:
        summary: the times; empty if the recording could not be read.
        recording: the trace; ``None`` if it could not be read.
        kept: the folder in which the recording was kept.
        notes: what a reader of the record must know.
        interrupt: the interrupt that ended the reading.
    """

    def __init__(
        self,
        profiler: Profiler,
        recorded: RecordedRuns,
        plan: RunPlan,
        logdir: LogDir | None,
        on_trace: Callable[[Trace], Iterable[Note]],
    ) -> None:
        self.summary = ProfileSummary(0, (), (), ())
        self.recording: Interpreted | None = None
        self.kept: Path | None = None
        self.notes: list[Note] = []
        self.interrupt: KeyboardInterrupt | None = None
        self._profiler = profiler
        self._recorded = recorded
        self._plan = plan
        self._logdir = logdir
        self._on_trace = on_trace

    def read(self, error: BaseException | None, events_per_s: float | None) -> None:
        """Read the trace. Raises nothing: an interrupt is kept in :attr:`interrupt`.

        Args:
            error: what ended the code.
            events_per_s: the estimated event rate; ``None`` if it is unknown.
        """
        trace = None
        try:
            trace = self._read(error, events_per_s)
        except KeyboardInterrupt as interrupt:
            self.interrupt = interrupt
            self.notes.append(note("profiling.interrupted"))
        except NotRecorded as problem:
            self.notes.append(problem.why)
        except Exception as problem:
            self.notes.append(note("profiling.unreadable", error=f"{type(problem).__name__}: {problem}"))
        try:
            if trace is not None:
                self.notes += self._on_trace(trace)
        except Exception as problem:  # the record is worth more than what else was to be made of the trace
            name = "" if isinstance(problem, OSError) else f"{type(problem).__name__}: "
            self.notes.append(note("profiling.not_written", error=f"{name}{problem}"))

    @interruptible
    def _read(self, error: BaseException | None, events_per_s: float | None) -> Trace:
        """Read the trace, which may take long: as it was recorded, interpreted, and summarized."""
        trace = self._profiler.stop(self._keep)
        complete_runs = self._recorded.complete(trace, error) if self._profiler.is_cut else None
        self.notes += self._plan.about_recording(trace, complete_runs, events_per_s)
        recording = interpreted(trace)
        windows = self._recorded.windows(recording, error)
        summary = summarize(recording, windows)
        complete = error is None and complete_runs is None
        if complete and not summary.device_uses and ran_no_program(trace, windows_of(trace)):
            self.notes.append(note("profiling.no_program", runs=len(windows)))
        self.summary, self.recording = summary, recording
        return trace

    def _keep(self, folder: Path) -> None:
        if self._logdir is not None:
            try:
                self.kept = self._logdir.keep(folder)
            except Exception as problem:
                self.notes.append(note("profiling.not_kept", error=str(problem)))
