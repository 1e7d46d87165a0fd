"""Takes rounds of one sample of every candidate, and two of the baseline, in an order that is shuffled each time.

So what one candidate leaves behind (caches, clocks, garbage) affects every other one equally often, and which of
equal candidates takes longest in a round is a matter of chance.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from ...benchmarking.capture.plan import LEAST, Plan
from ...benchmarking.capture.runner import Runner
from ...benchmarking.capture.stopping import TELL_NS
from ...benchmarking.capture.unfinished import ended_by
from ...benchmarking.capture.warmup import WarmUp, set_up_samples, warm_up
from ...benchmarking.record.in_turns import rounds_for
from ...benchmarking.record.samples import StoppedBy
from ...interrupts import interruptible
from ...progress.record import Progress
from ...runtime.clock import Clock
from ...statistics.medians import stopping_checkpoints
from ..record.verdict import family_confidence, known
from .contestants import AllFailed, Contestants

_Turn = TypeVar("_Turn")

#: From this many rounds on, it is checked now and then whether the ratios are known precisely enough.
_FIRST_CHECKPOINT = 40

#: Untimed calls of a candidate right before each of its samples, if they are short. So each sample finds the
#: candidate's own data and instructions in the caches, whichever candidate ran before.
_LEAD = 1


class _Dropped(Exception):
    """A candidate has failed, and the others continue."""


class Rounds(NamedTuple):
    """One sample of each candidate per round, and a second one of the baseline.

    Attributes:
        taken: the samples of each candidate.
        again: the second samples of the baseline.
        stopped_by: what ended the rounds.
    """

    taken: dict[str, list[int]]
    again: list[int]
    stopped_by: StoppedBy


class Turns:
    """Candidates that take turns.

    Args:
        contestants: the remaining candidates; one that fails is dropped.
        plan: the plan, with the budget for all candidates together.
        clock: the clock, in nanoseconds.
        progress: shows what is running.
        seed: the seed of the order within the rounds.

    Attributes:
        share: the plan with the budget of one candidate.
        rounds: the complete rounds, even if :meth:`take` has raised; ``None`` if there are none.
    """

    def __init__(self, contestants: Contestants, plan: Plan, *, clock: Clock, progress: Progress, seed: int) -> None:
        self.share = plan._replace(budget_ns=max(plan.budget_ns // len(contestants), 1))
        self.rounds: Rounds | None = None
        self._contestants = contestants
        self._plan = plan
        self._clock = clock
        self._progress = progress
        self._chance = random.Random(seed)
        self._warm_baseline: str | None = None
        self._again_ns: int | None = None

    def warm_up(self, firsts_ns: Mapping[str, float]) -> dict[str, WarmUp]:
        """Warm up all candidates in shuffled order; the baseline twice if its calls are long, which makes a round.

        Args:
            firsts_ns: the time of each first call without compiling.
        """
        self._progress.stage("warming up", ticking=False)
        contestants = self._contestants
        self._warm_baseline = contestants.baseline
        turns = self._shuffled([*(label for label, _ in contestants.items()), contestants.baseline])
        found: dict[str, WarmUp] = {}
        for label in turns:
            if label not in contestants or (label in found and found[label].sample_ns is None):
                continue
            try:
                warm = warm_up(contestants[label].runner, self.share, self._clock, firsts_ns[label])
            except Exception as error:
                contestants.drop(label, error)
            else:
                if label in found:
                    self._again_ns = warm.sample_ns
                found.setdefault(label, warm)
        while not self._set_up(found):
            pass  # one has failed: once more, without it
        return found

    def _set_up(self, found: Mapping[str, WarmUp]) -> bool:
        """Choose the number of calls per sample, and return whether no candidate has failed meanwhile."""
        labels = {entry.runner: label for label, entry in self._contestants.items()}

        @contextmanager
        def guard(runner: Runner) -> Iterator[None]:
            try:
                yield
            except Exception as error:
                self._contestants.drop(labels[runner], error)
                raise _Dropped from None

        runners = [(runner, found[label]) for runner, label in labels.items()]
        try:
            set_up_samples(runners, self.share, self._clock, lead=_LEAD, guard=guard)
        except _Dropped:
            return False
        return True

    def take(self, warm: Mapping[str, WarmUp]) -> Rounds:
        """Take rounds until the ratios are known, the budget is spent or the user interrupts."""
        while (found := self._take(warm)) is None:
            pass  # one has failed: once more, without it
        return found

    def _take(self, warm: Mapping[str, WarmUp]) -> Rounds | None:
        contestants, baseline = self._contestants, self._contestants.baseline
        taken: dict[str, list[int]] = {label: [] for label, _ in contestants.items()}
        again: list[int] = []
        self._keep_first_round(warm, taken, again)
        twin = contestants[baseline].runner.twin()
        turns = [(label, entry.runner, taken[label]) for label, entry in contestants.items()]
        turns.append((baseline, twin, again))
        first = [taken[baseline], *(samples for label, samples in taken.items() if label != baseline)]
        ending = _Ending(first, again, self._plan, self._progress, self._clock)
        try:
            stopped_by = self._take_turns(turns, ending)
        except BaseException as error:
            whole = min(map(len, (*first, again)))
            if not whole or isinstance(error, AllFailed):
                raise
            for samples in (*first, again):
                del samples[whole:]
            self.rounds = Rounds(taken, again, ended_by(error))
            if not isinstance(error, KeyboardInterrupt):
                raise
        else:
            self.rounds = None if stopped_by is None else Rounds(taken, again, stopped_by)
        finally:
            twin.value = None
        return self.rounds

    @interruptible
    def _take_turns(self, turns: Sequence[tuple[str, Runner, list[int]]], ending: _Ending) -> StoppedBy | None:
        """Take rounds. Return what ended them, or ``None`` if a candidate has failed and was dropped."""
        while (stopped_by := ending.reached()) is None:
            for label, runner, samples in self._shuffled(turns):
                try:
                    samples.append(runner.sample())
                except Exception as error:
                    self._contestants.drop(label, error)
                    return None
        return stopped_by

    def _keep_first_round(self, warm: Mapping[str, WarmUp], taken: dict[str, list[int]], again: list[int]) -> None:
        """Keep the last calls of the warm-up as a round, if each of them counts as a sample."""
        kept = {label: warm[label].sample_ns for label in taken}
        again_ns, self._again_ns = self._again_ns, None
        if again_ns is None or self._contestants.baseline != self._warm_baseline:
            return
        if all(sample_ns is not None for sample_ns in kept.values()):
            again.append(again_ns)
            for label, sample_ns in kept.items():
                taken[label] += [sample_ns] if sample_ns is not None else []

    def _shuffled(self, turns: Sequence[_Turn]) -> list[_Turn]:
        return self._chance.sample(turns, len(turns))


class _Ending:
    """Decides when there are enough rounds.

    Args:
        times: the samples of each candidate, the baseline first. These lists grow.
        again: the second samples of the baseline.
        plan: the plan, with the budget for all candidates together.
        progress: shows the number of rounds, and about how many there will be.
        clock: the clock, in nanoseconds.
    """

    def __init__(
        self, times: Sequence[list[int]], again: list[int], plan: Plan, progress: Progress, clock: Clock
    ) -> None:
        self._times = times
        self._again = again
        self._plan = plan
        self._progress = progress
        self._clock = clock
        self._needed = rounds_for(family_confidence(len(times) - 1))
        self._checkpoints = stopping_checkpoints(_FIRST_CHECKPOINT)
        self._next_check = next(self._checkpoints)
        progress.stage("rounds", plan.samples, ticking=False, expected_s=plan.budget_ns / 1e9)
        self._told_ns = now_ns = clock()
        self._started_ns = now_ns - sum(map(sum, (*times, again)))
        self._foretold = False

    def reached(self) -> StoppedBy | None:
        """Return why the rounds end here; ``None`` if there should be another one."""
        plan, count, now_ns = self._plan, len(self._again), self._clock()
        if count == 0:
            return None
        spent_ns = now_ns - self._started_ns
        each_ns = spent_ns / count
        if plan.samples is not None:
            self._tell(now_ns, None)
            return "count" if count >= plan.samples else None
        # Samples of one candidate are all of as many calls: what that is does not change how sure a ratio is.
        if count == self._next_check:
            self._next_check = next(self._checkpoints)
            if spent_ns >= LEAST * plan.budget_ns and known(self._times, self._again, plan.rtol):
                return "precision"
        if not plan.has_time(spent_ns, each_ns, count, self._needed):
            return "budget"
        about = max(round(plan.sampling_ns(each_ns) / max(each_ns, 1)), self._needed, count)
        self._foretell(count, each_ns)
        self._tell(now_ns, about)
        return None

    def _foretell(self, count: int, each_ns: float) -> None:
        """Show how long the rounds that a verdict needs will take, if that exceeds the budget."""
        if not self._foretold and self._needed * each_ns > self._plan.budget_ns:
            self._foretold = True
            left_s = (self._needed - count) * each_ns / 1e9
            self._progress.stage("rounds for a verdict", self._needed, ticking=False, expected_s=left_s)

    def _tell(self, now_ns: int, about: int | None) -> None:
        if now_ns - self._told_ns > TELL_NS:
            self._progress.advance(len(self._again), about)
            self._told_ns = now_ns
