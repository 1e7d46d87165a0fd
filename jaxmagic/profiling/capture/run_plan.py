"""Decides which runs of a profile are timed without the profiler, and for how long the profiler records."""

from __future__ import annotations

from collections.abc import Sequence

from ...records.note import Note, note
from ...runtime.several import are_several
from ...timing.record import Timing
from ..record.recording import Trace

#: Short runs are timed up to this many times, until they add up to this time: a single one may be late by chance.
_MOST_TIMED = 20
_TIMED_NS = 10**8

#: Accelerators need this many: the second run records CUDA graphs, and takes longer than those after it.
_LEAST_ON_ACCELERATORS = 3

#: After this many runs that compile, as where an argument changes its type, one that compiles is timed.
_MOST_COMPILING = 2

#: Default limits of a recording: much larger ones take minutes to write and to read.
MOST_RECORDED_S = 5.0
MOST_RECORDED_EVENTS = 1_000_000

#: A recording never takes longer than this: clocks of threads end somewhere.
_LONGEST_S = 86_400.0

#: A recording with more events than this times their limit is noted: the rate is an estimate.
_ABOUT = 1.5

#: A recording takes at least this long, however many events it gets.
_LEAST_RECORDED_S = 0.05


class RunPlan:
    """Runs before the recording: the first warms up, others are timed.

    Args:
        runs: how many runs are recorded. Short ones are timed before, up to this many times.
        most_s: for how many seconds the profiler records at most, from the first recorded run on; the rest runs
            without the profiler. ``None`` for any time.
        most_events: about how many events it records at most, if the first run takes long enough to estimate their
            rate; ``None`` for any number.
        already: how many times the code has run before.
        timed: how many runs are timed at least, if they are short: a single one may be a disturbed one.

    Attributes:
        runs: how many runs are recorded.
        timings: the runs that have ended.
    """

    def __init__(
        self, runs: int, most_s: float | None, most_events: int | None, already: int = 0, timed: int = 1
    ) -> None:
        self.runs = runs
        self._least_timed = timed
        self.timings: list[Timing] = []
        self._most_s = None if most_s is None else min(most_s, _LONGEST_S)
        self._most_events = most_events
        self._least = _LEAST_ON_ACCELERATORS - min(already, _LEAST_ON_ACCELERATORS - 1)
        self._most_compiling = max(_MOST_COMPILING - already, 0)

    @property
    def counts_events(self) -> bool:
        """Whether events are limited, so that their rate has to be estimated."""
        return self._most_events is not None

    @property
    def warm_up(self) -> Timing | None:
        """The first run."""
        return self.timings[0] if self.timings else None

    @property
    def timed(self) -> Sequence[Timing]:
        """The runs that compiled nothing; the last run if several have ended and all of them compiled."""
        without = [each for each in self.timings if not _compiled(each)]
        return without or (self.timings[-1:] if len(self.timings) > self._most_compiling else [])

    @property
    def unprofiled(self) -> Timing | None:
        """The timed run with the median wall time."""
        by_time = sorted(self.timed, key=lambda each: each.wall_ns)
        return by_time[(len(by_time) - 1) // 2] if by_time else None

    @property
    def run_s(self) -> float:
        """Time of the last run without its compilations."""
        return (self.timings[-1].wall_ns - self.timings[-1].compile_ns) / 1e9

    def needs_another(self) -> bool:
        """Return whether another run should be timed."""
        if not self.timed:
            return True
        last = self.timings[-1]
        most = max(self.runs, self._least_timed, 1 if last.environment.backend in (None, "cpu") else self._least)
        if _compiled(last) or len(self.timed) >= min(most, _MOST_TIMED):
            return False
        # Several processes have to make the same number of runs, and their clocks differ.
        return are_several() or sum(each.wall_ns for each in self.timed) < _TIMED_NS

    def limit_s(self, events_per_s: float | None) -> float | None:
        """Return for how many seconds to record at this event rate; ``None`` without a limit."""
        if self._most_events is None or not events_per_s:
            return self._most_s
        until_full_s = max(self._most_events / events_per_s, _LEAST_RECORDED_S)
        return until_full_s if self._most_s is None else min(self._most_s, until_full_s)

    def about_recording(self, trace: Trace, complete_runs: int | None, events_per_s: float | None) -> list[Note]:
        """Note that a recording ended at its limit, or is larger than asked for.

        Args:
            trace: the recording.
            complete_runs: the complete runs of a recording that ended at its limit; ``None`` for another one.
            events_per_s: the event rate of the first run, if it was estimated.
        """
        notes = []
        if complete_runs is not None:
            limit_s = self.limit_s(events_per_s) or 0.0
            limit_events = self._most_events or 0 if limit_s != self._most_s else 0
            limit_ns = int(limit_s * 1e9)
            notes.append(
                note(
                    "profiling.cut",
                    complete_runs=complete_runs,
                    runs=self.runs,
                    limit_ns=limit_ns,
                    limit_events=limit_events,
                )
            )
        events = sum(len(line.start_ps) for line in trace.tracks)
        if self._most_events is not None and events > _ABOUT * self._most_events:
            notes.append(
                note(
                    "profiling.many_events",
                    events=events,
                    limit_events=self._most_events,
                    runs=self.runs,
                    estimated=events_per_s is not None,
                )
            )
        return notes


def _compiled(timing: Timing) -> bool:
    return any(each.compiled for each in timing.compilations)
