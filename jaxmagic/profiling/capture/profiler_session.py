"""Starts and stops the JAX profiler, reads its recording, and marks runs in it."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import numpy as np

from ...errors import NotMeasured
from ...interrupts import begins, ends, uninterrupted
from ...records.note import Note, note
from ...records.recordings import recordings
from ...runtime.private_api import backends_started, profiler_running, release_profiler, yield_profiler
from ..analysis.run_windows import Window, moved
from ..record.recording import Trace
from .xspace import read_recording

#: Time to wait before stopping: a thread may record the end marker of an operation after waiting threads continue.
_LATE_S = 0.02

#: Names of the markers of a run, of the start of a run, and of the early end of the recording.
_RUN = "jaxmagic: run"
_BEGINS = "jaxmagic: begins"
_CUT = "jaxmagic: cut"

#: Sessions that record now: at most one, apart from sessions whose profiler somebody else has stopped.
_recording: set[Profiler] = set()

#: Recording sessions that nobody can end any more.
_abandoned: list[Profiler] = []


class NotRecorded(NotMeasured):
    """The profiler is in use, or has recorded nothing that can be read. `why` is the note for the record."""

    def __init__(self, why: Note) -> None:
        super().__init__(str(why))
        self.why = why


class Profiler:
    """One session of the JAX profiler, with a temporary folder for its recording.

    A process has only one profiler. If it is running already, it belongs to somebody else and is left alone.
    """

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._limit: _Limit | None = None
        self._yielded = False
        self._insist: Callable[[], None] = lambda: None

    @property
    def running(self) -> bool:
        """Whether it records."""
        return self._folder is not None

    def check_free(self, *, deeply: bool) -> None:
        """Check, before anything runs, that nobody else uses the profiler.

        Args:
            deeply: start and discard a recording, which also finds sessions that JAX does not know of. This starts
                the backends.

        Raises:
            NotMeasured: the profiler is running already, or cannot be started.
        """
        end_abandoned()
        if profiler_running():
            raise NotRecorded(_running_already())
        if deeply:
            self.start()
            self.cancel()

    @property
    def is_cut(self) -> bool:
        """Whether the recording ended at its time limit."""
        return self._limit is not None and self._limit.over

    def start(self, *, backends: bool = False, most_s: float | None = None) -> None:
        """Start recording. JAX starts the backends before.

        Args:
            backends: allow this if the user's code has not started them; afterwards it is too late to configure them.
            most_s: stop recording after this time, while the code continues; no limit if left out.

        Raises:
            NotMeasured: the profiler is running already, or cannot be started; or there are no backends yet.
        """
        assert not self.running
        end_abandoned()
        if not backends and backends_started() is False:
            raise NotRecorded(note("profiling.no_backends"))
        self._begin(most_s)

    @begins("cancel")
    def _begin(self, most_s: float | None) -> None:
        import jax

        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0  # it slows down each Python call
        options.host_tracer_level = 2  # the level of CPU operations
        folder = tempfile.TemporaryDirectory(prefix="jaxmagic-", ignore_cleanup_errors=True)
        try:
            jax.profiler.start_trace(folder.name, profiler_options=options)
        except Exception as error:
            folder.cleanup()
            raise NotRecorded(_why_not("started", error)) from error
        self._folder = folder
        self._yielded = False
        _recording.add(self)
        self._insist = yield_profiler(self._yield)
        self._limit = None if most_s is None else _Limit(most_s, self._stop_trace)

    def stop(self, keep: Callable[[Path], object] = lambda _: None) -> Trace:
        """Stop recording, and read the trace.

        Args:
            keep: called with the folder of the recording before the folder is deleted.

        Raises:
            NotMeasured: the profiler has written nothing that can be read.
        """
        assert self._folder is not None
        folder = Path(self._folder.name)
        time.sleep(_LATE_S)  # an interrupt here still cancels the session
        try:
            self._end()
            if self._yielded:
                raise NotRecorded(note("profiling.yielded"))
            keep(folder)
            return read_recording((each.host, each.data) for each in recordings(folder))
        except FileNotFoundError as error:
            raise NotRecorded(note("profiling.nothing_written")) from error
        finally:
            self.cancel()

    @ends
    def cancel(self) -> None:
        """Stop and discard the recording; does nothing if there is none."""
        try:
            with suppress(NotMeasured):  # somebody else has stopped it, or the disk is full
                self._end()
        finally:
            folder, self._folder = self._folder, None
            if folder is not None:
                folder.cleanup()

    def abandon(self) -> None:
        """Let the next session stop this one, which nobody holds any more; callable at any time in any thread."""
        if self.running:
            _abandoned.append(self)

    @uninterrupted
    def _end(self) -> None:
        """Stop the profiler, which then writes its recording and may take long; the folder stays."""
        if self._limit is not None:
            self._limit.end()
        self._stop_trace()

    def _stop_trace(self) -> None:
        if self not in _recording:
            return
        import jax

        _recording.discard(self)
        self._insist()
        try:
            jax.profiler.stop_trace()
        except Exception as error:
            release_profiler()
            raise NotRecorded(_why_not("stopped", error)) from error

    def _yield(self) -> None:
        """Note that the code has started the profiler itself, which has discarded this session."""
        _recording.discard(self)
        self._yielded = True


class _Limit:
    """Stops a recording at its time limit, from a thread of its own.

    Attributes:
        over: whether the limit was reached.
    """

    def __init__(self, most_s: float, stop: Callable[[], None]) -> None:
        self.over = False
        self._ended = threading.Event()
        self._stop = stop
        self._problem: NotMeasured | None = None
        self._thread = threading.Thread(target=self._wait, args=(most_s,), name="jaxmagic-profiler", daemon=True)
        self._thread.start()

    def _wait(self, most_s: float) -> None:
        if self._ended.wait(most_s):
            return
        import jax

        with jax.profiler.TraceAnnotation(_CUT):
            pass
        self.over = True
        try:
            self._stop()
        except NotMeasured as problem:
            self._problem = problem

    def end(self) -> None:
        """Cancel the limit, or wait until it has stopped the recording.

        Raises:
            NotMeasured: the limit could not stop the profiler.
        """
        self._ended.set()
        self._thread.join()
        problem, self._problem = self._problem, None
        if problem is not None:
            raise problem


def end_abandoned() -> None:
    """Stop abandoned sessions; otherwise JAX would record until the process ends."""
    while _abandoned:
        _abandoned.pop().cancel()


@contextmanager
def mark_run(number: int) -> Iterator[None]:
    """Mark the code of the ``with`` block as one run, which :func:`windows_of` finds in the trace."""
    import jax

    with jax.profiler.StepTraceAnnotation(_RUN, step_num=number):
        with jax.profiler.TraceAnnotation(_BEGINS):  # the other marker is lost if the recording ends before the run
            pass
        yield


def cut_window(recording: Trace) -> Window | None:
    """Return the recorded part of the run in which the recording ended; ``None`` if it ended outside a run."""
    begun, cut = (_begins_of(recording, name) for name in (_BEGINS, _CUT))
    return Window(max(begun), cut[0]) if begun and cut and max(begun) < cut[0] else None


def _begins_of(recording: Trace, name: str) -> list[int]:
    """Return the start times of host events with a name."""
    wanted = [number for number, kind in enumerate(recording.kinds) if kind.name == name]
    tracks = [each for each in recording.tracks if each.role == "host"] if wanted else []
    return [int(at) for track in tracks for at in track.start_ps[np.isin(track.kinds, wanted)]]


def windows_of(recording: Trace, clocked: Sequence[tuple[int, int]] = ()) -> Sequence[Window]:
    """Find the times of the marked runs, in order.

    Args:
        recording: the trace.
        clocked: for the first runs, by the stopwatch, the nanoseconds from its marker's start to its own, and its
            duration: a marker also covers the stopwatch's own work. If the thread paused between marker and clock,
            the run is moved within its marker until it contains its operations.
    """
    wanted = {number for number, kind in enumerate(recording.kinds) if kind.name.startswith(_RUN)}
    marks: list[Window] = []
    for track in recording.tracks if wanted else ():
        if track.role == "host":
            chosen = np.isin(track.kinds, list(wanted))
            marks += map(Window, track.start_ps[chosen].tolist(), track.end_ps[chosen].tolist())
    marks.sort()
    return [*moved(recording, marks[: len(clocked)], clocked), *marks[len(clocked) :]]


def _why_not(done: Literal["started", "stopped"], error: Exception) -> Note:
    if "already" in str(error) or "one profile" in str(error).lower():
        return _running_already()
    return note("profiling.profiler_failed", done=done, error=str(error))


def _running_already() -> Note:
    return note("profiling.nested") if _recording else note("profiling.profiler_in_use")
