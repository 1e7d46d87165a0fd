"""Divides the time in which the device was idle among what the host did, so that no two rules claim the same time."""

from __future__ import annotations

from typing import NamedTuple

from ....profiling.record.profile import Profile
from ....records.note import Note, note
from ....timing.record import Timing
from ...record.evidence import WAITING_JIT, Dispatch, Evidence, HostUse, HostWait
from ...record.program import Program
from ..rule import LEAST_IDLE, lacks_events
from .functions.single_reads import is_single_read

#: A cost that the host causes is a finding from this time on. A shorter time varies with the profiler and with the
#: load of the machine.
LEAST_NS = 100_000

#: Waits at one line recur from this number on.
SEVERAL = 3


#: Words in the names of operations whose own work takes most of their time, also within a larger program.
# fmt: off
_HEAVY = frozenset((
    "dot", "matmul", "einsum", "tensordot", "vdot", "inner", "outer", "conv", "convolve", "sort", "argsort",
    "lexsort", "solve", "inv", "cholesky", "svd", "eig", "eigh", "qr", "lu", "det", "fft", "ifft", "rfft", "irfft",
    "random", "normal", "uniform", "bits", "threefry", "split", "scan", "while", "cond", "gather", "scatter",
    "take", "top",
))
# fmt: on

#: From how many operations outside of jit on there are many in a run.
MANY = 30

#: From how many others on, and from which share of the run, it matters that they are not fused; the same of many.
_FUSIBLE = 3
_MOST = 0.5
_MOST_OF_MANY = 0.1

#: Programs with which JAX copies an array of NumPy, as `jnp.asarray` does: jit would not spare them.
COPIES = frozenset({"stage"})

#: The most names of operations that are listed.
_NAMES = 4

#: A program may begin this long after its call on the CPU, where a thread has to wake up, without any copy.
_WAKES_NS = 100_000

#: No copy is slower than this, in bytes per nanosecond.
_SLOWEST = 1.0


class HostTime(NamedTuple):
    """The costs of the host's work.

    Attributes:
        use: the recorded times.
        scale: how much of a recorded time is left without the profiler, which slows the host down; more than 1 if
            other processes slowed down all other runs even more.
        waits: the waits that recur, longest first.
        wait_cost_ns: how much shorter a run would be without them: the device is idle after a wait until it has work
            again, and at most as long as the code waits; on the CPU, at least for as long as `latency_ns`.
        late_ns: the other time in which the device was idle.
        spare_ns: the part of it that is the host's doing: without waits, a run takes as long as the host or the
            device works, whichever is longer.
        exposed_scale: how much of the idle time of a dispatch is left, as all of them have no more than `spare_ns`.
        hideable_ns: how much shorter a run may be if host and device always work at the same time. On the CPU, they
            share the processors.
        latency_ns: the part of the waits, at least, in which the device had no work any more; 0 where reading copies,
            and where a part of the run was recorded, as the device's work in the rest is unknown.
        device_ns: how long the devices work in a run, one after the other.
    """

    use: HostUse
    scale: float
    waits: tuple[HostWait, ...]
    wait_cost_ns: float
    late_ns: float
    spare_ns: float
    exposed_scale: float
    hideable_ns: float
    latency_ns: float = 0.0
    device_ns: float = 0.0

    @property
    def idle_ns(self) -> float:
        """The time in which the device was idle, after waits and otherwise."""
        return self.late_ns + self.wait_cost_ns

    @property
    def host_ns(self) -> float:
        """The part of it, at most, that the host's own work takes, after waits and otherwise."""
        return self.spare_ns + self.wait_cost_ns


def host_time(evidence: Evidence) -> HostTime | None:
    """Divide the idle time of the device; ``None`` if it is unknown."""
    use, profile = evidence.host_use, evidence.profile
    if use is None or profile is None or not profile.recorded_ns:
        return None
    runs, best = _steady(evidence), best_run(evidence)
    recorded_ns = profile.recorded_ns / max(profile.runs or 1, 1)
    scale = _scale(best.wall_ns, recorded_ns, use.disturbed_ns) if evidence.repeated else 1.0
    scale = min(scale, 1.0) if lacks_events(evidence) else scale  # the rest of the run may do something else
    busy_ns = sum(each.busy_ns for each in use.dispatches)
    idle_ns = max(min(use.idle_ns * scale, best.wall_ns - busy_ns), 0.0)
    waits = recurring(evidence)
    part = part_of_waits(waits, evidence)
    waited_ns = min([sum(each.wait_ns for each in waits), *(part * (each.code_wait_ns or 0) for each in runs)])
    hideable_ns = _hideable_ns(best, busy_ns)
    device_ns = _device_ns(profile, busy_ns)
    is_known = best.environment.backend == "cpu" and not lacks_events(evidence)
    latency_ns = max(waited_ns - device_ns, 0.0) if is_known else 0.0
    overlap_ns = min(waited_ns - latency_ns, use.waited_ns * scale)
    cost_ns = max(min(latency_ns + overlap_ns, idle_ns, hideable_ns), 0.0)
    late_ns = max(idle_ns - cost_ns, 0.0)
    host_ns = min(each.dispatch_ns - each.compile_ns for each in runs)
    spare_ns = min(late_ns, max(host_ns - busy_ns, 0))
    exposed_ns = sum(each.exposed_ns for each in use.dispatches)
    exposed_scale = min(scale, spare_ns / max(exposed_ns, 1))
    return HostTime(use, scale, waits, cost_ns, late_ns, spare_ns, exposed_scale, hideable_ns, latency_ns, device_ns)


def _scale(wall_ns: float, recorded_ns: float, disturbed_ns: float) -> float:
    """Return the factor that scales recorded times to a run without the profiler.

    Pauses of the host do not count. If even the run under the profiler was faster, other processes slowed the other
    runs down, and the factor exceeds 1.
    """
    usual_ns = max(recorded_ns - disturbed_ns, 1.0)
    return max(min(1.0, wall_ns / usual_ns), wall_ns / recorded_ns)


def _steady(evidence: Evidence) -> list[Timing]:
    """Return the runs that compiled nothing, or the first one."""
    runs = [each for each in (*evidence.timed, evidence.observed) if not each.compilations]
    return runs or [evidence.observed]


def best_run(evidence: Evidence) -> Timing:
    """Return the run whose time the host's costs are parts of: the fastest one, as other work slows others down."""
    return min(_steady(evidence), key=lambda each: each.wall_ns)


def without_compiling_ns(evidence: Evidence) -> int:
    """Return how long the best run takes without its compilations, of which there are no samples either."""
    best = best_run(evidence)
    return best.wall_ns - best.compile_ns


def _device_ns(profile: Profile, busy_ns: int) -> float:
    """Return how long the devices work in a run, one after the other: the code may wait for each of them."""
    return max(busy_ns, sum(each.busy_ns for each in profile.device_uses) / max(profile.runs or 1, 1))


def _hideable_ns(best: Timing, busy_ns: int) -> float:
    if best.environment.backend != "cpu":
        return float(best.wall_ns - busy_ns)
    return best.wall_ns - (best.cpu_user_ns + best.cpu_system_ns) / (best.environment.cpu_count or 1)


def recurring(evidence: Evidence) -> tuple[HostWait, ...]:
    """Return the waits of the user's code that recur within a run. A call that reads a list of arrays waits once.

    A library's ``jit`` that waits is none on the CPU, which has its cores busy meanwhile: what is left is the time of
    its calls.
    """
    on_cpu = best_run(evidence).environment.backend == "cpu"
    return tuple(
        each
        for each in evidence.waits or ()
        if each.line is not None
        and each.count >= SEVERAL
        and each.wait_ns > 0
        and not (_is_ours(each) or (on_cpu and each.library == WAITING_JIT) or is_single_read(each, evidence))
    )


def part_of_waits(waits: tuple[HostWait, ...], evidence: Evidence) -> float:
    """Return the part of the code's waiting that some waits are, in the run in which they were observed."""
    every = (each.wait_ns for each in evidence.waits or () if not _is_ours(each))
    return sum(each.wait_ns for each in waits) / max(sum(every), 1)


def _is_ours(wait: HostWait) -> bool:
    return (wait.library or "").startswith("jaxmagic.")


def matters(cost_ns: float, evidence: Evidence) -> bool:
    """Return whether a cost that the host causes is worth a finding, beside the best run without its compilations.

    Only the first run compiles, and code that runs once has no other. Where a part of a run was recorded, only this
    part was searched.
    """
    run_ns = without_compiling_ns(evidence)
    if lacks_events(evidence) and evidence.profile is not None:
        run_ns = min(run_ns, evidence.profile.recorded_ns or run_ns)
    return cost_ns >= max(LEAST_IDLE * run_ns, LEAST_NS)


def names_of(evidence: Evidence, *, eager: bool) -> set[str]:
    """Return the names of the programs that are eager operations, or of those that are not."""
    found: set[str] = set()
    for each in evidence.programs or ():
        if each.eager == eager:
            found |= names_of_program(each)
    return found


def names_of_program(program: Program) -> set[str]:
    """Return the names under which a program is called: those of its module and of its function."""
    return {program.executable.name.removeprefix("jit_"), *filter(None, (program.function, program.transformed))}


def programs_named(name: str, evidence: Evidence) -> list[Program]:
    """Return the programs of a function, but no eager operations of its name."""
    return [each for each in evidence.programs or () if name in names_of_program(each) and not each.eager]


def shapes_of(program: Program) -> tuple[str, ...] | None:
    """Return the shapes of the arguments, the same for all rounds of ``jax.lax.scan``; ``None`` if unknown."""
    return None if program.module is None else tuple(each.shape for each in program.module.inputs)


def eager_calls(evidence: Evidence, use: HostUse) -> list[Dispatch]:
    """Return the calls of eager operations."""
    eager, jitted = names_of(evidence, eager=True) - COPIES, names_of(evidence, eager=False)
    return [each for each in use.dispatches if each.name in eager and each.name not in jitted]


def eager_on_device(evidence: Evidence) -> Note | None:
    """Return a note on operations outside jit for which the device works for much of the run; ``None`` otherwise.

    Those count whose time is that of reading and writing arrays, which XLA would fuse.
    """
    time = host_time(evidence)
    if time is None:
        return None
    calls = [each for each in eager_calls(evidence, time.use) if _HEAVY.isdisjoint(each.name.strip("_").split("_"))]
    busy_ns, count = sum(each.busy_ns for each in calls), sum(each.count for each in calls)
    recorded_ns = evidence.profile.recorded_ns if evidence.profile is not None else 0
    runs = max(evidence.profile.runs or 1, 1) if evidence.profile is not None else 1
    share = min(busy_ns * runs / recorded_ns, 1.0) if recorded_ns else 0.0
    least = _MOST if count < MANY else _MOST_OF_MANY
    if count < _FUSIBLE or share < least or busy_ns < LEAST_NS:
        return None
    names = ", ".join(each.name.strip("_") for each in sorted(calls, key=lambda each: -each.busy_ns)[:_NAMES])
    return note("doctor.eager_on_device", count=count, names=names, kinds=len(calls), share=share)


def jitted_calls(evidence: Evidence, use: HostUse) -> list[Dispatch]:
    """Return the calls of jitted functions of the user or of a library other than JAX."""
    eager, jitted = names_of(evidence, eager=True), names_of(evidence, eager=False)
    return [each for each in use.dispatches if each.name in jitted and each.name not in eager]


def copying_ns(call: Dispatch, moved_bytes: int) -> float:
    """Return for how long the device was idle because of copies: before programs began, and inside calls.

    On the CPU, a call itself copies arrays that do not begin at a multiple of 64 bytes. Calls are slow for other
    reasons as well, but a copy takes no longer than its bytes tell.
    """
    idle_ns = call.exposed_ns + call.after_wait_ns - call.put_ns
    inside_ns = min(max(idle_ns - call.count * _WAKES_NS, 0), moved_bytes / _SLOWEST)
    return max(call.pending_ns - call.count * _WAKES_NS, 0) + inside_ns + call.put_ns


def most_copying_ns(call: Dispatch, moved_bytes: float) -> float:
    """Return for how long, at most, the device was idle because of copies, without `put_ns`."""
    return max(call.pending_ns - call.count * _WAKES_NS, 0) + moved_bytes / _SLOWEST


def putting_ns(time: HostTime, count: int, moved_bytes: int) -> float:
    """Return for how long copies outside of calls keep the device idle, as by ``jax.device_put``.

    The host hands an array over, and a program that needs it begins when the array is there.

    Args:
        time: the time of the host.
        count: how many of these copies count.
        moved_bytes: what they copy.
    """
    calls = [each for each in time.use.dispatches if each.puts < each.count and each.name not in COPIES]
    pending_ns = sum(max(each.pending_ns - each.count * _WAKES_NS, 0) for each in calls)
    part = time.scale * min(count / max(time.use.puts, 1), 1.0)
    late_ns = min(pending_ns * part, moved_bytes / _SLOWEST)
    return min(min(time.use.put_ns * part, time.host_ns) + late_ns, time.idle_ns)


def jitted_operations(evidence: Evidence) -> int:
    """Return how many operations the jitted functions have that the code calls, each as often as it is called."""
    calls = () if evidence.host_use is None else jitted_calls(evidence, evidence.host_use)
    sizes = {
        call.name: len(program.module.instructions)
        for call in calls
        for program in programs_named(call.name, evidence)
        if program.module is not None
    }
    return sum(call.count * sizes.get(call.name, 1) for call in calls)
