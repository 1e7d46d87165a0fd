"""Takes samples until the median is known precisely enough, or the budget is spent."""

from __future__ import annotations

from ...interrupts import interruptible
from ...progress.record import Progress
from ...runtime.clock import Clock
from ...statistics.medians import median_interval, stopping_checkpoints
from ..record.samples import StoppedBy
from .plan import LEAST, Plan
from .runner import Runner

#: The number of samples that an interval needs.
_FOR_AN_INTERVAL = 6

#: How often progress is reported.
TELL_NS = 10**8


@interruptible
def until_known(taken: list[int], runner: Runner, plan: Plan, progress: Progress, clock: Clock) -> StoppedBy:
    """Add samples to `taken` until one of the plan's conditions is met, and return which one."""
    checkpoints = stopping_checkpoints()
    next_check = next(checkpoints)
    progress.stage("samples", plan.samples, ticking=False, expected_s=plan.budget_ns / 1e9)
    told_ns = clock()
    started_ns = told_ns - sum(taken)
    while True:
        now_ns = clock()
        spent_ns, count = now_ns - started_ns, len(taken)
        about = None
        if plan.samples is not None:
            if count >= plan.samples:
                return "count"
        elif count:
            each_ns = spent_ns / count
            about = max(round(plan.sampling_ns(each_ns) / max(each_ns, 1)), count + 1)
            if count == next_check:
                next_check = next(checkpoints)
                estimate = median_interval(taken)
                if spent_ns >= LEAST * plan.budget_ns and estimate and estimate.relative_width <= plan.rtol:
                    return "precision"
            if not plan.has_time(spent_ns, each_ns, count, _FOR_AN_INTERVAL):
                return "budget"
        if count and now_ns - told_ns > TELL_NS:
            progress.advance(count, about)
            told_ns = now_ns
        taken.append(runner.sample())
