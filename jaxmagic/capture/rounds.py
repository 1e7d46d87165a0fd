"""Candidates in turns: a comparison is taken in rounds, with every candidate once in each and the baseline twice.

The order is shuffled for each round, so that what one candidate leaves behind (caches, clocks, garbage) meets every
other one as often.
"""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from ..analysis.comparison import known
from ..analysis.statistics import looks, median
from ..errors import OutputsDiffer
from ..model.benchmark import Conditions, StoppedBy, Trial
from ..model.comparison import Candidate, Check, CheckKind, Comparison, Work
from ..model.timing import Timing
from . import internals
from .clock import Clock, now_ns, timestamp
from .compilation import CompileLog
from .environment import probe
from .load import Load
from .outputs import check_output
from .runner import Runner
from .sampler import FEWEST, LEAST, PIPELINED, WARM_UP, Plan, donated_twice, pipelined_trial, resolution, warm_up

_Found = TypeVar("_Found")

#: With fewer rounds a ratio has no interval: for these all of the budget is spent, if it has to be.
_FOR_A_VERDICT = 6

#: How often somebody is told how far it is.
_TELL_NS = 10**8


class Entry(NamedTuple):
    """A candidate that has not been measured yet.

    Attributes:
        runner: calls it.
        code: its source, for the record.
        folded: whether it is known to compute nothing at run time.
        like: the label of the one whose output it should have; the baseline's if left out.
        work: says how much a call does. It is asked when all times have been taken, because it may trace the code.
    """

    runner: Runner
    code: str | None = None
    folded: bool = False
    like: str | None = None
    work: Callable[[], Work] | None = None


#: Told of a candidate that cannot be measured, and why.
Failed = Callable[[str, Exception], None]


class AllFailed(Exception):
    """No candidate is left to be measured."""


def take_comparison(
    entries: Mapping[str, Entry],
    plan: Plan,
    *,
    baseline: str,
    check: CheckKind = "allclose",
    strict: bool = False,
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
    log = CompileLog()
    firsts: dict[str, tuple[Timing, int | None]] = {}
    warmups: dict[str, tuple[int, ...]] = {}
    try:
        entries, baseline = _of_each(entries, baseline, _first_call, firsts, failed)
        checks = _check_outputs(entries, baseline, check, strict)
        share = plan._replace(budget_ns=max(plan.budget_ns // len(entries), 1))
        entries, baseline = _of_each(
            entries, baseline, lambda _, entry: warm_up(entry.runner, share, clock), warmups, failed
        )
        gc.collect()
        threads = {thread.ident for thread in threading.enumerate()}
        load = Load()
        log.start()
        started_ns = clock()
        while True:
            try:
                taken, again, stopped_by = _rounds(entries, plan, baseline, clock, random.Random(seed), tell)
                break
            except _Failed as error:
                if failed is None or internals.met_a_deleted_array(error.cause):
                    raise error.cause from None
                failed(error.label, error.cause)
                entries, baseline = _without(entries, error.label, baseline)
        latencies = {
            label: Trial(samples_ns=tuple(taken[label]), evaluations=entry.runner.evaluations)
            for label, entry in entries.items()
        }
        pipelined = {
            label: pipelined_trial(entry.runner, median(latencies[label].calls_ns), PIPELINED * share.budget_ns)
            for label, entry in entries.items()
        }
        ended_ns = clock()
    except BaseException as error:
        for entry in entries.values():
            entry.runner.value = None  # the traceback holds the runner, and IPython holds the traceback
        if firsts and internals.met_a_deleted_array(error):
            raise donated_twice(error) from error
        raise
    finally:
        log.stop()
    compilations = log.compilations(
        start_ns=started_ns, end_ns=ended_ns, thread=threading.get_ident(), threads_before=threads
    )
    shared = {
        "resolution_ns": resolution(clock),
        "other_load": load.of_others(),
        "compilations": compilations,
    }
    comparison = Comparison(
        code=code,
        started_at=started_at,
        baseline=baseline,
        candidates=tuple(
            Candidate(
                label=label,
                code=entry.code,
                first_call=firsts[label][0],
                warmup_ns=warmups[label],
                latency=latencies[label],
                pipelined=pipelined[label],
                memory_bytes=firsts[label][1],
                check=checks.get(label),
                conditions=_conditions(entry, shared),
                work=None if entry.work is None else entry.work(),
                like=entry.like,
            )
            for label, entry in entries.items()
        ),
        twice=baseline,
        again=Trial(samples_ns=tuple(again), evaluations=entries[baseline].runner.evaluations),
        rtol=plan.rtol,
        budget_ns=plan.budget_ns,
        stopped_by=stopped_by,
        environment=probe(),
        values={label: entry.runner.value for label, entry in entries.items()},
    )
    measure_again = Again(comparison.without_values(), entries, plan, check, clock, seed)
    return replace(comparison, measure_again=measure_again)


class Again:
    """Takes new samples of the candidates of a record; what its first calls told stays.

    It holds what it calls, so it goes no further than the record: a copy of the record shares it, and a pickled one
    has none.
    """

    def __init__(
        self,
        before: Comparison,
        entries: Mapping[str, Entry],
        plan: Plan,
        check: CheckKind,
        clock: Clock,
        seed: int,
    ) -> None:
        self._before = before
        self._entries = entries
        self._plan = plan
        self._check: CheckKind = check
        self._clock = clock
        self._seed = seed

    def __call__(self, budget_s: float, tell: Callable[[float], None] | None = None) -> Comparison:
        """Measure once more.

        Args:
            budget_s: how long, in seconds.
            tell: told which share of that is spent.

        Raises:
            ValueError: the budget is not positive.
        """
        if not 0 < budget_s < float("inf"):
            raise ValueError(f"the budget has to be a positive number of seconds; found {budget_s!r}")
        self._seed += 1
        found = take_comparison(
            self._entries,
            self._plan._replace(budget_ns=max(round(budget_s * 1e9), 1), samples=None),
            baseline=self._before.baseline,
            check=self._check,
            code=self._before.code,
            tell=tell,
            clock=self._clock,
            seed=self._seed,
        )
        return replace(found, candidates=tuple(map(self._with_first_call, found.candidates)), measure_again=self)

    def _with_first_call(self, new: Candidate) -> Candidate:
        """A candidate with its true first call, unless its names mean something else by now: it compiled again."""
        if new.first_call.compilations:
            return new
        old = self._before.candidate(new.label)
        return replace(new, first_call=old.first_call, memory_bytes=old.memory_bytes)

    def __deepcopy__(self, memo: object) -> Again:
        return self

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _nothing, ()


def _nothing() -> None:
    """What is left of :class:`Again` in a pickle."""


def _of_each(
    entries: Mapping[str, Entry],
    baseline: str,
    measure: Callable[[str, Entry], _Found],
    found: dict[str, _Found],
    failed: Failed | None,
) -> tuple[Mapping[str, Entry], str]:
    """Put what `measure` finds of each candidate into `found`.

    Returns:
        The candidates that did not raise, if somebody wants to be told of those that do; and what is their baseline.
    """
    __tracebackhide__ = True
    for label, entry in entries.items():
        try:
            found[label] = measure(label, entry)
        except Exception as error:
            if failed is None or internals.met_a_deleted_array(error):
                raise
            failed(label, error)
    for label in set(entries) - set(found):
        entries, baseline = _without(entries, label, baseline)
    return entries, baseline


def _without(entries: Mapping[str, Entry], label: str, baseline: str) -> tuple[Mapping[str, Entry], str]:
    """The candidates but for one that failed, and which of them is the baseline."""
    entries[label].runner.value = None
    left = {other: entry for other, entry in entries.items() if other != label}
    if not left:
        raise AllFailed
    return left, baseline if baseline in left else next(iter(left))


class _Failed(Exception):
    """A candidate raised in a round."""

    def __init__(self, label: str, cause: Exception) -> None:
        super().__init__(label)
        self.label = label
        self.cause = cause


def _first_call(label: str, entry: Entry) -> tuple[Timing, int | None]:
    """The first call of a candidate, and the memory that its programs want."""
    __tracebackhide__ = True
    before = internals.executables()
    try:
        timing = entry.runner.first_call(entry.code)
    except Exception as error:
        error.add_note(f"This was the candidate {label!r}.")
        raise
    # Of several programs the largest says nothing about all of them together.
    whole = sum(each.compiled and not each.eager for each in timing.compilations) == 1
    return timing, internals.memory_requirement(internals.executables(), but=before) if whole else None


def _check_outputs(entries: Mapping[str, Entry], baseline: str, kind: CheckKind, strict: bool) -> dict[str, Check]:
    if kind == "none":
        return {}
    checks = {}
    for label, entry in entries.items():
        like = entry.like or baseline
        if label == like or like not in entries:
            continue
        found = replace(check_output(entry.runner.value, entries[like].runner.value, kind), like=like)
        checks[label] = found
        if strict and not found.passed:
            what = found.problem or f"the largest error is {found.largest_error:.3g}, {found.atol:.3g} is allowed"
            where = f" at {found.leaf}" if found.leaf else ""
            raise OutputsDiffer(
                f"{label} does not compute what {like} does{where}: {what}. "
                "Nothing was timed; without --strict it is."
            )
    return checks


def _rounds(
    entries: Mapping[str, Entry],
    plan: Plan,
    baseline: str,
    clock: Clock,
    order: random.Random,
    tell: Callable[[float], None] | None,
) -> tuple[dict[str, list[int]], list[int], StoppedBy]:
    """Rounds until the ratios are known or the budget is spent."""
    __tracebackhide__ = True
    taken: dict[str, list[int]] = {label: [] for label in entries}
    again: list[int] = []
    turns = [(label, entry.runner, taken[label]) for label, entry in entries.items()]
    turns.append((baseline, entries[baseline].runner, again))
    first = [baseline, *(label for label in entries if label != baseline)]
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
                raise _Failed(label, error) from error
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


def _conditions(entry: Entry, shared: dict[str, Any]) -> Conditions:
    runner = entry.runner
    return Conditions(
        overhead_ns=runner.overhead_ns(),
        fresh=not runner.repeatable,
        fenced=runner.fenced,
        collected=runner.collected,
        collection_ns=runner.collection_ns,
        folded=entry.folded,
        **shared,
    )
