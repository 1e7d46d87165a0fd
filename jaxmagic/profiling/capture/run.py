"""Some code under the JAX profiler: a run to warm up, one that is timed without it, and those that are recorded."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import median_low
from typing import Any

from ...errors import NotMeasured
from ...interrupts import begins, ends, interruptible
from ...progress.record import SILENT, Progress
from ...records.note import Note, note
from ...runtime.clock import now_ns, timestamp
from ...runtime.jax_errors import met_a_deleted_array
from ...runtime.jax_version import require_jax
from ...runtime.machine_load import Load
from ...runtime.private_api import backends_started
from ...runtime.several import are_several
from ...timing.capture.stopwatch import Stopwatch
from ...timing.record import Timing
from ..analysis.interpret import interpreted
from ..analysis.run_windows import Window
from ..analysis.summarize import ProfileSummary, summarize
from ..record.profile import Profile
from ..record.recording import Interpreted, Trace
from .event_rate import EventRate
from .logdir import LogDir
from .make_record import make_profile
from .profiler_session import NotRecorded, Profiler, cut_window, mark_run, windows_of

#: So many runs are timed without the profiler at most, as long as they take no more than this: a single one that is
#: short may be late for other reasons.
_MOST_TIMED = 20

#: A recording goes on for so long, and gets about so many events: much larger ones take minutes to write and to read.
MOST_RECORDED_S = 5.0
MOST_RECORDED_EVENTS = 1_000_000

#: A recording is at least so long, however many events it gets.
_LEAST_RECORDED_S = 0.05

#: At least so many on accelerators: the second run records CUDA graphs, and is longer than those after it.
_ON_ACCELERATORS = 3
_TIMED_NS = 10**8

#: So many runs may compile, as where a value gets another type, before one that compiles is timed.
_MOST_COMPILING = 2


class ProfileWatch:
    """Runs some code several times, and makes a :class:`~jaxmagic.Profile`.

    Args:
        runs: how many runs are recorded; where they are short, up to as many are timed before without the profiler.
        cold: whether the first run is recorded already, with all that it compiles; then nothing is timed without the
            profiler.
        fetch: as of the stopwatch.
        logdir: where the recording is kept; it goes when it has been read without one.
        recorded: told of the recording; what it says becomes notes, and so do its errors.
        record: told of the record.
        progress: shows which run it is, from the start to the end.
        notes: what a reader must know beforehand.
        most_s: for how long is recorded at most, from the first recorded run on; what runs after that runs without
            the profiler. ``None`` for as long as the code runs, and so it is where the first run is recorded.
        most_events: about how many events are recorded at most, as far as the first run tells how many there will be;
            ``None`` for any number.

    Attributes:
        result: what the code evaluated to; set after each run, and forgotten at the end.
        dropped: a value that the code threw away, kept until its run ends.
    """

    def __init__(
        self,
        *,
        runs: int = 1,
        cold: bool = False,
        fetch: bool = False,
        logdir: LogDir | None = None,
        recorded: Callable[[Trace], Iterable[Note]] = lambda _: (),
        record: Callable[[Profile], None] | None = None,
        progress: AbstractContextManager[Progress] | None = None,
        notes: Iterable[Note] = (),
        most_s: float | None = MOST_RECORDED_S,
        most_events: int | None = MOST_RECORDED_EVENTS,
    ) -> None:
        self.result: Any = None
        self.dropped: Any = None
        self._runs = runs
        self._cold = cold
        self._fetch = fetch
        self._logdir = logdir
        self._told = recorded
        self._kept: Path | None = None
        self._record = record
        self._shown = progress or nullcontext(SILENT)
        self._progress = SILENT
        self._profiler = Profiler()
        self._watch: Stopwatch | None = None
        self._before: list[Timing] = []
        self._recorded: list[Timing] = []
        self._clocked: list[tuple[int, int]] = []
        self._began_ns = 0
        self._running: Generator[None, None, None] | None = None
        self._profile: Profile | None = None
        self._notes = list(notes)
        self._most_s = None if cold else most_s
        self._most_events = None if cold else most_events
        self._rate = EventRate(self._warms_up)
        self._interrupt: KeyboardInterrupt | None = None

    @property
    def done(self) -> bool:
        """Whether there is a record."""
        return self._profile is not None

    @property
    def record(self) -> Profile:
        """The record, once the code has ended."""
        assert self._profile is not None
        return self._profile

    @property
    def timing(self) -> Timing:
        """The timing of a run without the profiler; of one with it where there is none."""
        found = self._unprofiled or self._warm_up or next(iter(self._recorded), None)
        if found is None:
            raise NotMeasured("There is no timing: no run has ended.")
        return found

    @property
    def timings(self) -> Sequence[Timing]:
        """The timings of all runs that have ended: to warm up, without the profiler, and recorded."""
        return [*self._before, *self._recorded]

    @property
    def _warm_up(self) -> Timing | None:
        return next(iter(self._before), None)

    @property
    def _timed(self) -> Sequence[Timing]:
        """The runs without the profiler that compiled nothing; the last one where all of some have."""
        found = [each for each in self._before if not _compiled(each)]
        return found or (self._before[-1:] if len(self._before) > _MOST_COMPILING else [])

    @property
    def _unprofiled(self) -> Timing | None:
        """The run without the profiler that took the median of their times."""
        if not self._timed:
            return None
        wanted = median_low(each.wall_ns for each in self._timed)
        return next(each for each in self._timed if each.wall_ns == wanted)

    @begins("cancel")
    def start(self) -> None:
        """Look whether the profiler is there to be used; starts no backend, but for a cold profile.

        Raises:
            JaxNotAvailable: JAX is not installed or too old.
            NotMeasured: the profiler is running already.
        """
        require_jax()
        self._progress = self._shown.__enter__()
        self._started_at = timestamp()
        self._load = Load()
        started = backends_started() is not False
        if self._cold and not started:
            # JAX's profiler starts them before it records, because a TPU cannot be recorded otherwise.
            self._notes.append(note("profiling.backends_started"))
        if self._cold:
            self._profiler.start(backends=True)
        else:
            self._profiler.look(deeply=started)

    def runs(self) -> Iterator[None]:
        """The code runs once between each of these and the next, and :meth:`returned` is called behind it.

        Raises:
            NotMeasured: the profiler cannot be started.
            Exception: what the computation itself raised while it was waited for.
        """
        __tracebackhide__ = True
        self._running = self._all_runs()
        return self._running

    def _all_runs(self) -> Generator[None, None, None]:
        __tracebackhide__ = True
        total = self._runs if self._runs > 1 else None
        if self._cold:
            self._progress.stage("recording, with all that compiles", total)
        else:
            self._progress.stage("first run and compiling")
            if self._most_events is not None:
                self._rate.start()
            yield from self._run()
            self._before.append(self._ended())
            self._rate.end()
            if not self._timed or self._worth_timing():
                self._progress.stage("timing without the profiler", expected_s=self._run_s(), ticking=False)
            while not self._timed or self._worth_timing():
                yield from self._run()
                self._before.append(self._ended())
            if backends_started() is False:
                return
            self._progress.stage("recording", total, expected_s=self._runs * self._run_s())
            self._profiler.start(most_s=self._limit_s())
        for number in range(self._runs):
            self._progress.advance(number)
            with mark_run(number):
                marked_ns = now_ns()
                yield from self._run()
                began_ns = self._began_ns
                self._recorded.append(self._ended())
                self._clocked.append((began_ns - marked_ns, self._recorded[-1].wall_ns))

    def _warms_up(self) -> bool:
        """Tell whether the run has compiled something by now: then its time is that of no other run."""
        watch = self._watch
        return watch is not None and watch.has_compiled

    def _limit_s(self) -> float | None:
        """Return for how long is recorded: as long as it may, or until about as many events as there may be."""
        if self._most_events is None or not self._rate.per_s:
            return self._most_s
        until_full_s = max(self._most_events / self._rate.per_s, _LEAST_RECORDED_S)
        return until_full_s if self._most_s is None else min(self._most_s, until_full_s)

    def _worth_timing(self) -> bool:
        """Tell whether another run tells more; not where even the last one has compiled."""
        last = self._before[-1]
        wanted = max(self._runs, 1 if last.environment.backend in (None, "cpu") else _ON_ACCELERATORS)
        if _compiled(last) or len(self._timed) >= min(wanted, _MOST_TIMED):
            return False
        # Several processes make equally many runs, and each has a clock of its own.
        return are_several() or sum(each.wall_ns for each in self._timed) < _TIMED_NS

    def _run_s(self) -> float:
        """Tell how long a run took, without what it compiled."""
        last = self._before[-1]
        return (last.wall_ns - last.compile_ns) / 1e9

    def _run(self) -> Iterator[None]:
        self._watch = Stopwatch(fetch=self._fetch)
        self._watch.start()
        self._began_ns = self._watch.started_ns
        yield

    def _ended(self) -> Timing:
        __tracebackhide__ = True
        watch, self._watch = self._watch, None
        assert watch is not None
        watch.result, self.result = self.result, None
        watch.dropped, self.dropped = self.dropped, None
        return watch.stop()

    def returned(self, value: Any = None) -> int:
        """As of the stopwatch, for the run that ends."""
        return 0 if self._watch is None else self._watch.returned(value)

    @ends
    def stop(self, *, error: BaseException | None = None, code: str | None = None) -> Timing | None:
        """Make the record of what was recorded, also where the code has failed."""
        __tracebackhide__ = True
        try:
            if self._watch is not None:  # the run was not ended: an exception is on its way
                self._cut_short(error)
            if self._running is not None:
                self._running.close()
            self._profile = self._noted(self._make_record(error, code))
            if self._record is not None:
                self._record(self._profile)
        finally:
            self.cancel()
        interrupt, self._interrupt = self._interrupt, None
        if interrupt is not None and error is None:
            raise interrupt
        return self._unprofiled

    def _cut_short(self, error: BaseException | None) -> None:
        """Wait for what the code has started before it failed."""
        watch, self._watch = self._watch, None
        assert watch is not None
        try:
            if watch.running:  # or else it was interrupted before it ran
                watch.stop(error=error)
        finally:
            watch.cancel()

    @ends
    def cancel(self) -> None:
        """Record no longer; does nothing where all has ended."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.cancel()
        if self._running is not None:
            self._running.close()
            self._running = None
        self.result = self.dropped = None
        try:
            self._rate.end()
            self._profiler.cancel()
        finally:
            shown, self._shown, self._progress = self._shown, nullcontext(SILENT), SILENT
            shown.__exit__(None, None, None)

    def __del__(self) -> None:
        """Let the profiler go where the block was never left; the garbage collector calls this."""
        if profiler := getattr(self, "_profiler", None):
            profiler.abandon()

    def _make_record(self, error: BaseException | None, code: str | None) -> Profile:
        notes = [*self._notes, *self._about(error)]
        times, recording, others = ProfileSummary(0, (), (), ()), None, self._load.of_others()
        is_recorded = self._profiler.running
        if not is_recorded:
            notes.append(note("profiling.no_backends") if error is None else note("profiling.ended_before_recording"))
        else:
            self._progress.stage("reading the recording")
            try:
                recorded, recording, times = self._read(error, notes)
            except KeyboardInterrupt as interrupt:
                self._interrupt = interrupt
                notes.append(note("profiling.interrupted"))
            except NotRecorded as problem:
                notes.append(problem.why)
            except Exception as problem:
                notes.append(note("profiling.unreadable", error=f"{type(problem).__name__}: {problem}"))
            try:
                if recording is not None:
                    notes += self._about_cut(recording)
                    notes += self._told(recorded)
            except OSError as problem:
                notes.append(note("profiling.not_written", error=str(problem)))
            except Exception as problem:  # the record is worth more than what else was to be made of it
                notes.append(note("profiling.not_written", error=f"{type(problem).__name__}: {problem}"))
        self._progress.stage("completing the record", ticking=False)  # may measure what the machine can do
        return make_profile(
            times,
            recording,
            code=code,
            runs=self._told_runs(recording, error) if is_recorded else len(self._recorded) or None,
            warm_up=self._warm_up,
            unprofiled=self._unprofiled,
            timed_runs=len(self._timed),
            compilations=tuple(each for timing in self._recorded for each in timing.compilations),
            kept=None if self._kept is None else str(self._kept),
            other_load=others,
            started_at=self._started_at,
            error=None if error is None else type(error).__name__,
            notes=notes,
        )

    @interruptible
    def _read(self, error: BaseException | None, notes: list[Note]) -> tuple[Trace, Interpreted, ProfileSummary]:
        """Read the recording, which may take long: as it is, with what follows from it, and summed up."""
        recorded = self._profiler.stop(lambda folder: self._keep(folder, notes))
        recording = interpreted(recorded)
        return recorded, recording, summarize(recording, self._windows(recording, error))

    def _about(self, error: BaseException | None) -> list[Note]:
        """Return what to do about an error that only a run after the first one meets; the error says it as well."""
        if error is None or not self.timings or not met_a_deleted_array(error):
            return []
        donated = note("profiling.donated_input")
        error.add_note(str(donated))
        return [donated]

    def _windows(self, recording: Trace, error: BaseException | None) -> Sequence[Window]:
        """Find when the runs were; where one has failed, those that have ended, or else what there is of it.

        Raises:
            NotMeasured: the profiler has lost one.
        """
        found = windows_of(recording, self._clocked)
        if self._profiler.is_cut:
            cut = cut_window(recording)
            return found or ([] if cut is None else [cut])
        ended = len(self._recorded)
        if len(found) < ended or (error is None and len(found) != self._runs):
            raise NotRecorded(note("profiling.lost_run_markers"))
        return found if error is None or not ended else found[:ended]

    def _told_runs(self, recording: Trace | None, error: BaseException | None) -> int | None:
        """Count the complete runs in the recording; ``None`` if it has none."""
        if self._profiler.is_cut:
            return len(windows_of(recording)) or None if recording is not None else None
        return self._runs if error is None else len(self._recorded) or None

    def _about_cut(self, recording: Trace) -> list[Note]:
        """Say which part of the runs was recorded, if not all of them."""
        if not self._profiler.is_cut:
            return []
        limit_s = self._limit_s() or 0.0
        return [
            note(
                "profiling.cut",
                complete_runs=len(windows_of(recording)),
                runs=self._runs,
                limit_ns=int(limit_s * 1e9),
                limit_events=self._most_events or 0 if limit_s != self._most_s else 0,
            )
        ]

    def _keep(self, folder: Path, notes: list[Note]) -> None:
        if self._logdir is not None:
            try:
                self._kept = self._logdir.keep(folder)
            except Exception as problem:
                notes.append(note("profiling.not_kept", error=str(problem)))

    def _noted(self, record: Profile) -> Profile:
        """The record, when it stands in the list of its folder."""
        if self._logdir is not None:
            try:
                self._logdir.note(record)
            except Exception as problem:
                return replace(record, notes=(*record.notes, note("profiling.not_listed", error=str(problem))))
        return record


def _compiled(timing: Timing) -> bool:
    return any(each.compiled for each in timing.compilations)
