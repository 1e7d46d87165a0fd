"""Measures one statement: its first call, warm-up, samples, pipelined calls and a short profile."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf

from ...errors import DonatedTwice
from ...interrupts import interrupted, interruptible, uninterrupted
from ...progress.record import SILENT, Progress
from ...runtime import jax_errors
from ...runtime.clock import Clock, now_ns, timestamp
from ...runtime.environment import probe
from ...runtime.several import noticing, refuse_to_count
from ...statistics.medians import median
from ..record.benchmark import Benchmark
from ..record.device_time import DeviceTime
from ..record.samples import PIPELINED, StoppedBy, Trial
from .conditions import Surroundings
from .device_time import mark_call, take_device_time
from .pipeline import Pipelined, take_pipelined
from .plan import Plan
from .runner import Runner
from .stopping import until_known
from .unfinished import Unfinished, ended_by, forgotten
from .warmup import set_up_samples, warm_up

#: Calls under the profiler: for about how long, and at least and at most how many.
_PROFILED_NS, _FEWEST_PROFILED, _MOST_PROFILED = 50_000_000, 3, 100


@uninterrupted
def take_benchmark(
    runner: Runner,
    plan: Plan,
    *,
    evaluations: int | None = None,
    code: str | None = None,
    folded: bool = False,
    device: bool = False,
    progress: Progress = SILENT,
    clock: Clock = now_ns,
    unfinished: Unfinished = forgotten,
) -> Benchmark:
    """Measure one statement.

    An interrupt during or after sampling ends the measurement, and the samples taken so far are returned.

    Args:
        runner: the statement.
        plan: how long to measure.
        evaluations: calls per sample, as an earlier process has chosen them; the user did not fix them.
        code: its source, for the record.
        folded: see :attr:`Conditions.folded`, for the record.
        device: whether to run some more calls under the profiler to measure device time.
        progress: shows what is running.
        clock: the clock, in nanoseconds.
        unfinished: receives what was taken before an exception: a benchmark; or the timing of the first call, if an
            interrupt or an exit came before there was a sample.

    Raises:
        DonatedTwice: a call after the first used an array that an earlier call had donated or deleted.
        KeyboardInterrupt: interrupted before there was a sample.
    """
    __tracebackhide__ = True  # the traceback of the statement's exception ends at the statement
    started_at = timestamp()
    progress.stage("first call")
    with noticing() as spans:
        first_call = interruptible(runner.first_call)(code, unfinished)
    inputs = runner.inputs
    taken = _Taken()

    def record(error: BaseException | None = None) -> Benchmark:
        return Benchmark(
            code=code,
            started_at=started_at,
            first_call=first_call,
            warmup_ns=taken.warmup_ns,
            latency=taken.latency(runner),
            pipelined=taken.pipelined.pipelined if taken.pipelined else None,
            waited=taken.pipelined.waited if taken.pipelined else None,
            rtol=plan.rtol,
            budget_ns=plan.budget_ns,
            stopped_by=taken.stopped_by if error is None else ended_by(error),
            conditions=taken.surroundings.conditions_of(runner, folded=folded),
            environment=probe(),
            error=None if error is None else type(error).__name__,
            device=taken.device,
            inputs=inputs,
            value=runner.value,
        )

    try:
        refuse_to_count(spans(), counted=plan.is_counted)
        progress.stage("warming up", ticking=False)
        alike = plan._replace(evaluations=plan.evaluations or evaluations)
        uncounted = alike._replace(samples=None)  # to warm up as the process that has chosen them
        first_ns = first_call.wall_ns - first_call.compile_ns
        warm = interruptible(warm_up)(runner, plan if plan.is_counted else uncounted, clock, first_ns)
        interruptible(set_up_samples)([(runner, warm)], alike, clock)
        taken.warmup_ns = warm.calls_ns
        with Surroundings(clock) as taken.surroundings:
            taken.samples_ns += [] if warm.sample_ns is None else [warm.sample_ns]
            taken.stopped_by = until_known(taken.samples_ns, runner, plan, progress, clock)
            call_ns = median(taken.latency(runner).calls_ns)
            if not plan.is_counted:
                taken.pipelined = interruptible(take_pipelined)(runner, call_ns, PIPELINED * plan.budget_ns)
        if device:
            progress.stage("profiling calls")
            taken.device = interruptible(_profile)(runner, inf if spans() else call_ns)
    except KeyboardInterrupt:
        if not taken.samples_ns:
            unfinished(first_call)
            raise
        taken.stopped_by = "interrupt"
    except BaseException as error:
        runner.value = None  # the traceback holds the runner, and IPython holds the traceback
        if taken.samples_ns:
            unfinished(record(error))
        elif not isinstance(error, Exception):
            unfinished(first_call)
        if jax_errors.met_a_deleted_array(error):
            raise donated_twice(error) from error
        raise
    benchmark = record()
    return replace(benchmark, stopped_by="interrupt") if interrupted() else benchmark


@dataclass
class _Taken:
    """Everything that has been measured so far, after the first call."""

    warmup_ns: tuple[int, ...] = ()
    samples_ns: list[int] = field(default_factory=list)
    stopped_by: StoppedBy = "budget"
    pipelined: Pipelined | None = None
    device: DeviceTime | None = None
    surroundings: Surroundings = field(init=False)

    def latency(self, runner: Runner) -> Trial:
        return Trial(samples_ns=tuple(self.samples_ns), evaluations=runner.evaluations)


def _profile(runner: Runner, call_ns: float) -> DeviceTime:
    calls = min(max(int(_PROFILED_NS / max(call_ns, 1)), _FEWEST_PROFILED), _MOST_PROFILED)
    return take_device_time(lambda: runner.call_within(mark_call()), calls)


#: How to give a statement that donates its arguments fresh ones.
_FRESH = "--each 'y = x.copy()' with f(y) as the statement, or setup=lambda: (x.copy(),) in jaxmagic.benchmark()."


def donated_twice(error: BaseException, remedy: str = _FRESH) -> DonatedTwice:
    """Return the error to raise instead of JAX's, which becomes its cause. It names the same candidate."""
    donated = DonatedTwice(
        f"An earlier call donated or deleted an array that a later call needs ({type(error).__name__}). "
        f"Make fresh copies before every sample, outside the timed region: {remedy} Create x again first if "
        "x.is_deleted()."
    )
    for note in getattr(error, "__notes__", ()):
        if note.startswith("This was the candidate"):  # other notes are JAX's, about its own traceback
            donated.add_note(note)
    return donated
