"""Measures candidates side by side: first calls, their outputs, rounds, and pipelined calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from ...benchmarking.capture.conditions import Surroundings
from ...benchmarking.capture.pipeline import Pipelined, take_pipelined
from ...benchmarking.capture.plan import Plan
from ...benchmarking.capture.runner import Runner
from ...benchmarking.capture.sampler import donated_twice
from ...benchmarking.capture.unfinished import Unfinished, ended_by, forgotten
from ...benchmarking.record.inputs import Input
from ...benchmarking.record.samples import PIPELINED, Trial
from ...compilation.capture.listeners import unheard
from ...errors import OutputsDiffer
from ...interrupts import interrupted, interruptible, uninterrupted
from ...memory_use.capture.executables import need_of
from ...memory_use.record.memory_profile import Executable
from ...profiling.record.profile import Profile
from ...progress.record import SILENT, Progress
from ...records.names import in_sentence
from ...runtime import jax_errors
from ...runtime.clock import Clock, now_ns, timestamp
from ...runtime.environment import probe
from ...runtime.executed_programs import executables
from ...runtime.functions import compiled_for, is_jitted
from ...runtime.several import noticing, refuse_to_count
from ...statistics.medians import median
from ...timing.capture.fence_queues import jit_disabled
from ...timing.record import Timing
from ..record.candidate import Candidate, Check, CheckRule, Work
from ..record.comparison import Comparison
from .check_outputs import check_output
from .contestants import Contestants, Entry, Failed
from .profile_calls import profile_of
from .remeasure import Remeasure
from .turns import Rounds, Turns

#: How to give candidates that donate their arguments fresh ones.
_FRESH_FOR_ALL = (
    "--each 'y = x.copy()' with f(y) as a candidate, setup=lambda: (x.copy(),) in jaxmagic.compare(), or fresh=True "
    "in jaxmagic.sweep()."
)


@uninterrupted
def take_comparison(
    entries: Mapping[str, Entry],
    plan: Plan,
    *,
    baseline: str,
    check: CheckRule = "allclose",
    strict: bool = False,
    profiled: bool = False,
    code: str | None = None,
    failed: Failed | None = None,
    progress: Progress = SILENT,
    clock: Clock = now_ns,
    seed: int = 0,
    unfinished: Unfinished = forgotten,
) -> Comparison:
    """Measure candidates side by side.

    An interrupt during or after the rounds ends the measurement, and the complete rounds are returned.

    Args:
        entries: the candidates, by their labels.
        plan: how long to measure; its budget is for all candidates together.
        baseline: the label of the candidate that the others are compared with.
        check: how to compare the outputs with the baseline's: a kind, a share, or ``rtol`` and ``atol``.
        strict: whether to raise if outputs differ.
        profiled: whether to profile some more calls of each candidate after all times have been taken.
        code: the source of all candidates, for the record.
        failed: receives each candidate that raises, which is then dropped. If the baseline raises, the first of the
            remaining candidates takes its place. If this is ``None``, the exception is raised.
        progress: shows what is running, never during a timed region.
        clock: the clock, in nanoseconds.
        seed: the seed of the order within the rounds.
        unfinished: receives what was taken before an exception: a comparison; or the timings of first calls, if an
            interrupt or an exit came before there was a round.

    Raises:
        OutputsDiffer: `strict`, and a candidate computes something else.
        DonatedTwice: a call after the first used an array that an earlier call had donated or deleted.
        AllFailed: every candidate raised.
        KeyboardInterrupt: interrupted before there was a round.
    """
    started_at = timestamp()
    contestants = Contestants(entries, baseline, failed)
    turns = Turns(contestants, plan, clock=clock, progress=progress, seed=seed)
    firsts: dict[str, _First] = {}
    beside, beyond = Surroundings(clock), _Beyond()

    def record(error: BaseException | None = None) -> Comparison:
        rounds = turns.rounds
        assert rounds is not None
        latencies = _latencies(contestants, rounds)
        ended = rounds.stopped_by if error is None else ended_by(error)
        return Comparison(
            code=code,
            started_at=started_at,
            baseline=contestants.baseline,
            candidates=tuple(
                Candidate(
                    label=label,
                    code=entry.code,
                    first_call=firsts[label].timing,
                    warmup_ns=warm[label].calls_ns,
                    latency=latencies[label],
                    pipelined=pipelined.pipelined if pipelined else None,
                    waited=pipelined.waited if pipelined else None,
                    memory=memory[label],
                    check=checks.get(label),
                    conditions=beside.conditions_of(entry.runner, folded=entry.folded),
                    work=beyond.works.get(label),
                    profile=beyond.profiles.get(label),
                    like=entry.like,
                    inputs=firsts[label].inputs,
                )
                for label, entry in contestants.items()
                for pipelined in [beyond.pipelined.get(label)]
            ),
            twice=contestants.baseline,
            again=Trial(samples_ns=tuple(rounds.again), evaluations=latencies[contestants.baseline].evaluations),
            rtol=plan.rtol,
            budget_ns=plan.budget_ns,
            stopped_by="interrupt" if beyond.interrupted else ended,
            environment=probe(),
            error=None if error is None else type(error).__name__,
            values={label: entry.runner.value for label, entry in contestants.items()},
        )

    try:
        interruptible(contestants.of_each)(partial(_first_call, progress, unfinished, firsts))
        refuse_to_count(any(each.elsewhere for each in firsts.values()))
        checks = interruptible(_check_outputs)(contestants, check, strict)
        called_ns = {label: each.timing.wall_ns - each.timing.compile_ns for label, each in firsts.items()}
        warm = interruptible(turns.warm_up)(called_ns)
        memory = interruptible(contestants.of_each)(lambda label, entry: _need(entry))
        with beside:
            rounds = turns.take(warm)
            beyond.interrupted = rounds.stopped_by == "interrupt"
            latencies = _latencies(contestants, rounds)
            beyond.take(partial(_take_pipelined, contestants, latencies, PIPELINED * turns.share.budget_ns))
        beyond.take(partial(_take_works, contestants))
        if profiled:
            beyond.take(partial(_take_profiles, contestants, progress, firsts))
    except BaseException as error:
        contestants.forget_values()  # the traceback holds the runner, and IPython holds the traceback
        if turns.rounds is not None:
            unfinished(record(error))
        elif not isinstance(error, Exception):
            for each in firsts.values():
                unfinished(each.timing)
        if contestants.called and jax_errors.met_a_deleted_array(error):
            raise donated_twice(error, _FRESH_FOR_ALL) from error
        raise
    comparison = record()
    measure = partial(take_comparison, dict(contestants.items()), check=check, profiled=profiled, clock=clock)
    measure_again = Remeasure(measure, comparison, plan, seed)
    stopped_by = "interrupt" if interrupted() else comparison.stopped_by
    return replace(comparison, measure_again=measure_again, stopped_by=stopped_by)


def _latencies(contestants: Contestants, rounds: Rounds) -> dict[str, Trial]:
    return {
        label: Trial(samples_ns=tuple(rounds.taken[label]), evaluations=entry.runner.evaluations)
        for label, entry in contestants.items()
    }


class _First(NamedTuple):
    """The timing of a first call, whether it ran on devices of other processes, and what the candidate reads."""

    timing: Timing
    elsewhere: bool
    inputs: tuple[Input, ...] | None


def _first_call(
    progress: Progress, unfinished: Unfinished, firsts: dict[str, _First], label: str, entry: Entry
) -> None:
    progress.stage(f"first call of {label}")
    with noticing() as elsewhere:
        timing = entry.runner.first_call(entry.code, unfinished)
    firsts[label] = _First(timing, elsewhere(), entry.runner.inputs)


def _need(entry: Entry) -> Executable | None:
    """Return the memory need of a candidate that calls one jitted function, whose program is loaded by now.

    A program that was not loaded before is not what the candidate ran, as under ``jax.disable_jit()``. Other
    candidates may run several programs. JAX does not report which, and the largest of them would say nothing about
    their sum.
    """
    with suppress(Exception), unheard():
        if entry.call is not None:
            fn, args, kwargs = entry.call()
            loaded = executables()
            if is_jitted(fn) and not jit_disabled():
                program = compiled_for(fn, args, kwargs)[0]
                return need_of(program) if any(program is each for each in loaded) else None
    return None


@dataclass
class _Beyond:
    """Measurements of each candidate after the rounds. An interrupt ends them, and the rounds are kept."""

    interrupted: bool = False
    pipelined: dict[str, Pipelined | None] = field(default_factory=dict)
    works: dict[str, Work] = field(default_factory=dict)
    profiles: dict[str, Profile] = field(default_factory=dict)

    def take(self, measure: Callable[[_Beyond], None]) -> None:
        """Let `measure` fill in its part, unless there has been an interrupt."""
        if not self.interrupted:
            try:
                interruptible(measure)(self)
            except KeyboardInterrupt:
                self.interrupted = True


def _take_pipelined(
    contestants: Contestants, latencies: Mapping[str, Trial], budget_ns: float, beyond: _Beyond
) -> None:
    for label, entry in contestants.items():
        with suppress(Exception):  # a candidate that fails now has already been measured
            beyond.pipelined[label] = take_pipelined(entry.runner, median(latencies[label].calls_ns), budget_ns)


def _take_works(contestants: Contestants, beyond: _Beyond) -> None:
    for label, entry in contestants.items():
        if entry.work is not None:
            with contestants.named(label):
                beyond.works[label] = entry.work()


def _take_profiles(
    contestants: Contestants, progress: Progress, firsts: Mapping[str, _First], beyond: _Beyond
) -> None:
    for label, entry in contestants.items():
        progress.stage(f"recording {label}")
        with contestants.named(label):
            beyond.profiles[label] = profile_of(entry.runner, entry.code, firsts[label].timing.compilations)


def _check_outputs(contestants: Contestants, check: CheckRule, strict: bool) -> dict[str, Check]:
    if check == "none":
        return {}
    likes = {label: entry.like or contestants.baseline for label, entry in contestants.items()}
    compared = {label: like for label, like in likes.items() if like != label and like in contestants}
    first = {label: entry.runner.value for label, entry in contestants.items()}
    checks = {
        label: replace(check_output(first[label], first[like], check), like=like) for label, like in compared.items()
    }
    differing = [label for label, each in checks.items() if not each.passed]
    varying = [like for like in {compared[each] for each in differing} if _varies(contestants[like].runner, check)]
    for label in differing:
        checks[label] = replace(checks[label], varies=compared[label] in varying)
    if strict:
        for label, each in checks.items():
            if not each.passed:
                raise _refusal(label, each)
    return checks


def _varies(runner: Runner, check: CheckRule) -> bool:
    """Call once more, and return whether the output differs from the one before."""
    before = runner.value
    with suppress(Exception):  # the next call will raise it, too
        runner.single_call()
        return not check_output(runner.value, before, check).passed
    return False


def _refusal(label: str, check: Check) -> OutputsDiffer:
    name, like = in_sentence(label), in_sentence(check.like or "")
    if check.varies:
        problem = f"The output of {like} varies from call to call: that of {name} cannot be compared with it"
    else:
        given = f"rtol={check.rtol:g} and atol={check.atol:g} are" if check.given else f"{check.atol:.3g} is"
        what = check.problem or f"the largest error is {check.largest_error:.3g}, {given} allowed"
        where = f" at {check.leaf}" if check.leaf else ""
        problem = f"{name} does not compute what {like} does{where}: {what}"
    return OutputsDiffer(
        f"{problem}. Nothing was timed. To allow more, give check=(rtol, atol) (--check RTOL,ATOL); where outputs "
        'need not agree, check="none" (--check none).'
    )
