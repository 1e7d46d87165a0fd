"""One statement measured: the first call, warm calls, samples, calls one after another, and a recording."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf

from ...errors import DonatedTwice, JaxMagicError
from ...interrupts import interrupted, interruptible, uninterrupted
from ...progress.record import SILENT, Progress
from ...runtime import jax_errors
from ...runtime.clock import Clock, now_ns, timestamp
from ...runtime.environment import probe
from ...runtime.several import noticing, refuse_to_count
from ...statistics.medians import median
from ..record.benchmark import Benchmark
from ..record.device_time import DeviceTime
from ..record.samples import StoppedBy, Trial
from .conditions import Surroundings
from .device_time import mark_call, take_device_time
from .pipeline import Pipelined, take_pipelined
from .plan import PIPELINED, Plan
from .runner import Runner
from .stopping import until_known
from .unfinished import Unfinished, ended_by, forgotten
from .warmup import set_up_samples, warm_up

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
    unfinished: Unfinished = forgotten,
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
        unfinished: gets what was taken before something was raised: a benchmark, or the timing of the first call.

    Raises:
        DonatedTwice: a call after the first met an array that an earlier one had used up.
        KeyboardInterrupt: before there was a sample.
    """
    __tracebackhide__ = True  # what the statement raises points at the statement
    started_at = timestamp()
    progress.stage("first call")
    with noticing() as spans:
        first_call = interruptible(runner.first_call)(code, unfinished)
    found = _Found()

    def record(error: BaseException | None = None) -> Benchmark:
        return Benchmark(
            code=code,
            started_at=started_at,
            first_call=first_call,
            warmup_ns=found.warmup_ns,
            latency=found.latency(runner),
            pipelined=found.pipelined.pipelined if found.pipelined else None,
            waited=found.pipelined.waited if found.pipelined else None,
            rtol=plan.rtol,
            budget_ns=plan.budget_ns,
            stopped_by=found.stopped_by if error is None else ended_by(error),
            conditions=found.beside.conditions_of(runner, folded=folded),
            environment=probe(),
            error=None if error is None else type(error).__name__,
            device=found.device,
            value=runner.value,
        )

    try:
        refuse_to_count(spans(), counted=plan.is_counted)
        progress.stage("warming up", ticking=False)
        warm = interruptible(warm_up)(runner, plan, clock, first_call.wall_ns - first_call.compile_ns)
        interruptible(set_up_samples)([(runner, warm)], plan, clock)
        found.warmup_ns = warm.calls_ns
        with Surroundings(clock) as found.beside:
            found.samples_ns += [] if warm.sample_ns is None else [warm.sample_ns]
            found.stopped_by = until_known(found.samples_ns, runner, plan, progress, clock)
            call_ns = median(found.latency(runner).calls_ns)
            if not plan.is_counted:
                found.pipelined = interruptible(take_pipelined)(runner, call_ns, PIPELINED * plan.budget_ns)
        if device:
            progress.stage("recording calls")
            found.device = interruptible(_profile)(runner, inf if spans() else call_ns)
    except KeyboardInterrupt:
        if not found.samples_ns:
            unfinished(first_call)
            raise
        found.stopped_by = "interrupt"
    except BaseException as error:
        runner.value = None  # the traceback holds the runner, and IPython holds the traceback
        if found.samples_ns or not isinstance(error, JaxMagicError):
            unfinished(record(error) if found.samples_ns else first_call)
        if jax_errors.met_a_deleted_array(error):
            raise donated_twice(error) from error
        raise
    benchmark = record()
    return replace(benchmark, stopped_by="interrupt") if interrupted() else benchmark


@dataclass
class _Found:
    """What has been taken so far."""

    warmup_ns: tuple[int, ...] = ()
    samples_ns: list[int] = field(default_factory=list)
    stopped_by: StoppedBy = "budget"
    pipelined: Pipelined | None = None
    device: DeviceTime | None = None
    beside: Surroundings = field(init=False)

    def latency(self, runner: Runner) -> Trial:
        return Trial(samples_ns=tuple(self.samples_ns), evaluations=runner.evaluations)


def _profile(runner: Runner, call_ns: float) -> DeviceTime:
    calls = min(max(int(_PROFILED_NS / max(call_ns, 1)), _FEWEST_PROFILED), _MOST_PROFILED)
    return take_device_time(lambda: runner.call_within(mark_call()), calls)


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
