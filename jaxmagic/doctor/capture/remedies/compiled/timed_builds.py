"""Times how long the same compiles in two ways, and then how long the two programs run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .....records.note import Note, note
from .....runtime.clock import Clock
from ....record.finding import Verified
from ..measured_remedy import Measured, Run, measured
from ..remedy import Builds

#: Notes that say something of runs, of which there are none where programs are only compiled.
_OF_RUNS = "doctor.no_outputs", "doctor.tried_runs", "doctor.tried_first_run"

#: What is unknown where the programs do not run as well, and known where they do.
_WITHOUT_RUNS = "doctor.folded_then_runs"

#: Running both programs takes no longer.
_LONGEST_NS = 10**9

_Program = Callable[..., Any]


def timed_builds(builds: Builds, *, budget_ns: int, deadline_ns: int, clock: Clock) -> Measured:
    """Measure two ways to compile in turns; both programs run as well, on the same arguments, if they only compute.

    Args:
        builds: the two ways.
        budget_ns: how long to compile, without the first time of each.
        deadline_ns: when nothing else begins.
        clock: the clock of the deadline.
    """
    programs: dict[str, _Program | None] = {}

    def kept(name: str, build: Callable[[], _Program | None]) -> Callable[[], None]:
        def compile_() -> None:
            programs[name] = build()

        return compile_

    before, after = kept("before", builds.before), kept("after", builds.after)
    found = measured(Run(before), Run(after), budget_ns=budget_ns, deadline_ns=deadline_ns, clock=clock)
    verified = _with_firsts(found)
    notes = tuple(each for each in verified.notes if each.kind not in _OF_RUNS)
    about = () if verified.before_ns is None else builds.notes
    compiled = Measured(replace(verified, notes=(*about, *notes)), found.interrupted)
    if compiled.interrupted or verified.before_ns is None:
        return compiled
    if builds.needs is not None and None not in programs.values():
        sizes = [needs(programs[name]) for needs, name in zip(builds.needs, ("before", "after"), strict=True)]
        if None not in sizes:
            compiled = compiled._replace(
                verified=replace(compiled.verified, before_bytes=sizes[0], after_bytes=sizes[1])
            )
    return _with_runs(compiled, programs, builds.given, deadline_ns, clock)


def _with_firsts(found: Measured) -> Verified:
    """Return what was measured, or how long each way took the first time, if there was no time for more."""
    verified = found.verified
    if verified.before_ns is not None or verified.failed or not all(found.first_ns):
        return verified
    before_ns, after_ns = map(float, found.first_ns)
    return replace(verified, before_ns=before_ns, after_ns=after_ns)


def _with_runs(
    compiled: Measured,
    programs: dict[str, _Program | None],
    given: tuple[tuple[Any, ...], tuple[Any, ...]],
    deadline_ns: int,
    clock: Clock,
) -> Measured:
    """Add whether the programs compute the same, and how long each of them runs; nothing if they do not run."""
    before, after = programs["before"], programs["after"]
    budget_ns = min((deadline_ns - clock()) // 2, _LONGEST_NS)
    if before is None or after is None or budget_ns <= 0:
        return compiled
    ran = measured(
        Run(lambda: before(*given[0])),
        Run(lambda: after(*given[1])),
        budget_ns=budget_ns,
        deadline_ns=deadline_ns,
        clock=clock,
    )
    runs = ran.verified
    errors, about = about_outputs(runs), about_runs(runs)
    if about is None:  # too few runs, but their outputs are known
        checked = replace(
            compiled.verified, outputs_agree=runs.outputs_agree, notes=(*compiled.verified.notes, *errors)
        )
        return Measured(checked, ran.interrupted)
    known = [each for each in compiled.verified.notes if each.kind != _WITHOUT_RUNS]
    notes = (*known, about, *errors)
    return Measured(replace(compiled.verified, outputs_agree=runs.outputs_agree, notes=notes), ran.interrupted)


def about_outputs(runs: Verified) -> tuple[Note, ...]:
    """Return what measuring has said about outputs."""
    return tuple(each for each in runs.notes if each.kind.startswith("doctor.outputs"))


def about_runs(runs: Verified, calls: bool = False) -> Note | None:
    """Say how long two programs run beside other things that are compared; ``None`` if they ran too seldom."""
    if runs.speedup is None or runs.low is None or runs.high is None:
        return None
    return note(
        "doctor.programs_ran",
        speedup=runs.speedup,
        low=runs.low,
        high=runs.high,
        before_ns=runs.before_ns or 0.0,
        after_ns=runs.after_ns or 0.0,
        before_runs=runs.notes[-1].facts["before_runs"],
        after_runs=runs.notes[-1].facts["after_runs"],
        calls=int(calls),
    )
