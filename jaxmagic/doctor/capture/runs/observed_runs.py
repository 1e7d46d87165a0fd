"""Runs some code a few times, and observes something else in each run."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from ....profiling.capture.run import ProfileWatch
from ....profiling.record.profile import Profile
from ....progress.record import Progress
from ....runtime.machine_load import Load
from ....timing.capture.stopwatch import Stopwatch
from ....timing.record import Timing
from ..host_use import marked_waits
from ..side_effects.between_runs import BetweenRuns
from .gathered import Gathered

#: How many short runs are timed: of a single one, nobody knows whether another process disturbed it.
_TIMED = 2


class ObservedRuns:
    """The runs of some code.

    The first run shows what compiles and runs. In the next one, waits and lines are recorded, which slows it down a
    little. Then come undisturbed runs, and one under the profiler. Code that changes what it reads runs once,
    observed.

    Args:
        gathered: observes programs, waits and lines.
        once: whether the code runs only once.
        progress: shows what is done.

    Attributes:
        active: measures the run that is under way.
        own: the timings of the first run, and of the one in which waits and lines were recorded.
        completed: how many of these two have ended without an error.
    """

    def __init__(self, gathered: Gathered, *, once: bool, progress: Progress) -> None:
        self._gathered = gathered
        self._once = once
        self._progress = progress
        already, recorded = 0 if once else 2, gathered.read_trace
        self.own: list[Timing] = []
        self._watch = ProfileWatch(
            cold=once, recorded=recorded, already=already, timed=_TIMED, earlier=self.own, load=Load()
        )
        self._observers = ExitStack()
        self._running: Generator[None, None, None] | None = None
        self.active: Stopwatch | ProfileWatch | None = None
        self.completed = 0

    @property
    def timings(self) -> Sequence[Timing]:
        """The timings of all runs that have ended."""
        return [*self.own, *self._watch.timings]

    @property
    def undisturbed(self) -> Sequence[Timing]:
        """The timings of the runs in which nothing was observed."""
        return () if self._once else self._watch.before

    @property
    def profile(self) -> Profile | None:
        """The recorded run; ``None`` if none has ended."""
        return self._watch.record if self._watch.done else None

    def start(self) -> None:
        """Check that the profiler is available, if the only run is recorded.

        Raises:
            NotMeasured: the profiler is running already.
        """
        if self._once:
            self._watch.start()

    def runs(self, between: BetweenRuns, read: Mapping[str, Any]) -> Iterator[None]:
        """Yield before each run of the code, which ends with a call of :meth:`returned`.

        Args:
            between: decides whether another run may follow.
            read: the variables that the code reads.
        """
        __tracebackhide__ = True
        self._running = self._all_runs(between, read)
        return self._running

    def _all_runs(self, between: BetweenRuns, read: Mapping[str, Any]) -> Generator[None, None, None]:
        __tracebackhide__ = True
        gathered = self._gathered
        if self._once:
            self.active = self._watch
            with self._observed(gathered.programs(), gathered.places(), between.observing_files()):
                for _ in self._watch.runs():
                    gathered.resume()
                    yield
            return
        self._progress.stage("run 1 of up to 5, which compiles")
        yield from self._own_run(gathered.programs(), between.observing_files())
        if not between.may_follow_first(gathered.note_deleted(read)):
            return
        self._progress.stage("run 2 of up to 5, with waits and lines")
        yield from self._own_run(gathered.places())
        if not between.may_follow_second():
            return
        self._progress.stage("the last runs, timed and recorded")
        self._watch.start()
        self.active = self._watch
        with self._observed(marked_waits()):
            for _ in self._watch.runs():
                if self._watch.records:  # the last run, whose value the user gets
                    between.draw_again()
                yield

    def _own_run(self, *observing: AbstractContextManager[object]) -> Iterator[None]:
        """Run the code under a stopwatch, observed."""
        __tracebackhide__ = True
        watch = self.active = Stopwatch()
        with self._observed(*observing):
            watch.start()
            self._gathered.resume()
            yield
            self.own.append(watch.stop())
            self.completed += 1
        self.active = None

    def _observed(self, *observing: AbstractContextManager[object]) -> ExitStack:
        """Return what ends the observers; if Ctrl-C comes in between, :meth:`cancel` ends them."""
        self._observers = ExitStack()
        for each in observing:
            self._observers.enter_context(each)
        return self._observers

    def returned(self, value: Any) -> int:
        """End the dispatch of the run; see ``Stopwatch.returned``."""
        self._gathered.pause()  # from here on it is not the code that waits
        return 0 if self.active is None else self.active.returned(value)

    def stop(self, *, error: BaseException | None, code: str | None) -> None:
        """End the last run, also if it failed or was interrupted."""
        __tracebackhide__ = True
        active, self.active = self.active, None
        if isinstance(active, Stopwatch) and active.running:  # an exception is on its way
            self.own.append(active.stop(error=error))
        if self._running is not None:
            self._running.close()
        if isinstance(active, ProfileWatch):
            active.stop(error=error, code=code)

    def cancel(self) -> None:
        """End what still runs or observes; does nothing after the end."""
        active, self.active = self.active, None
        try:
            if active is not None:
                active.cancel()
            if self._running is not None:
                self._running.close()
        finally:
            self._observers.close()
            self._watch.cancel()
