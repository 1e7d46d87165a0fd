"""Runs the JAX profiler for a while, and reads what it has recorded."""

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
from ...records.files import recordings
from ...records.note import Note, note
from ...runtime.private_api import backends_started, profiler_running, release_profiler
from ..analysis.run_windows import Window, moved
from ..record.recording import Trace
from .xspace import read_recording

#: The thread that ends an operation marks that behind everything else, when who has waited for it goes on already.
_LATE_S = 0.02

#: What marks a run in a recording, that it has begun, and that the recording ends before its last run does.
_RUN = "jaxmagic: run"
_BEGINS = "jaxmagic: begins"
_CUT = "jaxmagic: cut"


#: Those that record now: one at most, but for what somebody else has stopped.
_recording: set[Profiler] = set()

#: Those of them that nobody can end any more.
_abandoned: list[Profiler] = []


class NotRecorded(NotMeasured):
    """The profiler is in use, or has recorded nothing that can be read; `why` is for the record."""

    def __init__(self, why: Note) -> None:
        super().__init__(str(why))
        self.why = why


class Profiler:
    """One recording of the JAX profiler, in a folder of its own that goes when it has been read.

    There is one profiler in a process: where it is running already, it is somebody's, and left alone.
    """

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._limit: _Limit | None = None

    @property
    def running(self) -> bool:
        """Whether it records."""
        return self._folder is not None

    def check_free(self, *, deeply: bool) -> None:
        """Find a recording of somebody else before anything runs.

        Args:
            deeply: start a recording and forget it, which also finds those that JAX does not know of. That starts
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
        """Whether it was ended because it had recorded for as long as it may."""
        return self._limit is not None and self._limit.over

    def start(self, *, backends: bool = False, most_s: float | None = None) -> None:
        """Begin to record. JAX starts the backends before it does so.

        Args:
            backends: let it do so where the user's code has not; what needs them not to be started fails afterwards.
            most_s: for how long at most; what runs goes on without it then. As long as it is not ended, if left out.

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
        options.python_tracer_level = 0  # a call of Python takes longer with it than without
        options.host_tracer_level = 2  # on the CPU operations are on this level
        folder = tempfile.TemporaryDirectory(prefix="jaxmagic-", ignore_cleanup_errors=True)
        try:
            jax.profiler.start_trace(folder.name, profiler_options=options)
        except Exception as error:
            folder.cleanup()
            raise NotRecorded(_why_not("started", error)) from error
        self._folder = folder
        _recording.add(self)
        self._limit = None if most_s is None else _Limit(most_s, self._stop_trace)

    def stop(self, keep: Callable[[Path], object] = lambda _: None) -> Trace:
        """End, and read what was recorded.

        Args:
            keep: called with the folder of the recording before that goes.

        Raises:
            NotMeasured: the profiler has written nothing that can be read.
        """
        assert self._folder is not None
        folder = Path(self._folder.name)
        time.sleep(_LATE_S)  # while it can still be cancelled
        try:
            self._end()
            keep(folder)
            return read_recording((each.host, each.data) for each in recordings(folder))
        except FileNotFoundError as error:
            raise NotRecorded(note("profiling.nothing_written")) from error
        finally:
            self.cancel()

    @ends
    def cancel(self) -> None:
        """End, and forget what was recorded; does nothing where it does not record."""
        try:
            with suppress(NotMeasured):  # somebody else has stopped it, or the disk is full
                self._end()
        finally:
            folder, self._folder = self._folder, None
            if folder is not None:
                folder.cleanup()

    def abandon(self) -> None:
        """Let the next one end it, as nobody holds the measurement any more: called amid any line, in any thread."""
        if self.running:
            _abandoned.append(self)

    @uninterrupted
    def _end(self) -> None:
        """Let the profiler write what it has recorded, which takes its time; the folder stays."""
        if self._limit is not None:
            self._limit.end()
        self._stop_trace()

    def _stop_trace(self) -> None:
        if self not in _recording:
            return
        import jax

        _recording.discard(self)
        try:
            jax.profiler.stop_trace()
        except Exception as error:
            release_profiler()
            raise NotRecorded(_why_not("stopped", error)) from error


class _Limit:
    """Ends a recording in a thread of its own, once it has gone on for as long as it may.

    Attributes:
        over: whether it has done so.
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
        """Let it be, or wait until it has ended the recording.

        Raises:
            NotMeasured: the profiler could not be stopped by then.
        """
        self._ended.set()
        self._thread.join()
        problem, self._problem = self._problem, None
        if problem is not None:
            raise problem


def end_abandoned() -> None:
    """End what nobody else can end: JAX would record until the process ends."""
    while _abandoned:
        _abandoned.pop().cancel()


@contextmanager
def mark_run(number: int) -> Iterator[None]:
    """Mark what runs within as one run, which :func:`windows_of` finds in the recording."""
    import jax

    with jax.profiler.StepTraceAnnotation(_RUN, step_num=number):
        with jax.profiler.TraceAnnotation(_BEGINS):  # of a run that is cut the other mark is lost
            pass
        yield


def cut_window(recording: Trace) -> Window | None:
    """Return the recorded part of the run in which the recording was cut; ``None`` if it was not cut."""
    begun, cut = (_begins_of(recording, name) for name in (_BEGINS, _CUT))
    return Window(max(begun), cut[0]) if begun and cut and max(begun) < cut[0] else None


def _begins_of(recording: Trace, name: str) -> list[int]:
    """Return the start times of host events with a name."""
    wanted = [number for number, kind in enumerate(recording.kinds) if kind.name == name]
    tracks = [each for each in recording.tracks if each.role == "host"] if wanted else []
    return [int(at) for track in tracks for at in track.start_ps[np.isin(track.kinds, wanted)]]


def windows_of(recording: Trace, clocked: Sequence[tuple[int, int]] = ()) -> Sequence[Window]:
    """Find when the runs were that were marked, in order.

    Args:
        recording: in which they are.
        clocked: of the first runs, how long after its mark each began, and how long it took, in nanoseconds: a mark
            holds what the stopwatch itself does as well. A thread may have paused between the mark and the clock:
            then a run is moved within its mark until it holds its operations.
    """
    wanted = {number for number, kind in enumerate(recording.kinds) if kind.name.startswith(_RUN)}
    found: list[Window] = []
    for track in recording.tracks if wanted else ():
        if track.role == "host":
            chosen = np.isin(track.kinds, list(wanted))
            found += map(Window, track.start_ps[chosen].tolist(), track.end_ps[chosen].tolist())
    found.sort()
    return [*moved(recording, found[: len(clocked)], clocked), *found[len(clocked) :]]


def _why_not(done: Literal["started", "stopped"], error: Exception) -> Note:
    if "already" in str(error) or "one profile" in str(error).lower():
        return _running_already()
    return note("profiling.profiler_failed", done=done, error=str(error))


def _running_already() -> Note:
    return note("profiling.nested") if _recording else note("profiling.profiler_in_use")
