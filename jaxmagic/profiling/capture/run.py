"""Runs some code several times for a profile: to warm up, timed without the profiler, and under it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ...errors import NotMeasured
from ...interrupts import begins, ends
from ...progress.record import SILENT, Progress
from ...records.note import Note, note
from ...runtime.clock import now_ns, timestamp
from ...runtime.functions import only_name
from ...runtime.jax_errors import met_a_deleted_array
from ...runtime.jax_version import require_jax
from ...runtime.machine_load import Load
from ...runtime.private_api import backends_started, profiler_running
from ...timing.analysis import of_quoted_call
from ...timing.capture.stopwatch import Stopwatch
from ...timing.record import Timing
from ..record.profile import Profile
from ..record.recording import Trace
from .event_rate import EventRate
from .logdir import LogDir
from .make_record import make_profile
from .profiler_session import Profiler, mark_run
from .read_recorded import RecordedReader
from .recorded_runs import RecordedRuns
from .run_plan import MOST_RECORDED_EVENTS, MOST_RECORDED_S, RunPlan


class ProfileWatch:
    """Runs some code several times, and makes a :class:`~jaxmagic.Profile`.

    Args:
        runs: how many runs are recorded; see :class:`RunPlan`.
        cold: record the first run, with all that it compiles; then nothing is timed without the profiler.
        fetch: see ``Stopwatch``.
        logdir: keeps the recording, which is deleted after reading if this is left out.
        recorded: called with the trace; it returns notes, and its errors become notes.
        record: called with the record.
        progress: shows which run it is, from the start to the end.
        notes: come before the record's other notes.
        most_s: see :class:`RunPlan`; without effect if `cold`.
        most_events: likewise.
        already: see :class:`RunPlan`.
        timed: likewise.
        earlier: runs of the same code, which may have compiled its programs.
        load: observes other processes since the first of these; from the start on if this is left out.

    Attributes:
        result: what the code evaluated to; set after each run, and cleared at the end.
        dropped: a value that the code discarded, kept alive until its run ends.
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
        already: int = 0,
        timed: int = 1,
        earlier: Sequence[Timing] = (),
        load: Load | None = None,
    ) -> None:
        self.result: Any = None
        self.dropped: Any = None
        self._cold = cold
        self._fetch, self._logdir = fetch, logdir
        self._on_trace = recorded
        self._on_record = record
        self._shown = progress or nullcontext(SILENT)
        self._progress = SILENT
        self._profiler = Profiler()
        self._watch: Stopwatch | None = None
        self._plan = RunPlan(runs, None, None) if cold else RunPlan(runs, most_s, most_events, already, timed)
        self._recorded, self._earlier = RecordedRuns(self._profiler, runs), earlier
        self._running: Generator[None, None, None] | None = None
        self._profile: Profile | None = None
        self._notes = list(notes)
        self._named: str | None = None
        self._is_uncalled = False
        self._rate = EventRate(self._has_compiled)
        self._load = load
        self._interrupt: KeyboardInterrupt | None = None

    @property
    def done(self) -> bool:
        """Whether there is a record."""
        return self._profile is not None

    @property
    def records(self) -> bool:
        """Whether the run that begins, or goes on, is recorded."""
        return self._profiler.running

    @property
    def record(self) -> Profile:
        """The record, once the code has ended."""
        assert self._profile is not None
        return self._profile

    @property
    def timing(self) -> Timing:
        """The timing of a run without the profiler, or of a recorded run if there is none."""
        timing = self._plan.unprofiled or next(iter(self.timings), None)
        if timing is None:
            raise NotMeasured("There is no timing: no run has ended. Run it again.")
        return timing

    @property
    def timings(self) -> Sequence[Timing]:
        """The timings of all runs that have ended: to warm up, without the profiler, and recorded."""
        return [*self._plan.timings, *self._recorded.timings]

    @property
    def before(self) -> Sequence[Timing]:
        """All runs without the profiler."""
        return self._plan.timings

    def see(self, code: str | None, variables: Mapping[str, Any]) -> None:
        """Note the source of a cell's code before :meth:`start`: a mere name of a function calls nothing."""
        self._named = only_name(code)

    @begins("cancel")
    def start(self) -> None:
        """Check that the profiler is available. Starts no backend unless the profile is cold.

        Raises:
            JaxNotAvailable: JAX is not installed or too old.
            NotMeasured: the profiler is running already.
        """
        require_jax()
        self._progress = self._shown.__enter__()
        self._started_at = timestamp()
        self._load = self._load or Load()
        started = backends_started() is not False
        if self._cold and not started:
            # JAX's profiler starts them before it records, because a TPU cannot be recorded otherwise.
            self._notes.append(note("profiling.backends_started"))
        if self._cold:
            self._profiler.start(backends=True)
        else:
            self._profiler.check_free(deeply=started)

    def runs(self) -> Iterator[None]:
        """Yield before each run of the code, which ends with a call of :meth:`returned`.

        Raises:
            NotMeasured: the profiler cannot be started.
            Exception: what the computation itself raised while it was waited for.
        """
        __tracebackhide__ = True
        self._running = self._all_runs()
        return self._running

    def _all_runs(self) -> Generator[None, None, None]:
        __tracebackhide__ = True
        plan, runs = self._plan, self._plan.runs
        total = runs if runs > 1 else None
        if self._cold:
            self._progress.stage("recording, with compilations", total)
        else:
            self._progress.stage("first run and compiling")
            if plan.counts_events:
                self._rate.start()
            yield from self._run()
            plan.timings.append(self._ended())
            self._rate.end()
            if profiler_running():
                self._notes.append(note("profiling.left_running"))
                return
            if plan.needs_another():
                self._progress.stage("timing without the profiler", expected_s=plan.run_s, ticking=False)
            while plan.needs_another():
                yield from self._run()
                plan.timings.append(self._ended())
            if backends_started() is False:
                return
            self._progress.stage("recording", total, expected_s=runs * plan.run_s)
            self._profiler.start(most_s=plan.limit_s(self._rate.per_s))
        for number in range(runs):
            self._progress.advance(number)
            with mark_run(number):
                marked_ns = now_ns()
                yield from self._run()
                assert self._watch is not None
                after_mark_ns = self._watch.started_ns - marked_ns
                self._recorded.add(self._ended(), after_mark_ns)

    def _has_compiled(self) -> bool:
        """Return whether the run that goes on has compiled something, so that its time is not that of other runs."""
        watch = self._watch
        return watch is not None and watch.has_compiled

    def _run(self) -> Iterator[None]:
        self._watch = Stopwatch(fetch=self._fetch)
        self._watch.start()
        yield

    def _ended(self) -> Timing:
        __tracebackhide__ = True
        watch, self._watch = self._watch, None
        assert watch is not None
        self._is_uncalled = self._named is not None and callable(self.result)
        watch.result, self.result = self.result, None
        watch.dropped, self.dropped = self.dropped, None
        return watch.stop()

    def returned(self, value: Any = None) -> int:
        """End the dispatch of the run; see ``Stopwatch.returned``."""
        return 0 if self._watch is None else self._watch.returned(value)

    @ends
    def stop(self, *, error: BaseException | None = None, code: str | None = None) -> Timing | None:
        """Make the record, also of code that failed. Returns the timing without the profiler."""
        __tracebackhide__ = True
        try:
            if self._watch is not None:  # the run was not ended: an exception is on its way
                self._cut_short(error)
            if self._running is not None:
                self._running.close()
            self._profile = self._make_record(error, code)
            if self._logdir is not None:
                self._profile = self._logdir.listed(self._profile)
            if self._on_record is not None:
                self._on_record(self._profile)
        finally:
            self.cancel()
        interrupt, self._interrupt = self._interrupt, None
        if interrupt is not None and error is None:
            raise interrupt
        return self._plan.unprofiled

    def _cut_short(self, error: BaseException | None) -> None:
        """Wait for the work that the code started before it failed."""
        watch, self._watch = self._watch, None
        assert watch is not None
        try:
            if watch.running:  # or else it was interrupted before it ran
                watch.stop(error=error)
        finally:
            watch.cancel()

    @ends
    def cancel(self) -> None:
        """Stop recording; does nothing after the end."""
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
        """Release the profiler if the block was never left; called by the garbage collector."""
        if profiler := getattr(self, "_profiler", None):
            profiler.abandon()

    def _make_record(self, error: BaseException | None, code: str | None) -> Profile:
        notes = [*self._notes, *self._about(error)]
        others = None if self._load is None else self._load.of_others()
        is_recorded = self._profiler.running
        read = RecordedReader(self._profiler, self._recorded, self._plan, self._logdir, self._on_trace)
        if is_recorded:
            self._progress.stage("reading the recording")
            read.read(error, self._rate.per_s)
            self._interrupt = read.interrupt
            if self._is_uncalled and self._named and read.recording is not None and not read.summary.device_uses:
                notes.append(note("profiling.not_called", function=self._named))
        elif error is not None:
            notes.append(note("profiling.ended_before_recording"))
        elif backends_started() is False:
            notes.append(note("profiling.no_backends"))
        self._progress.stage("completing the record", ticking=False)  # may measure peak rates
        timings = self._recorded.timings
        notes += [each for timing in timings[-1:] for each in timing.notes if each.kind == "timing.not_run"]
        warm_up, compilations = self._plan.warm_up, [each for timing in timings for each in timing.compilations]
        return make_profile(
            read.summary,
            read.recording,
            code=code,
            runs=(self._recorded.complete(read.recording, error) if is_recorded else len(timings)) or None,
            compiled=[each for run in (*self._earlier, *self.timings) for each in run.compilations],
            warm_up=warm_up,
            unprofiled=self._plan.unprofiled,
            timed_runs=len(self._plan.timed),
            compilations=tuple(compilations),
            kept=None if read.kept is None else str(read.kept),
            other_load=others,
            started_at=self._started_at,
            error=None if error is None else type(error).__name__,
            notes=[*notes, *of_quoted_call(code), *read.notes],
        )

    def _about(self, error: BaseException | None) -> list[Note]:
        """Return the remedy for an error that occurs only in repeated runs, and add it to the error."""
        if error is None or not self.timings or not met_a_deleted_array(error):
            return []
        donated = note("profiling.donated_input")
        error.add_note(str(donated))
        return [donated]
