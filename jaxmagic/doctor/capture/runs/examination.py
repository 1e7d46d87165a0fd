"""Examines some code: runs it a few times, applies the rules to the evidence, and tries the remedies."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ....errors import NotMeasured
from ....interrupts import begins, ends
from ....profiling.capture.run import ProfileWatch
from ....progress.record import SILENT, Progress
from ....records.note import Note, note
from ....runtime.clock import timestamp
from ....runtime.environment import probe
from ....runtime.functions import only_name
from ....runtime.jax_version import require_jax
from ....timing.analysis import of_quoted_call
from ....timing.capture.stopwatch import Stopwatch
from ....timing.record import Timing
from ....tracebacks import drop_handler
from ...record.diagnosis import Diagnosis
from ...record.evidence import Evidence
from ...rules.rewriting.needed_imports import with_imports
from ..remedies.tried_code import TriedCode
from ..scope import Scope
from ..side_effects.between_runs import BetweenRuns
from ..side_effects.foreseen import reason_to_run_once
from .gathered import Gathered
from .observed_runs import ObservedRuns

#: Applies the rules to the evidence: returns their findings, the names of the rules that looked, and notes.
Examine = Callable[[Evidence], "tuple[tuple[Any, ...], tuple[str, ...], tuple[Note, ...]]"]

#: Notes of runs that say what is unknown of the code.
_OF_RUNS = "timing.not_run", "profiling.yielded"


class Examination:
    """Runs some code, and makes a :class:`~jaxmagic.Diagnosis`. Its methods are those of a repeating recorder.

    Args:
        examine: applies the rules.
        repeat: run the code several times even if it changes what it reads.
        limit_bytes: the memory to try against; the device's if left out.
        verify_ns: how long to try the remedies; they are not tried if this is left out.
        record: called with the diagnosis.
        progress: shows what is done.
    """

    def __init__(
        self,
        examine: Examine,
        *,
        repeat: bool = False,
        limit_bytes: int | None = None,
        verify_ns: int | None = None,
        record: Callable[[Diagnosis], None] | None = None,
        progress: AbstractContextManager[Progress] | None = None,
    ) -> None:
        self._scope = Scope()
        self._examine = examine
        self._repeat = repeat
        self._limit_bytes = limit_bytes
        self._verify_ns = verify_ns
        self._between: BetweenRuns | None = None
        self._tried = TriedCode()
        self._on_record = record or (lambda made: None)
        self._shown = progress or nullcontext(SILENT)
        self._progress = SILENT
        self._gathered = Gathered()
        self._runs: ObservedRuns | None = None
        self._notes: list[Note] = []
        self._is_uncalled = False
        self._diagnosis: Diagnosis | None = None

    @property
    def done(self) -> bool:
        """Whether there is a record."""
        return self._diagnosis is not None

    @property
    def record(self) -> Diagnosis:
        """The record, once the code has ended."""
        assert self._diagnosis is not None
        return self._diagnosis

    @property
    def timings(self) -> Sequence[Timing]:
        """The timings of all runs that have ended."""
        return () if self._runs is None else self._runs.timings

    @property
    def timing(self) -> Timing:
        """The timing of an undisturbed run if there is one, or else of the last run."""
        if self._runs is None or not self._runs.timings:
            raise NotMeasured("There is no timing: no run has ended. Run it again.")
        return (self._runs.undisturbed or self._runs.timings)[-1]

    def see(self, code: str | None, variables: Mapping[str, Any], tried: TriedCode | None = None) -> None:
        """Take the source of the code, and the variables that it sees; before the start.

        Args:
            code: the source; ``None`` if there is none, as for a call.
            variables: the variables by name.
            tried: the code to which remedies are applied, if that is written in another way.
        """
        self._scope = Scope(code, variables)
        self._tried = TriedCode(code, variables) if tried is None else tried

    @property
    def _active(self) -> Stopwatch | ProfileWatch | None:
        return None if self._runs is None else self._runs.active

    @property
    def result(self) -> Any:
        """The value of the run that is under way."""
        return None if self._active is None else self._active.result

    @result.setter
    def result(self, value: Any) -> None:
        if self._active is not None:
            self._active.result = value
            self._is_uncalled = callable(value)

    @property
    def dropped(self) -> Any:
        """A value that the code discarded, kept alive until its run ends."""
        return None if self._active is None else self._active.dropped

    @dropped.setter
    def dropped(self, value: Any) -> None:
        if self._active is not None:
            self._active.dropped = value

    @begins("cancel")
    def start(self) -> None:
        """Look at what the code reads, and check that the profiler is available.

        Raises:
            JaxNotAvailable: JAX is not installed or too old.
            NotMeasured: the profiler is running already.
        """
        require_jax()
        self._progress = self._shown.__enter__()
        self._started_at = timestamp()
        self._read = self._scope.read()
        reason = None if self._repeat else reason_to_run_once(self._scope, self._read)
        once = reason is not None
        self._notes += [] if reason is None else [reason]
        self._between = BetweenRuns(
            self._scope, self._notes, once=once, repeat=self._repeat, verify=self._verify_ns is not None
        )
        self._gathered.list_inputs(self._scope.code, self._read)
        self._runs = ObservedRuns(self._gathered, once=once, progress=self._progress)
        self._runs.start()

    def runs(self) -> Iterator[None]:
        """Yield before each run of the code, which ends with a call of :meth:`returned`."""
        __tracebackhide__ = True
        assert self._runs is not None  # it has been started
        assert self._between is not None
        return self._runs.runs(self._between, self._read)

    def returned(self, value: Any = None) -> int:
        """End the dispatch of the run; see ``Stopwatch.returned``."""
        return 0 if self._runs is None else self._runs.returned(value)

    @ends
    def stop(self, *, error: BaseException | None = None, code: str | None = None) -> Timing | None:
        """Make the record, also of code that failed or was interrupted."""
        __tracebackhide__ = True
        if error is not None:
            drop_handler(error)
        try:
            assert self._runs is not None
            self._runs.stop(error=error, code=code)
            self._progress.stage("applying the rules", ticking=False)
            self._diagnosis = made = self._diagnose(self._runs, error, code)
            self._on_record(made)
        finally:
            self.cancel()
        return None

    @ends
    def cancel(self) -> None:
        """End without a record; does nothing after the end."""
        try:
            if self._runs is not None:
                self._runs.cancel()
        finally:
            self._gathered.forget()
            if self._between is not None:
                self._between.end()
            self._read, self._between, self._tried = {}, None, TriedCode()
            shown, self._shown, self._progress = self._shown, nullcontext(SILENT), SILENT
            shown.__exit__(None, None, None)

    def _diagnose(self, runs: ObservedRuns, error: BaseException | None, code: str | None) -> Diagnosis:
        timings, profile = runs.timings, runs.profile
        differs = runs.completed and error is not None and not isinstance(error, KeyboardInterrupt)
        failed = not differs and error is not None and (not isinstance(error, KeyboardInterrupt) or not timings)
        findings, looked = tuple[Any, ...](), tuple[str, ...]()
        notes = list(self._notes)
        if self._is_uncalled and (named := only_name(self._scope.code)) is not None:
            notes.append(note("timing.not_called", function=named))
        told = dict.fromkeys(each for one in (profile, *timings[-1:]) if one is not None for each in one.notes)
        notes += [*(each for each in told if each.kind in _OF_RUNS), *of_quoted_call(code)]
        if isinstance(error, KeyboardInterrupt) and timings:
            notes.append(note("doctor.interrupted", complete=runs.completed))
        if differs:
            notes.append(note("doctor.failed_later", error=type(error).__name__))
            timings = timings[: runs.completed]
        if failed or not timings:
            notes.append(note("doctor.ended_early"))
        else:
            evidence = self._gathered.evidence(
                code=code,
                first=timings[0],
                observed=timings[1] if runs.own and len(timings) > 1 else timings[0],
                timed=() if differs else tuple(runs.undisturbed),
                profile=profile,
                namespace=dict(self._scope.variables),
                limit_bytes=self._limit_bytes,
            )
            notes += self._gathered.notes
            findings, looked, more = self._examine(evidence)
            notes += more
            findings = findings if error is not None else self._verified(findings, evidence)
            session = {*self._scope.variables, *vars(sys.modules["__main__"])}
            findings = with_imports(findings, evidence, session)
        return Diagnosis(
            code=code,
            started_at=self._started_at,
            findings=findings,
            looked=looked,
            first=timings[0] if timings else None,
            observed=runs.own[1] if len(runs.own) > 1 else None,
            warm=tuple(runs.undisturbed),
            profile=profile,
            error=None if error is None else type(error).__name__,
            notes=tuple(notes),
            environment=timings[0].environment if timings else probe(),
        )

    def _verified(self, findings: tuple[Any, ...], evidence: Evidence) -> tuple[Any, ...]:
        """Return the findings with their remedies tried, if that was asked for."""
        if self._verify_ns is None or self._between is None or not findings:
            return findings
        from ..verify import Trial, verify

        changed, draws = self._between.changed(), self._between.drawn()
        trial = Trial(self._tried, changed, evidence.first.wall_ns, evidence.expected_ns, self._verify_ns, draws)
        return verify(findings, trial, self._progress)
