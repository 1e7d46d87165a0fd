"""Runs the JAX profiler for a while, and reads what it has recorded."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from ..analysis.windows import Window, moved
from ..errors import NotMeasured
from ..files import recordings
from ..interrupts import begins, ends, uninterrupted
from ..model.recording import Recording
from .internals import backends_started, profiler_running, release_profiler
from .xspace import read_recording

#: The thread that ends an operation marks that behind everything else, when who has waited for it goes on already.
_LATE_S = 0.02

#: What marks a run in a recording.
_RUN = "jaxmagic: run"


#: Those that record now: one at most, but for what somebody else has stopped.
_recording: set[Profiler] = set()

#: Those of them that nobody can end any more.
_abandoned: list[Profiler] = []


class Profiler:
    """One recording of the JAX profiler, in a folder of its own that goes when it has been read.

    There is one profiler in a process: where it is running already, it is somebody's, and left alone.
    """

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def running(self) -> bool:
        """Whether it records."""
        return self._folder is not None

    def look(self, *, deeply: bool) -> None:
        """Find somebody else's recording before anything runs.

        Args:
            deeply: start a recording and forget it, which also finds those that JAX does not know of. That starts
                the backends.

        Raises:
            NotMeasured: the profiler is running already, or cannot be started.
        """
        end_abandoned()
        if profiler_running():
            raise NotMeasured(_running_already())
        if deeply:
            self.start()
            self.cancel()

    def start(self, *, backends: bool = False) -> None:
        """Begin to record. JAX starts the backends before it does so.

        Args:
            backends: let it do so where the user's code has not; what needs them not to be started fails afterwards.

        Raises:
            NotMeasured: the profiler is running already, or cannot be started; or there are no backends yet.
        """
        assert not self.running
        end_abandoned()
        if not backends and backends_started() is False:
            raise NotMeasured("No device worked: the code has not started JAX's backends.")
        self._begin()

    @begins("cancel")
    def _begin(self) -> None:
        import jax

        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0  # a call of Python takes longer with it than without
        options.host_tracer_level = 2  # on the CPU operations are on this level
        folder = tempfile.TemporaryDirectory(prefix="jaxmagic-", ignore_cleanup_errors=True)
        try:
            jax.profiler.start_trace(folder.name, profiler_options=options)
        except Exception as error:
            folder.cleanup()
            raise NotMeasured(_why_not("started", error)) from error
        self._folder = folder
        _recording.add(self)

    def stop(self, keep: Callable[[Path], object] = lambda _: None) -> Recording:
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
            raise NotMeasured("The profiler has written nothing.") from error
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
        if self not in _recording:
            return
        import jax

        _recording.discard(self)
        try:
            jax.profiler.stop_trace()
        except Exception as error:
            release_profiler()
            raise NotMeasured(_why_not("stopped", error)) from error


def end_abandoned() -> None:
    """End what nobody else can end: JAX would record until the process ends."""
    while _abandoned:
        _abandoned.pop().cancel()


@contextmanager
def mark_run(number: int) -> Iterator[None]:
    """Mark what runs within as one run, which :func:`windows_of` finds in the recording."""
    import jax

    with jax.profiler.StepTraceAnnotation(_RUN, step_num=number):
        yield


def windows_of(recording: Recording, clocked: Sequence[tuple[int, int]] = ()) -> Sequence[Window]:
    """When the runs were that were marked, in order.

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


def _why_not(done: str, error: Exception) -> str:
    if "already" in str(error) or "one profile" in str(error).lower():
        return _running_already()
    return f"The JAX profiler could not be {done}: {error}. Nothing was recorded."


def _running_already() -> str:
    if _recording:
        return "jaxmagic records already, and one recording cannot be within another. Nothing was recorded."
    return (
        "The JAX profiler is running already, and there is one in a process: it was left alone, and nothing was "
        "recorded here. Stop it with jax.profiler.stop_trace() first."
    )
