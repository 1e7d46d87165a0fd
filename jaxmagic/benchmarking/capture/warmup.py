"""From the first call to the first sample: what compiles late, what gets faster, and how many calls a sample has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import ceil, inf
from typing import NamedTuple

from ...compilation.capture.compile_log import CompileLog
from ...runtime.clock import Clock, resolution
from ...statistics.medians import median
from ...statistics.trend import is_steady
from .plan import LEAST, LEAST_WARM_UP, WARM_UP, Plan
from .runner import Runner

#: A sample lasts so many steps of the clock, so that it is rounded by less than half a percent.
_STEPS = 200

#: In the first tenth of the budget no more samples than these are taken: calls between them are not timed.
_MOST_SAMPLES = 2000

#: What shorter calls find in the processor's caches matters to their time.
_SHORT_NS = 1_000_000

#: With fewer calls, what a call takes may be what one of them was kept waiting.
_FEWEST = 3

#: Candidates whose calls take up to so many times as long as the shortest ones have as many calls before each sample.
_ALIKE = 30

#: A sample takes no more than this share of the budget, however short the calls of other candidates are.
_LONGEST_SAMPLE = 0.01


class WarmUp(NamedTuple):
    """The calls between the first one and the samples.

    Attributes:
        calls_ns: of those that are no samples.
        sample_ns: the last call, where it is as good as a sample: it compiled nothing, and lasts long.
        first_ns: what the first call took beside compiling.
    """

    calls_ns: tuple[int, ...]
    sample_ns: int | None
    first_ns: float

    @property
    def call_ns(self) -> float:
        """About how long a call takes, although any single one may have been kept waiting."""
        late = self.calls_ns[len(self.calls_ns) // 2 :] if self.sample_ns is None else [self.sample_ns]
        return min(median(late), self.first_ns)


def warm_up(runner: Runner, plan: Plan, clock: Clock, first_ns: float = inf) -> WarmUp:
    """Call until a call compiles nothing and calls get no faster, and decide how samples have to end.

    A call that lasts long needs no others before it, nor does any where the plan says how many there are to be. The
    first call has to have lasted long as well: else it was the machine that kept a short one waiting.

    Args:
        runner: of the statement.
        plan: how long to sample.
        clock: in nanoseconds.
        first_ns: what the first call took beside compiling.
    """
    import scipy.special  # noqa: F401  # here, or the first check of an interval would spend half a second of the budget

    calls: list[tuple[int, int]] = []
    log = CompileLog()
    log.start()
    try:
        began_ns = clock()
        while True:
            heard = len(log.spans)
            calls.append(runner.single_call())
            compiled = len(log.spans) > heard
            is_long = plan.is_long(min(calls[-1][0], first_ns))
            counts = not compiled and (plan.is_counted or is_long)
            spent = (clock() - began_ns) / plan.budget_ns
            warm = not compiled and spent > LEAST_WARM_UP and is_steady([each for each, _ in calls])
            enough = spent > WARM_UP and (len(calls) >= _FEWEST or plan.is_long(first_ns))
            if counts or warm or enough:
                break
    finally:
        log.stop()
    if not counts or plan.evaluations not in (None, 1):
        runner.fenced = runner.leaves_work_behind(calls[len(calls) // 2 :])
        return WarmUp(tuple(each for each, _ in calls), None, first_ns)
    *before, last = calls
    runner.fenced = runner.leaves_work_behind([last])
    whole_ns, rest_ns = last
    return WarmUp(tuple(each for each, _ in before), whole_ns if runner.fenced else whole_ns - rest_ns, first_ns)


def set_up_samples(
    warm: Sequence[tuple[Runner, WarmUp]],
    plan: Plan,
    clock: Clock,
    *,
    lead: int = 0,
    guard: Callable[[Runner], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Decide of how many calls samples are, and how many calls go before each.

    The mean of several calls has another median than a single call, because noise is skewed. So a sample is one call
    wherever the clock allows it, and what is compared is of as many calls on all sides. Where calls of one candidate
    last thousands of times as long as those of another, its samples are of as many calls as fit.

    Args:
        warm: the runners that are compared, or a single one, with their warm-ups.
        plan: with the budget of one of them.
        clock: that times them.
        lead: calls right before each sample, at least, where calls are short.
        guard: makes a context for the calls of a runner, which meets what they raise.
    """
    runners = [runner for runner, _ in warm]
    if plan.evaluations is not None:
        for runner in runners:
            runner.evaluations = plan.evaluations
    elif all(runner.repeatable for runner in runners):
        least_ns = _STEPS * resolution(clock)
        calls_ns = []
        for runner, each in warm:
            with guard(runner):
                calls_ns.append(_fill(runner, each.call_ns, least_ns))
        most = max(runner.evaluations for runner in runners)
        for runner, call_ns in zip(runners, calls_ns, strict=True):
            fits = int(_LONGEST_SAMPLE * plan.budget_ns / max(call_ns, 1))
            runner.evaluations = max(min(most, fits), runner.evaluations)
    shortest_ns = min(each.call_ns for _, each in warm)
    if plan.samples is None and all(runner.repeatable for runner in runners) and not plan.is_long(shortest_ns):
        alike = [(runner, each.call_ns) for runner, each in warm if each.call_ns < _ALIKE * shortest_ns]
        spacing_ns = LEAST * plan.budget_ns / _MOST_SAMPLES
        apart = int(spacing_ns * len(alike) / max(sum(call_ns for _, call_ns in alike), 1)) - runners[0].evaluations
        common = max(apart, lead if shortest_ns < _SHORT_NS else 0)
        for runner, _ in alike:  # as many for all: what goes before a call changes what it takes
            runner.lead = common


def _fill(runner: Runner, call_ns: float, least_ns: float) -> float:
    """Let samples be of as many calls as last that long; what a call takes then."""
    if call_ns >= 2 * least_ns:
        return call_ns
    took_ns = 1.0
    for _ in range(3):  # a call takes less in a loop than alone
        took_ns = max(runner.waited_sample(runner.evaluations), least_ns / 100)
        runner.evaluations = ceil(runner.evaluations * least_ns / took_ns)
    return least_ns / runner.evaluations
