"""Warms up between the first call and the first sample, and decides how many calls a sample has."""

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

#: A sample lasts at least this many clock ticks, so that rounding is less than half a percent.
_STEPS = 200

#: At most this many samples are taken in the first tenth of the budget; untimed calls between them fill the rest.
_MOST_SAMPLES = 2000

#: The contents of the CPU caches affect the time of calls that are shorter than this.
_SHORT_NS = 1_000_000

#: With fewer calls, their time may be dominated by a delay of one of them.
_FEWEST = 3

#: Candidates with calls less than this many times as long as the shortest get equally many calls before samples.
_ALIKE = 30

#: The largest share of the budget that a sample takes, however short the calls of other candidates are.
_LONGEST_SAMPLE = 0.01


class WarmUp(NamedTuple):
    """The calls between the first one and the samples.

    Attributes:
        calls_ns: the time of each call that does not count as a sample.
        sample_ns: the time of the last call if it counts as a sample, because it is long and compiled nothing.
        first_ns: the time of the first call without compiling.
    """

    calls_ns: tuple[int, ...]
    sample_ns: int | None
    first_ns: float

    @property
    def call_ns(self) -> float:
        """About how long a call takes, even if a single one was delayed."""
        late = self.calls_ns[len(self.calls_ns) // 2 :] if self.sample_ns is None else [self.sample_ns]
        return min(median(late), self.first_ns)


def warm_up(runner: Runner, plan: Plan, clock: Clock, first_ns: float = inf) -> WarmUp:
    """Call until calls compile nothing and get no faster, and decide whether a fence has to end samples.

    One call that compiles nothing is enough if it is long, or if the plan fixes the number of calls. A call counts as
    long only if the first one was long as well; otherwise the machine may have delayed a short call.

    Args:
        runner: the runner of the statement.
        plan: how long to sample.
        clock: the clock, in nanoseconds.
        first_ns: the time of the first call without compiling.
    """
    import scipy.special  # noqa: F401  # else the first check of an interval takes half a second of the budget

    calls: list[tuple[int, int]] = []
    log = CompileLog()
    log.start()
    try:
        began_ns = clock()
        while True:
            spans_before = len(log.spans)
            calls.append(runner.single_call())
            compiled = len(log.spans) > spans_before
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
    """Choose the number of calls per sample, and the number of untimed calls before each sample.

    Noise is skewed, so the mean of several calls has a different median than a single call. Therefore a sample is one
    call wherever the clock allows it, and all candidates have the same number of calls per sample. If one candidate's
    calls last thousands of times as long as another's, its samples have as many calls as fit.

    Args:
        warm: the runners to compare, or a single one, with their warm-ups.
        plan: the plan, with the budget of one runner.
        clock: the clock that times them.
        lead: the least number of calls right before each sample, where calls are short.
        guard: makes a context for the calls of a runner, which handles their exceptions.
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
        for runner, _ in alike:  # equally many for all, because earlier calls change the time of a call
            runner.lead = common


def _fill(runner: Runner, call_ns: float, least_ns: float) -> float:
    """Choose the number of calls so that a sample lasts `least_ns`, and return the time of a call then."""
    if call_ns >= 2 * least_ns:
        return call_ns
    took_ns = 1.0
    for _ in range(3):  # a call takes less in a loop than alone
        took_ns = max(runner.waited_sample(runner.evaluations), least_ns / 100)
        runner.evaluations = ceil(runner.evaluations * least_ns / took_ns)
    return least_ns / runner.evaluations
