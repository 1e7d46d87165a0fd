"""Runs code while its memory is measured.

Everything before and after the code is outside of the measured time. While the code runs, a thread samples memory,
and the programs that JAX runs are observed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any, TypeVar

from ...interrupts import begins, ends, interruptible
from ...progress.record import SILENT, CompileProgress, Progress
from ...records.note import Note, note
from ...runtime.executed_programs import ObservedPrograms
from ...runtime.jax_version import keeps_lines, require_jax
from ...timing.capture.fence import shared
from ...timing.capture.stopwatch import Stopwatch
from ...timing.record import Timing
from ..analysis.leaks import suspects
from ..record.heap import HeapDifference
from ..record.live_arrays import LiveArrays
from ..record.memory_profile import Executable, MemoryProfile
from ..record.usage import MemoryTimeline
from .executables import describe, watch
from .heap_snapshots import HeapWatch
from .live_arrays import Snapshot, list_live_arrays, snapshot
from .usage_sampler import MemorySampler

_T = TypeVar("_T")


class MemoryWatch:
    """Runs like a :class:`~jaxmagic.Stopwatch`, and makes a :class:`~jaxmagic.MemoryProfile`.

    Args:
        namespace: returns the names and values that are searched for arrays.
        value_name: returns the name of the code's value, for arrays that no variable holds.
        interval_ns: sampling interval of the timeline.
        mapped: whether to read the memory map of each program.
        fetch: see :class:`~jaxmagic.timing.capture.stopwatch.Stopwatch`.
        earlier: live arrays of earlier records of this session, newest last, to find arrays that keep growing.
        heap: takes heap profiles before and after the code; ``None`` for no heap profiles.
        record: called with the record.
        progress: shows the work after the run. During the run, it would be part of what is measured.
        compiling: shows long compilations during the run.

    Attributes:
        value: the value of the code, which is kept until the search for names ends.
    """

    def __init__(
        self,
        namespace: Callable[[], dict[str, Any]],
        *,
        value_name: Callable[[], str] = lambda: "(the value, not kept)",
        interval_ns: int = 1_000_000,
        mapped: bool = True,
        fetch: bool = False,
        earlier: Sequence[LiveArrays] = (),
        heap: HeapWatch | None = None,
        record: Callable[[MemoryProfile], None] | None = None,
        progress: AbstractContextManager[Progress] | None = None,
        compiling: CompileProgress | None = None,
    ) -> None:
        self.value: Any = None
        self._namespace = namespace
        self._value_name = value_name
        self._mapped = mapped
        self._earlier = earlier
        self._heap = heap
        self._record = record
        self._shown = progress or nullcontext(SILENT)
        self._progress = SILENT
        self._stopwatch = Stopwatch(fetch=fetch, compiling=compiling)
        self._sampler = MemorySampler(interval_ns=interval_ns)
        self._sampling = False
        self._programs: AbstractContextManager[ObservedPrograms] | None = None
        self._watched = ObservedPrograms()
        self._before: Snapshot | None = None
        self._error: BaseException | None = None
        self._profile: MemoryProfile | None = None
        self._interrupt: KeyboardInterrupt | None = None

    @property
    def done(self) -> bool:
        """Whether the record has been made."""
        return self._profile is not None

    def see(self, code: str | None, names: Mapping[str, Any]) -> None:
        """See ``Stopwatch.see``."""
        self._stopwatch.see(code, names)

    @property
    def timing(self) -> Timing:
        """The timing of the same run."""
        return self._stopwatch.timing

    @property
    def record(self) -> MemoryProfile:
        """The record, once the code has ended."""
        assert self._profile is not None
        return self._profile

    @property
    def result(self) -> Any:
        """See ``Stopwatch.result``."""
        return self._stopwatch.result

    @result.setter
    def result(self, value: Any) -> None:
        self._stopwatch.result = self.value = value

    @property
    def dropped(self) -> Any:
        """See ``Stopwatch.dropped``."""
        return self._stopwatch.dropped

    @dropped.setter
    def dropped(self, value: Any) -> None:
        self._stopwatch.dropped = value

    @begins("cancel")
    def start(self) -> None:
        """List the live arrays, and begin to observe programs and to sample.

        Raises:
            JaxNotAvailable: JAX is not installed or too old.
        """
        require_jax()
        self._progress = self._shown.__enter__()
        self._progress.stage("running", ticking=False)
        with suppress(Exception):  # the stopwatch adds a note if this fails
            interruptible(shared.prepare)()  # here, so that its memory is not in the timeline
        if self._heap is not None:
            self._heap.start()
        self._before = snapshot()
        programs = watch()
        self._watched = programs.__enter__()
        self._programs = programs  # only now, because what was not entered cannot be left
        self._sampler.start()
        self._sampling = True
        self._stopwatch.start()

    def returned(self, value: Any = None) -> int:
        """See ``Stopwatch.returned``."""
        return self._stopwatch.returned(value)

    @ends
    def stop(self, *, error: BaseException | None = None, code: str | None = None) -> Timing:
        """Wait for all work, and make the record.

        Raises:
            Exception: an error of the computation that was waited for, or an interrupt. The record has been made by
                then.
        """
        __tracebackhide__ = True
        self._error = error
        try:
            return self._stopwatch.stop(error=error, code=code)
        finally:
            try:
                timeline = self._end()
                if self._stopwatch.done:
                    self._profile = self._make_record(timeline)
                    if self._record is not None:
                        self._record(self._profile)
            finally:
                self.cancel()
            interrupt, self._interrupt = self._interrupt, None
            if interrupt is not None:
                raise interrupt

    @ends
    def cancel(self) -> None:
        """Stop observing, without a record; do nothing if the block has ended."""
        self.value = self._error = None
        self._stopwatch.cancel()
        try:
            self._end()
        finally:
            shown, self._shown, self._progress = self._shown, nullcontext(SILENT), SILENT
            shown.__exit__(None, None, None)
        self._watched = ObservedPrograms()
        self._before = None

    def _end(self) -> MemoryTimeline | None:
        """End the sampling thread, and stop observing programs."""
        programs, self._programs = self._programs, None
        sampling, self._sampling = self._sampling, False
        try:
            return self._sampler.stop() if sampling else None
        finally:
            if programs is not None:
                programs.__exit__(None, None, None)

    def _make_record(self, timeline: MemoryTimeline | None) -> MemoryProfile:
        """Make the record of all parts that can be read. An error loses one part, Ctrl-C that and the later ones."""
        notes: list[Note] = []
        executables = self._part("executables", notes, self._executables)
        arrays = self._part("arrays", notes, self._arrays)
        heap = None if self._heap is None else self._part("heap", notes, self._difference)
        if timeline is not None:
            timeline = replace(timeline, clock_ns=self._stopwatch.started_ns - self._sampler.started_ns)
        if self._heap is not None:
            notes += self._heap.notes
        if self._watched.ran is None:
            notes.append(note("memory_use.programs_unknown"))
        if not keeps_lines() and any(each.allocations for each in executables or ()):
            notes.append(note("memory_use.lines_of_earlier_calls"))
        return MemoryProfile(
            timing=self._stopwatch.timing,
            before_bytes=() if self._before is None else self._before.device_bytes,
            arrays=list_live_arrays({}, before=self._before, limit_s=0) if arrays is None else arrays,
            executables=executables or (),
            timeline=timeline,
            suspects=() if arrays is None else suspects([*self._earlier, arrays]),
            heap=heap,
            notes=tuple(notes),
        )

    def _part(self, part: str, notes: list[Note], read: Callable[[], _T]) -> _T | None:
        """Read a part of the record, which may take long; ``None`` if that fails, and after Ctrl-C."""
        if self._interrupt is None:
            try:
                return interruptible(read)()
            except KeyboardInterrupt as interrupt:
                self._interrupt = interrupt
            except Exception as problem:
                notes.append(note("memory_use.unread", part=part, error=f"{type(problem).__name__}: {problem}"))
                return None
        notes.append(note("memory_use.interrupted", part=part))
        return None

    def _executables(self) -> tuple[Executable, ...]:
        self._progress.stage("reading memory maps" if self._mapped else "reading the programs")
        return describe(self._watched, mapped=self._mapped, namespace=self._namespace())

    def _arrays(self) -> LiveArrays:
        self._progress.stage("searching for the names of arrays")
        value_name = self._value_name()
        beside = {} if self.value is None else {value_name: self.value}
        if self._error is not None:  # sys.last_traceback does not have it yet
            beside[f"this {type(self._error).__name__}"] = self._error
        return _named(list_live_arrays(self._namespace(), before=self._before, beside=beside), value_name)

    def _difference(self) -> HeapDifference | None:
        self._progress.stage("reading the heap profile")
        return None if self._heap is None else self._heap.stop()


def _named(arrays: LiveArrays, value_name: str) -> LiveArrays:
    """Drop paths through the value of the code from arrays that a variable holds, too."""

    def names(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(each for each in paths if not each.startswith(value_name)) or paths

    return replace(arrays, arrays=tuple(replace(each, names=names(each.names)) for each in arrays.arrays))
