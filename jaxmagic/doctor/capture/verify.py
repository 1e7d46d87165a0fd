"""Tries the remedies of findings on a copy of the code, within a limit of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ...errors import briefly
from ...interrupts import interrupted as noted_interrupt
from ...interrupts import interruptible, uninterrupted
from ...progress.record import Progress
from ...records.note import Note, note
from ...runtime.clock import Clock, now_ns
from ..analysis.failed_trial import is_in_vain, revised
from ..record.finding import RuleFinding, Verified
from .changes import Changed, reach
from .remedies.all import COMPILING, MEASURING, REMEDIES
from .remedies.compiled.timed_builds import about_outputs, about_runs, timed_builds
from .remedies.effects import fresh_values
from .remedies.function_copies import FunctionCopies, MethodCopies
from .remedies.logs import Logs, keep_apart, logs_of
from .remedies.measured_remedy import Run, failure, measured
from .remedies.remedy import Builds, Change, NotTried, Sizes
from .remedies.tried_code import TriedCode
from .side_effects.random_generators import RandomGenerators

#: Two pairs of first runs, and the rounds that an interval needs: four, of three runs each.
_LEAST_RUNS = 14

#: Longer than this, or than so many runs, nothing is measured: the effect of a remedy shows sooner.
_LONGEST_NS, _MOST_RUNS = 2 * 10**9, 30

#: Calls of two programs are measured for so long, unless that is too short.
_CALLS_NS = 5 * 10**8

#: Notes about outputs.
_OF_OUTPUTS = "doctor.no_outputs", "doctor.outputs_vary", "doctor.outputs_problem", "doctor.outputs_error"

#: Notes of trials that began to measure.
_OF_MEASURING = "doctor.tried_runs", "doctor.ceiling_runs", "doctor.trial_unfinished"


class _Earlier(NamedTuple):
    """The time that an earlier trial takes, the time left after it, and how much longer it may measure."""

    taken_ns: int
    left_ns: int
    more_ns: int


class Trial(NamedTuple):
    """The facts about the code that are known before remedies are tried.

    Attributes:
        code: the code.
        changed: what its runs change.
        first_ns: how long its first run took, which compiled.
        run_ns: how long a later run takes.
        budget_ns: how long trying all remedies may take, or those that are left.
        draws: whether its runs draw numbers from the random generators of NumPy or Python.
        earlier: the trials before.
    """

    code: TriedCode
    changed: list[Changed]
    first_ns: int
    run_ns: int
    budget_ns: int
    draws: bool = False
    earlier: tuple[_Earlier, ...] = ()


@uninterrupted
def verify(
    findings: Sequence[RuleFinding], trial: Trial, progress: Progress, clock: Clock = now_ns
) -> tuple[RuleFinding, ...]:
    """Try the remedy of each finding, in their order; never raises. Those that were tried in vain come last.

    A remedy that cannot be tried, or for which there is no time, is marked by a note in ``verified``. An interrupt
    ends the trials, and what was tried is kept.
    """
    deadline_ns = clock() + trial.budget_ns
    tried = list(findings)
    places = [number for number, each in enumerate(findings) if each.remedy is not None or each.code is not None]
    progress.stage("trying remedies", len(places) or None, ticking=False, expected_s=trial.budget_ns / 1e9)
    why: Note | None = None
    generators = RandomGenerators(trial.code.reached())
    for done, number in enumerate(places):
        progress.advance(done)
        verified = None if why is None else Verified(notes=(why,))
        if verified is None:
            try:
                with generators.kept():
                    verified, interrupted = _tried(findings[number], trial, len(places) - done, deadline_ns, clock)
            except KeyboardInterrupt:
                verified, interrupted = Verified(notes=(note("doctor.not_tried_interrupt"),)), True
            if interrupted or noted_interrupt():
                why = note("doctor.not_tried_interrupt")
        left_ns = deadline_ns - clock()
        earlier = _earlier(findings[number], verified, trial, left_ns)
        trial = trial._replace(budget_ns=left_ns, earlier=(*trial.earlier, earlier))
        tried[number] = revised(findings[number], verified, trial.run_ns)
    return tuple(sorted(tried, key=lambda each: is_in_vain(each, each.verified)))


def _tried(finding: RuleFinding, trial: Trial, untried: int, deadline_ns: int, clock: Clock) -> tuple[Verified, bool]:
    """Return what trying a remedy has shown, and whether the user interrupted; all untried ones share the time."""
    try:
        propose = REMEDIES.get(finding.rule)
        if propose is None:
            raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
        left_ns, shared_ns = deadline_ns - clock(), trial.first_ns * COMPILING.get(finding.rule, 0) * untried
        if shared_ns > left_ns:
            raise _too_long(trial, max(shared_ns, _least_ns(finding, trial)), left_ns)
        proposed = interruptible(propose)(finding, trial.code)
        if isinstance(proposed, Sizes):
            return _compared(proposed, deadline_ns, clock)
        if isinstance(proposed, Builds):
            return _built(proposed, trial, deadline_ns, clock)
        return _measured(finding, proposed, trial, deadline_ns, clock)
    except NotTried as problem:
        return Verified(outputs_agree=False if problem.differs else None, notes=problem.notes), False
    except Exception as error:
        return Verified(notes=(failure(error),)), False


def _too_long(trial: Trial, needed_ns: int, left_ns: int) -> NotTried:
    """Say how long the first run takes, and which budget is enough for a trial.

    That is beside what earlier trials take. More time lets these begin, or measure for half of it.
    """
    budget_ns = trial.budget_ns + needed_ns - left_ns
    for each in reversed(trial.earlier):
        budget_ns += each.taken_ns + min(max(budget_ns - each.left_ns, 0), each.more_ns)
    return NotTried(note("doctor.not_tried_budget", first_ns=trial.first_ns, budget_ns=budget_ns))


def _earlier(finding: RuleFinding, verified: Verified, trial: Trial, left_ns: int) -> _Earlier:
    kinds, taken_ns = {each.kind for each in verified.notes}, trial.budget_ns - left_ns
    if "doctor.not_tried_budget" in kinds:
        return _Earlier(max(_least_ns(finding, trial), taken_ns), 0, _most_ns(finding, trial))
    is_measured = verified.before_ns is not None or not kinds.isdisjoint(_OF_MEASURING)
    return _Earlier(taken_ns, left_ns, _most_ns(finding, trial) if is_measured else 0)


def _least_ns(finding: RuleFinding, trial: Trial) -> int:
    """Return how long trying a remedy takes at least."""
    measuring = MEASURING.get(finding.rule)
    ran_ns = trial.first_ns + _LEAST_RUNS * trial.run_ns if measuring is None else measuring * trial.first_ns
    return trial.first_ns * COMPILING.get(finding.rule, 0) + ran_ns


def _most_ns(finding: RuleFinding, trial: Trial) -> int:
    """Return how long the effect of a remedy is measured at most."""
    if MEASURING.get(finding.rule) is None:
        return max(_LONGEST_NS, _MOST_RUNS * trial.run_ns)
    return max(_LONGEST_NS, _LEAST_RUNS * trial.first_ns)


def _compared(sizes: Sizes, deadline_ns: int, clock: Clock) -> tuple[Verified, bool]:
    """Return the memory of two programs, and how long a call of each takes if they can run, and there is time."""
    compiled = Verified(
        before_bytes=sizes.before_bytes,
        after_bytes=sizes.after_bytes,
        notes=(*sizes.notes, note("doctor.tried_compiled")),
    )
    left_ns = deadline_ns - clock()
    if sizes.calls is None or left_ns <= 0:
        return compiled, False
    before, after = (Run(each.call, each.prepare) for each in sizes.calls)
    ran = measured(before, after, budget_ns=min(left_ns // 2, _CALLS_NS), deadline_ns=deadline_ns, clock=clock)
    longer_ns = min((deadline_ns - clock()) // 2, 2 * _LEAST_RUNS * sum(ran.first_ns))
    if ran.verified.speedup is None and not ran.interrupted and all(ran.first_ns) and longer_ns > _CALLS_NS:
        ran = measured(before, after, budget_ns=longer_ns, deadline_ns=deadline_ns, clock=clock)
    runs, about = ran.verified, about_runs(ran.verified, calls=True)
    if about is None:
        return compiled, ran.interrupted
    notes = (*sizes.notes, about, *about_outputs(runs))
    return replace(compiled, outputs_agree=runs.outputs_agree, notes=notes), ran.interrupted


def _built(builds: Builds, trial: Trial, deadline_ns: int, clock: Clock) -> tuple[Verified, bool]:
    most_ns = max(_LONGEST_NS, _LEAST_RUNS * trial.first_ns)
    left_ns, needed_ns = deadline_ns - clock(), 2 * trial.first_ns
    if needed_ns > left_ns:
        raise _too_long(trial, needed_ns, left_ns)
    budget_ns = min((left_ns - needed_ns) // 2, most_ns)
    found = timed_builds(builds, budget_ns=budget_ns, deadline_ns=deadline_ns, clock=clock)
    return found.verified, found.interrupted


def _measured(
    finding: RuleFinding, change: Change, trial: Trial, deadline_ns: int, clock: Clock
) -> tuple[Verified, bool]:
    """Return the time that a change gains, and the memory if that was compared."""
    try:
        verified, interrupted = _timed(finding, change, trial, deadline_ns, clock)
    except NotTried as problem:
        if change.sizes is None:
            raise
        verified, interrupted = Verified(notes=(*change.notes, *problem.notes)), False
    sizes = change.sizes
    if sizes is not None:
        verified = replace(verified, before_bytes=sizes.before_bytes, after_bytes=sizes.after_bytes)
    return verified, interrupted


def _timed(
    finding: RuleFinding, change: Change, trial: Trial, deadline_ns: int, clock: Clock
) -> tuple[Verified, bool]:
    left_ns, needed_ns = deadline_ns - clock(), trial.first_ns + _LEAST_RUNS * trial.run_ns
    if needed_ns > left_ns:
        raise _too_long(trial, needed_ns, left_ns)
    hidden = trial.code.hidden()
    if hidden is not None:
        raise NotTried(note("doctor.not_tried_hidden", name=hidden[0], function=hidden[1]))
    logs = logs_of(trial.code, trial.changed)
    fresh = fresh_values(trial.code, logs.changed)
    before, _ = _made(replace(trial.code, left_out=change.unset), logs, {}, fresh)
    after, reached = _made(change.code or trial.code, logs, change.replacements, fresh)
    if trial.draws:
        draws = RandomGenerators(trial.code.reached()).in_trials()
        before, after = _prepared(before, draws()), _prepared(after, draws())
    objects = (each.value for each in reach(trial.code.reached() if change.replacements else {}))
    methods = MethodCopies(FunctionCopies(change.replacements), objects)
    if change.replacements and not reached and not methods.found:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    if methods.found:
        after = after._replace(call=partial(_within, methods.called, after.call))
    after = after._replace(call=partial(_within, change.context, after.call))
    most_ns = max(_LONGEST_NS, _MOST_RUNS * trial.run_ns)
    with methods:
        found = measured(
            before,
            after,
            budget_ns=min((left_ns - trial.first_ns) // 2, most_ns),
            deadline_ns=deadline_ns,
            clock=clock,
            products=change.products,
        )
    verified = _as_ceiling(found.verified) if change.ceiling else found.verified
    if verified.before_ns is not None and change.replacements and not reached and not methods.used:
        raise NotTried(note("doctor.not_met"), verified.notes[-1])
    if verified.before_ns is not None and not change.met():
        raise NotTried(note("doctor.not_met"), verified.notes[-1])
    if verified.before_ns is not None and not change.used():
        why = note("doctor.not_replayed") if change.ceiling else note("doctor.not_used")
        raise NotTried(why, verified.notes[-1])
    if verified.before_ns is None:
        return verified, found.interrupted
    names = [*logs.names, *(fresh() if fresh is not None else ())]
    copied = (note("doctor.tried_on_copies", names=", ".join(names)),) if names else ()
    about = (*change.notes, *(() if change.found is None else (change.found(),)))
    return replace(verified, notes=(*about, *copied, *verified.notes)), found.interrupted


def _as_ceiling(verified: Verified) -> Verified:
    """Return what replaying batches has shown: its outputs are none of the code's."""
    notes = tuple(_of_ceiling(each) for each in verified.notes if each.kind not in _OF_OUTPUTS)
    return replace(verified, outputs_agree=None, ceiling=verified.before_ns is not None, notes=notes)


def _of_ceiling(told: Note) -> Note:
    facts = told.facts
    match told.kind:
        case "doctor.tried_runs":
            return note("doctor.ceiling_runs", before_runs=facts["before_runs"], after_runs=facts["after_runs"])
        case "doctor.not_tried_failed":
            return note("doctor.ceiling_failed", error=facts["error"])
    return told


def _within(context: Callable[[], AbstractContextManager[object]], call: Callable[[], Any]) -> Any:
    with context():
        return call()


def _made(
    code: TriedCode,
    logs: Logs,
    replacements: Mapping[int, Any],
    fresh: Callable[[], Mapping[str, Any]] | None,
) -> tuple[Run, bool]:
    """Return a run of the code, and whether it sees any of the replacements."""
    keep_apart(code, logs, replacements)
    try:
        call, each = code.made({**logs.copies, **replacements}, fresh)
    except Exception as error:  # SyntaxError, or IPython's UsageError
        raise NotTried(note("doctor.not_tried_code", error=briefly(error))) from None
    seen = FunctionCopies(replacements)
    reached = any(seen.of(value) is not value for value in code.read().values())
    if not logs.copies:
        return Run(call, each), reached
    return _prepared(Run(lambda: (call(), logs.added()), each), logs.fill), reached


def _prepared(run: Run, prepare: Callable[[], None]) -> Run:
    """Return a run before which something else is done."""

    def both() -> None:
        prepare()
        if run.each is not None:
            run.each()

    return run._replace(each=both)
