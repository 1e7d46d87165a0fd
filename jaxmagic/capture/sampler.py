"""Sampling until the median is known well enough, or the budget is spent."""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

from ..analysis.statistics import is_steady, looks, median, median_interval
from ..errors import DonatedTwice
from ..model.benchmark import Benchmark, Conditions, StoppedBy, Trial
from ..model.device_time import DeviceTime
from . import internals
from .clock import Clock, now_ns, resolution, timestamp
from .compilation import CompileLog
from .device_time import mark_call, take_device_time
from .environment import probe
from .results import find_arrays
from .runner import Runner
from .surroundings import Surroundings

#: What part of the budget is for what, at most; the rest is for the latency.
WARM_UP, PIPELINED = 0.15, 0.2

#: And at least: noise that changes slowly is not seen in a moment.
LEAST_WARM_UP, LEAST = 0.01, 0.1

#: Within that least part no more samples than these are taken: a sample becomes several calls instead.
_MOST_SAMPLES = 1000

#: A sample lasts so many steps of the clock, so that it is rounded by less than half a percent.
_STEPS = 200

#: Without these many samples there is no median to speak of, whatever the budget.
FEWEST = 3

#: Batches of pipelined calls, and how many calls of how many bytes may be in flight in one.
_FEWEST_BATCHES, _BATCHES, _MOST_CALLS, _MOST_IN_FLIGHT_BYTES = 3, 7, 100, 2**30


#: Calls under the profiler: for about so long, and how many at least and at most.
_PROFILED_NS, _FEWEST_PROFILED, _MOST_PROFILED = 50_000_000, 3, 100


class Plan(NamedTuple):
    """How long to sample.

    Attributes:
        rtol: stop when the interval of the median reaches no farther than this share of it to either side.
        budget_ns: or when this long has been sampled, the first call aside.
        samples: take exactly so many instead.
        evaluations: calls in a sample; chosen by the length of a call if left out.
    """

    rtol: float = 0.01
    budget_ns: int = 10**9
    samples: int | None = None
    evaluations: int | None = None


def default_budget_ns(candidates: int, points: int | None = None) -> int:
    """How long a comparison of so many candidates may take where nobody says: a second for each.

    Args:
        candidates: how many.
        points: of a sweep, where it is half a second for each candidate and point.
    """
    return candidates * 10**9 if points is None else candidates * points * 10**9 // 2


def take_benchmark(
    runner: Runner,
    plan: Plan,
    *,
    code: str | None = None,
    folded: bool = False,
    device: bool = False,
    clock: Clock = now_ns,
) -> Benchmark:
    """Measure one statement.

    Args:
        runner: the statement.
        plan: how long.
        code: its source, for the record.
        folded: what the caller knows of the statement, for the record.
        device: whether to run some more calls under the profiler, for the time that devices work.
        clock: in nanoseconds.

    Raises:
        DonatedTwice: a call after the first met an array that an earlier one had used up.
    """
    __tracebackhide__ = True  # what the statement raises points at the statement
    started_at = timestamp()
    first_call = runner.first_call(code)
    try:
        warmup_ns = warm_up(runner, plan, clock)
        latency, pipelined, stopped_by, conditions = _sample(runner, plan, folded, clock)
        seen = _profile(runner, median(latency.calls_ns)) if device else None
    except BaseException as error:
        runner.value = None  # the traceback holds the runner, and IPython holds the traceback
        if internals.met_a_deleted_array(error):
            raise donated_twice(error) from error
        raise
    return Benchmark(
        code=code,
        started_at=started_at,
        first_call=first_call,
        warmup_ns=warmup_ns,
        latency=latency,
        pipelined=pipelined,
        rtol=plan.rtol,
        budget_ns=plan.budget_ns,
        stopped_by=stopped_by,
        conditions=conditions,
        environment=probe(),
        device=seen,
        value=runner.value,
    )


def warm_up(runner: Runner, plan: Plan, clock: Clock) -> tuple[int, ...]:
    """Call until a call compiles nothing and calls get no faster, and set the runner up by what they took."""
    __tracebackhide__ = True
    calls: list[tuple[int, int]] = []
    log = CompileLog()
    log.start()
    try:
        began_ns = clock()
        while True:
            heard = len(log.spans)
            calls.append(runner.single_call())
            spent = (clock() - began_ns) / plan.budget_ns
            warm = len(log.spans) == heard and is_steady([each for each, _ in calls])
            if spent > WARM_UP or (warm and spent > LEAST_WARM_UP):
                break
    finally:
        log.stop()
    late = calls[len(calls) // 2 :]
    runner.fenced = runner.leaves_work_behind(late)
    if plan.evaluations is not None:
        runner.evaluations = plan.evaluations
    elif runner.repeatable:
        least_ns = max(_STEPS * resolution(clock), LEAST * plan.budget_ns / _MOST_SAMPLES)
        for _ in range(3):  # a call takes less in a loop than alone
            runner.evaluations = ceil(runner.evaluations * least_ns / max(runner.sample(), least_ns / 100))
    return tuple(each for each, _ in calls)


def _profile(runner: Runner, call_ns: float) -> DeviceTime:
    __tracebackhide__ = True
    calls = min(max(int(_PROFILED_NS / max(call_ns, 1)), _FEWEST_PROFILED), _MOST_PROFILED)
    return take_device_time(lambda: runner.call_within(mark_call()), calls)


def _sample(
    runner: Runner, plan: Plan, folded: bool, clock: Clock
) -> tuple[Trial, Trial | None, StoppedBy, Conditions]:
    """The samples of both kinds, what ended them, and what went on meanwhile."""
    __tracebackhide__ = True
    with Surroundings(clock) as beside:
        taken, stopped_by = _until_known(runner, plan, clock)
        latency = Trial(samples_ns=tuple(taken), evaluations=runner.evaluations)
        pipelined = pipelined_trial(runner, median(latency.calls_ns), PIPELINED * plan.budget_ns)
    return latency, pipelined, stopped_by, beside.conditions_of(runner, folded=folded)


def _until_known(runner: Runner, plan: Plan, clock: Clock) -> tuple[list[int], StoppedBy]:
    """Samples until one of the plan's conditions holds, and which one it was."""
    __tracebackhide__ = True
    taken: list[int] = []
    looked_at = looks()
    next_look = next(looked_at)
    started_ns = clock()
    while True:
        taken.append(runner.sample())
        spent = (clock() - started_ns) / plan.budget_ns
        if plan.samples is not None:
            if len(taken) >= plan.samples:
                return taken, "count"
            continue
        if len(taken) == next_look:
            next_look = next(looked_at)
            estimate = median_interval(taken)
            if spent >= LEAST and estimate is not None and estimate.relative_width <= plan.rtol:
                return taken, "precision"
        ahead = spent + taken[-1] / plan.budget_ns  # do not begin what does not fit
        if ahead > 1 - WARM_UP - PIPELINED and len(taken) >= FEWEST:
            return taken, "budget"


def pipelined_trial(runner: Runner, call_ns: float, budget_ns: float) -> Trial | None:
    """Batches of calls with one wait, as many as fit; ``None`` where too few do, and where that is not safe."""
    if not runner.repeatable or _may_block_each_other(runner.value):
        return None
    calls = min(int(budget_ns / _BATCHES / max(call_ns, 1)), _MOST_CALLS, _fit_in_flight(runner.value))
    calls = max(calls, 2)
    batches = min(int(budget_ns / (calls * max(call_ns, 1))), _BATCHES)
    if batches < _FEWEST_BATCHES:
        return None
    return Trial(samples_ns=tuple(runner.pipelined_sample(calls) for _ in range(batches)), evaluations=calls)


def _may_block_each_other(value: Any) -> bool:
    """Whether calls that are in flight together may wait for each other without end.

    Several devices of one CPU share its threads: those of one call may be waiting for devices whose threads wait for
    those of another one, and after 40 s XLA ends the process (seen with JAX 0.10.2, four devices and two processors).
    """
    shardings = (getattr(array, "sharding", None) for array in find_arrays(value).arrays)
    places = [sharding.device_set for sharding in shardings if sharding is not None]
    return any(len(each) > 1 and all(device.platform == "cpu" for device in each) for each in places)


def _fit_in_flight(value: Any) -> int:
    size_bytes = sum(array.nbytes for array in find_arrays(value).arrays)
    return _MOST_IN_FLIGHT_BYTES // max(size_bytes, 1)


def donated_twice(error: BaseException) -> DonatedTwice:
    """What to say instead of JAX's error, which is its cause."""
    return DonatedTwice(
        f"A call met an array that an earlier call had used up: it was donated or deleted ({type(error).__name__}). "
        "Make fresh copies before every sample, outside the clock: --each 'y = x.copy()' with f(y) as the statement, "
        "or setup=lambda: (x.copy(),) in jaxmagic.benchmark()."
    )
