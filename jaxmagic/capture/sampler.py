"""One statement measured: the first call, warm calls, samples, calls one after another, and a recording."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import NamedTuple

from ..analysis.statistics import median
from ..errors import DonatedTwice
from ..interrupts import interrupted, interruptible, uninterrupted
from ..model.benchmark import Benchmark, Conditions, StoppedBy, Trial
from ..model.device_time import DeviceTime
from ..model.progress import SILENT, Progress
from . import internals
from .clock import Clock, now_ns, timestamp
from .device_time import mark_call, take_device_time
from .environment import probe
from .pipeline import Pipelined, take_pipelined
from .plan import PIPELINED, Plan
from .runner import Runner
from .several import noticing, refuse_to_count
from .stopping import until_known
from .surroundings import Surroundings
from .warmup import WarmUp, set_up_samples, warm_up

#: Calls under the profiler: for about so long, and how many at least and at most.
_PROFILED_NS, _FEWEST_PROFILED, _MOST_PROFILED = 50_000_000, 3, 100


@uninterrupted
def take_benchmark(
    runner: Runner,
    plan: Plan,
    *,
    code: str | None = None,
    folded: bool = False,
    device: bool = False,
    progress: Progress = SILENT,
    clock: Clock = now_ns,
) -> Benchmark:
    """Measure one statement.

    An interrupt while samples are taken, or after that, ends the measurement, and what was taken is returned.

    Args:
        runner: the statement.
        plan: how long.
        code: its source, for the record.
        folded: what the caller knows of the statement, for the record.
        device: whether to run some more calls under the profiler, for the time that devices work.
        progress: is told what runs.
        clock: in nanoseconds.

    Raises:
        DonatedTwice: a call after the first met an array that an earlier one had used up.
        KeyboardInterrupt: before there was a sample.
    """
    __tracebackhide__ = True  # what the statement raises points at the statement
    started_at = timestamp()
    progress.stage("first call")
    with noticing() as spans:
        first_call = interruptible(runner.first_call)(code)
    try:
        refuse_to_count(spans(), plan)
        progress.stage("warming up", ticking=False)
        warm = interruptible(warm_up)(runner, plan, clock, first_call.wall_ns - first_call.compile_ns)
        interruptible(set_up_samples)([(runner, warm)], plan, clock)
        found = _sample(runner, plan, warm, folded, progress, clock)
        seen, stopped_by = None, found.stopped_by
        if device and stopped_by != "interrupt":
            progress.stage("recording calls")
            try:
                seen = interruptible(_profile)(runner, inf if spans() else median(found.latency.calls_ns))
            except KeyboardInterrupt:
                stopped_by = "interrupt"
    except BaseException as error:
        runner.value = None  # the traceback holds the runner, and IPython holds the traceback
        if internals.met_a_deleted_array(error):
            raise donated_twice(error) from error
        raise
    record = Benchmark(
        code=code,
        started_at=started_at,
        first_call=first_call,
        warmup_ns=warm.calls_ns,
        latency=found.latency,
        pipelined=found.pipelined.pipelined if found.pipelined else None,
        waited=found.pipelined.waited if found.pipelined else None,
        rtol=plan.rtol,
        budget_ns=plan.budget_ns,
        stopped_by=stopped_by,
        conditions=found.conditions,
        environment=probe(),
        device=seen,
        value=runner.value,
    )
    return replace(record, stopped_by="interrupt") if interrupted() else record


def _profile(runner: Runner, call_ns: float) -> DeviceTime:
    __tracebackhide__ = True
    calls = min(max(int(_PROFILED_NS / max(call_ns, 1)), _FEWEST_PROFILED), _MOST_PROFILED)
    return take_device_time(lambda: runner.call_within(mark_call()), calls)


class _Sampled(NamedTuple):
    """The samples of both kinds, what ended them, and what went on meanwhile."""

    latency: Trial
    pipelined: Pipelined | None
    stopped_by: StoppedBy
    conditions: Conditions


def _sample(runner: Runner, plan: Plan, warm: WarmUp, folded: bool, progress: Progress, clock: Clock) -> _Sampled:
    __tracebackhide__ = True
    with Surroundings(clock) as beside:
        taken, stopped_by = until_known(runner, plan, warm.sample_ns, progress, clock)
        latency = Trial(samples_ns=tuple(taken), evaluations=runner.evaluations)
        pipelined = None
        if stopped_by != "interrupt" and not plan.is_counted:
            try:
                pipelined = interruptible(take_pipelined)(
                    runner, median(latency.calls_ns), PIPELINED * plan.budget_ns
                )
            except KeyboardInterrupt:
                stopped_by = "interrupt"
    return _Sampled(latency, pipelined, stopped_by, beside.conditions_of(runner, folded=folded))


#: How a statement that donates its arguments gets others.
_FRESH = "--each 'y = x.copy()' with f(y) as the statement, or setup=lambda: (x.copy(),) in jaxmagic.benchmark()."


def donated_twice(error: BaseException, remedy: str = _FRESH) -> DonatedTwice:
    """The error to raise instead of JAX's, which becomes its cause; it names the same candidate."""
    found = DonatedTwice(
        f"A call met an array that an earlier call had used up: it was donated or deleted ({type(error).__name__}). "
        f"Make fresh copies before every sample, outside the clock: {remedy}"
    )
    for note in getattr(error, "__notes__", ()):
        if note.startswith("This was the candidate"):  # others are JAX's, about its own traceback
            found.add_note(note)
    return found
