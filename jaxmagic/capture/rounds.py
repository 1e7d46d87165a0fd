"""Candidates in turns: a comparison is taken in rounds, with every candidate once in each and the baseline twice.

The order is shuffled for each round, so that what one candidate leaves behind (caches, clocks, garbage) meets every
other one as often.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ..analysis.comparison import known
from ..analysis.statistics import looks, median
from ..errors import OutputsDiffer
from ..model.benchmark import StoppedBy, Trial
from ..model.comparison import Candidate, Check, CheckKind, Comparison
from ..model.memory import Executable
from ..model.timing import Timing
from . import internals
from .again import Again
from .candidate_profile import profile_of
from .clock import Clock, now_ns, timestamp
from .contestants import Contestants, Entry, Failed
from .environment import probe
from .executables import describe, watch
from .outputs import check_output
from .runner import Runner
from .sampler import FEWEST, LEAST, PIPELINED, WARM_UP, Plan, donated_twice, pipelined_trial, warm_up
from .surroundings import Surroundings

#: With fewer rounds a ratio has no interval: for these all of the budget is spent, if it has to be.
_FOR_A_VERDICT = 6

#: How often somebody is told how far it is.
_TELL_NS = 10**8


def take_comparison(
    entries: Mapping[str, Entry],
    plan: Plan,
    *,
    baseline: str,
    check: CheckKind = "allclose",
    strict: bool = False,
    profiled: bool = False,
    code: str | None = None,
    failed: Failed | None = None,
    tell: Callable[[float], None] | None = None,
    clock: Clock = now_ns,
    seed: int = 0,
) -> Comparison:
    """Measure candidates side by side.

    Args:
        entries: the candidates by their labels.
        plan: how long; its budget is that of all together.
        baseline: the label of the one that the others are compared with.
        check: how their outputs are compared with the baseline's.
        strict: whether to go on only if they are the same.
        profiled: whether some more calls of each are recorded by JAX's profiler, when all times have been taken.
        code: the source of all, for the record.
        failed: told of each candidate that raises, which is left out then; if the baseline does, the first one that
            is left takes its place. What candidates raise is raised where this is not given.
        tell: told which share of the budget is spent, between rounds and now and then.
        clock: in nanoseconds.
        seed: of the order within the rounds.

    Raises:
        OutputsDiffer: `strict`, and a candidate computes something else.
        DonatedTwice: a call after the first met an array that an earlier one had used up.
        AllFailed: every candidate did.
    """
    __tracebackhide__ = True
    started_at = timestamp()
    contestants = Contestants(entries, baseline, failed)
    try:
        firsts = contestants.of_each(_first_call)
        checks = _check_outputs(contestants, check, strict)
        share = plan._replace(budget_ns=max(plan.budget_ns // len(contestants), 1))
        warmups = contestants.of_each(lambda _, entry: _warm_up(entry.runner, share, clock))
        sampled = _sample(contestants, plan, share, clock, random.Random(seed), tell)
    except BaseException as error:
        contestants.forget_values()  # the traceback holds the runner, and IPython holds the traceback
        if contestants.called and internals.met_a_deleted_array(error):
            raise donated_twice(error) from error
        raise
    comparison = Comparison(
        code=code,
        started_at=started_at,
        baseline=contestants.baseline,
        candidates=tuple(
            Candidate(
                label=label,
                code=entry.code,
                first_call=firsts[label],
                warmup_ns=warmups[label][0],
                latency=sampled.latencies[label],
                pipelined=sampled.pipelined[label],
                memory=warmups[label][1],
                check=checks.get(label),
                conditions=sampled.beside.conditions_of(entry.runner, folded=entry.folded),
                work=None if entry.work is None else entry.work(),
                profile=profile_of(entry.runner, entry.code) if profiled else None,
                like=entry.like,
            )
            for label, entry in contestants.items()
        ),
        twice=contestants.baseline,
        again=sampled.again,
        rtol=plan.rtol,
        budget_ns=plan.budget_ns,
        stopped_by=sampled.stopped_by,
        environment=probe(),
        values={label: entry.runner.value for label, entry in contestants.items()},
    )
    measure = partial(take_comparison, dict(contestants.items()), check=check, profiled=profiled, clock=clock)
    measure_again = Again(measure, comparison, plan, seed)
    return replace(comparison, measure_again=measure_again)


def _first_call(label: str, entry: Entry) -> Timing:
    __tracebackhide__ = True
    try:
        return entry.runner.first_call(entry.code)
    except Exception as error:
        error.add_note(f"This was the candidate {label!r}.")
        raise


def _warm_up(runner: Runner, plan: Plan, clock: Clock) -> tuple[tuple[int, ...], Executable | None]:
    """The calls that a candidate is warmed up by, and the program that they run, if it is one.

    Of several programs the largest says nothing about all of them together.
    """
    __tracebackhide__ = True
    if runner.repeatable:
        with watch() as watched:
            warmups = warm_up(runner, plan, clock)
    else:  # what makes the arguments of each call runs programs, too
        watched = runner.call_within(watch())
        warmups = warm_up(runner, plan, clock)
    ran = [each for each in describe(watched, mapped=False) if each.ran]
    return warmups, ran[0] if len(ran) == 1 else None


def _check_outputs(contestants: Contestants, kind: CheckKind, strict: bool) -> dict[str, Check]:
    if kind == "none":
        return {}
    checks = {}
    for label, entry in contestants.items():
        like = entry.like or contestants.baseline
        if label == like or like not in contestants:
            continue
        found = replace(check_output(entry.runner.value, contestants[like].runner.value, kind), like=like)
        checks[label] = found
        if strict and not found.passed:
            what = found.problem or f"the largest error is {found.largest_error:.3g}, {found.atol:.3g} is allowed"
            where = f" at {found.leaf}" if found.leaf else ""
            raise OutputsDiffer(
                f"{label} does not compute what {like} does{where}: {what}. "
                "Nothing was timed; where outputs need not agree, leave out strict."
            )
    return checks


class _Sampled(NamedTuple):
    """All samples of a comparison, what ended them, and what went on beside them."""

    latencies: dict[str, Trial]
    pipelined: dict[str, Trial | None]
    again: Trial
    stopped_by: StoppedBy
    beside: Surroundings


def _sample(
    contestants: Contestants,
    plan: Plan,
    share: Plan,
    clock: Clock,
    order: random.Random,
    tell: Callable[[float], None] | None,
) -> _Sampled:
    __tracebackhide__ = True
    with Surroundings(clock) as beside:
        while (rounds := _rounds(contestants, plan, clock, order, tell)) is None:
            pass  # one has failed: once more, without it
        taken, again, stopped_by = rounds
        latencies = {
            label: Trial(samples_ns=tuple(taken[label]), evaluations=entry.runner.evaluations)
            for label, entry in contestants.items()
        }
        pipelined = {
            label: pipelined_trial(entry.runner, median(latencies[label].calls_ns), PIPELINED * share.budget_ns)
            for label, entry in contestants.items()
        }
    evaluations = contestants[contestants.baseline].runner.evaluations
    return _Sampled(latencies, pipelined, Trial(samples_ns=tuple(again), evaluations=evaluations), stopped_by, beside)


def _rounds(
    contestants: Contestants,
    plan: Plan,
    clock: Clock,
    order: random.Random,
    tell: Callable[[float], None] | None,
) -> tuple[dict[str, list[int]], list[int], StoppedBy] | None:
    """Rounds until the ratios are known or the budget is spent; ``None`` where a candidate has failed, and is out."""
    __tracebackhide__ = True
    baseline = contestants.baseline
    taken: dict[str, list[int]] = {label: [] for label, _ in contestants.items()}
    again: list[int] = []
    turns = [(label, entry.runner, taken[label]) for label, entry in contestants.items()]
    turns.append((baseline, contestants[baseline].runner, again))
    first = [baseline, *(label for label in taken if label != baseline)]
    looked_at = looks()
    next_look = next(looked_at)
    started_ns = told_ns = clock()
    while True:
        order.shuffle(turns)
        round_ns = clock()
        for label, runner, samples in turns:
            try:
                samples.append(runner.sample())
            except Exception as error:
                contestants.drop(label, error)
                return None
        now = clock()
        spent, count = (now - started_ns) / plan.budget_ns, len(again)
        if tell is not None and now - told_ns > _TELL_NS:
            tell(min(spent, 1.0))
            told_ns = now
        if plan.samples is not None:
            if count >= plan.samples:
                return taken, again, "count"
            continue
        if count == next_look:
            next_look = next(looked_at)
            # Samples of one candidate are all of as many calls: what that is does not change how sure a ratio is.
            if spent >= LEAST and known([taken[label] for label in first], again, plan.rtol):
                return taken, again, "precision"
        ahead = spent + (now - round_ns) / plan.budget_ns  # do not begin what does not fit
        if ahead > 1 - WARM_UP - PIPELINED and (count >= _FOR_A_VERDICT or (count >= FEWEST and ahead > 1)):
            return taken, again, "budget"
