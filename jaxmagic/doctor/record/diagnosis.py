"""The record of a diagnosis."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...compilation.record.compilation import Compilation
from ...profiling.record.profile import Profile
from ...records.environment import Environment
from ...records.note import Note
from ...session.record import Record
from ...timing.record import Timing
from .finding import RuleFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis(Record):
    """The findings about some code, most costly first; or the explanation of an error.

    Attributes:
        code: the source that was run, or that failed.
        started_at: the start in ISO 8601 with the time zone.
        findings: what the rules found, most costly first; compiling that only a cache spares comes last.
        looked: the rules that had the evidence they need.
        first: the first run, with its compilations; ``None`` if nothing was run, as for an error.
        observed: the run in which waits and lines were recorded; ``None`` if the code ran only once.
        warm: later runs that nothing disturbed, in order.
        profile: the run under the profiler; ``None`` if there was none.
        error: the type of the exception that is explained, or that ended the code; ``None`` without one.
        notes: how often the code ran and why not more often, and what could not be examined.
        environment: versions, devices and settings.
    """

    code: str | None
    started_at: str
    findings: tuple[RuleFinding, ...]
    looked: tuple[str, ...] = ()
    first: Timing | None = None
    observed: Timing | None = None
    warm: tuple[Timing, ...] = ()
    profile: Profile | None = None
    error: str | None = None
    notes: tuple[Note, ...] = ()
    environment: Environment

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """All compilations, of all runs."""
        return tuple(each for run in self.runs for each in run.compilations)

    @property
    def runs(self) -> tuple[Timing, ...]:
        """All runs without the profiler, in order; the only one may be recorded at the same time."""
        return tuple(each for each in (self.first, self.observed, *self.warm) if each is not None)

    @property
    def wall_ns(self) -> int | None:
        """Wall time of the shortest undisturbed run that compiled nothing, or the median of all; or of the first run.

        Other processes only make runs longer.
        """
        later = sorted(self.warm or filter(None, [self.first]), key=lambda each: each.wall_ns)
        middle = later[(len(later) - 1) // 2].wall_ns if later else None
        return next((each.wall_ns for each in later if not each.compilations), middle)

    @property
    def other_load(self) -> float | None:
        """The processors that other processes kept busy during the runs, on average; ``None`` if unknown."""
        loads = (each.other_load for each in (self.profile, *self.runs) if each is not None)
        return next((each for each in loads if each is not None), None)

    @property
    def _entries(self) -> int:
        return 0 if self.profile is None else 100

    def _shortened(self) -> Diagnosis:
        return replace(self, profile=None)
