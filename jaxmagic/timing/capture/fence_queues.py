"""Holds the fence's programs, one set per device queue, and decides what a late return means.

A device runs the programs of one dispatching thread in order. On the CPU, each single device has a queue, and
programs over several devices go through another one, which gets a program of its own here. How long a program takes
on an idle device is measured warm and cold, because it differs between queues and machines by a factor of ten.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from ...interrupts import uninterrupted
from ...runtime.clock import Clock

#: Enqueues a compiled program and returns its array, which is ready once the device has reached the program.
Program = Callable[[], Any]

#: How much longer than its idle cost a program may take before the fence reports work.
_TOLERANCE_NS = 10_000

#: Work of this length is always detected, however slow idle programs are.
_MOST_NS = 1_000_000

#: Pauses before cold measurements. The first magic of a session pays for all of them.
_NAPS_S = (0.001,) * 6 + (0.003,) * 2

#: A program over several devices that returns later than this was behind work; if earlier, it is measured again.
_SURE_NS = 3_000_000


class Waited(NamedTuple):
    """The result of waiting with a fence.

    Attributes:
        found_work: whether there was work. ``None`` if unknown: the operating system descheduled this thread, and
            work may have ended meanwhile.
        until_ns: when all work was done, or was first seen to be done; the time of the query if there was none.
        held_until_ns: when the last live array was ready, if any had to be waited for; also set if it is unknown
            whether there was discarded work.
        doubt: how to find out whether there was work at all, if that is uncertain.
    """

    found_work: bool | None
    until_ns: int
    held_until_ns: int | None = None
    doubt: Doubt | None = None

    def and_then(self, later: Waited) -> Waited:
        """Combine this result with that of a queue that was queried later."""
        if later.found_work is False:
            return self
        if self.found_work is False:
            return later
        held_ns: int | None = None
        if self.held_until_ns is not None and later.held_until_ns is not None:
            held_ns = max(self.held_until_ns, later.held_until_ns)
        return Waited(self.found_work or later.found_work, max(self.until_ns, later.until_ns), held_ns)


class Doubt(NamedTuple):
    """A queue that answered late, but not so late that it must have held work.

    Attributes:
        queue: the queue, to be measured again.
        time_ns: how late it was.
        without: the result of the queues before it.
    """

    queue: Queue
    time_ns: int
    without: Waited


class Answer(NamedTuple):
    """The answer of a queue.

    Attributes:
        waited: what was found; ``None`` if work is still running.
        handles: arrays that are ready once the queue has reached its programs.
        read_ns: the last clock reading, from which the next queue is queried so that no gap remains.
    """

    waited: Waited | None
    handles: list[Any]
    read_ns: int


class Costs(NamedTuple):
    """The costs of the programs of a queue on idle devices.

    Attributes:
        at_once: whether they are done as soon as they are enqueued. On the CPU, programs on a single device run on
            the calling thread unless they have to queue.
        idle_ns: enqueuing and waiting.
        behind_ns: how much later a program is done than the work before it.
        limit_ns: how long a queued program is polled before the fence waits for it.
        cold_limit_ns: how long a program may take on an idle device after a pause.
    """

    at_once: bool
    idle_ns: int
    behind_ns: int
    limit_ns: int
    cold_limit_ns: int


#: Used until costs have been measured: the first run of a program takes longer than later ones.
_FIRST_COSTS = Costs(at_once=False, idle_ns=0, behind_ns=0, limit_ns=_MOST_NS, cold_limit_ns=_MOST_NS)


class Queue:
    """Programs that go through the same queue.

    Attributes:
        platform: the platform of its devices.
        several: whether one program covers all devices, instead of one program per device.
        costs: the idle costs; answers are meaningful only once these have been measured.
    """

    def __init__(self, programs: Sequence[Program], platform: str, *, several: bool, clock: Clock) -> None:
        self.platform = platform
        self.several = several
        self.costs = _FIRST_COSTS
        self._programs = programs
        self._clock = clock

    def enqueue(self) -> list[Any]:
        """Queue the programs behind all other work, and return an array of each."""
        if jit_disabled():
            return self._enqueue_anyway()
        return [program() for program in self._programs]

    @uninterrupted  # or the user's flag would not be restored
    def _enqueue_anyway(self) -> list[Any]:
        with jit_enabled():
            return [program() for program in self._programs]

    def ask(self, asked_ns: int) -> Answer:
        """Queue the programs and poll them until it is known whether there is work.

        Args:
            asked_ns: a clock reading just taken.
        """
        costs = self.costs
        handles = self.enqueue()
        # The first poll shows whether programs that run at once did so or had to queue behind work.
        queued = costs.at_once and not _all_ready(handles)
        limit_ns = costs.limit_ns if queued else costs.cold_limit_ns
        while True:
            # Read before and after the poll, because this thread may be descheduled on either side of it.
            before_ns = self._clock()
            ready = _all_ready(handles)
            after_ns = self._clock()
            if ready and not queued and after_ns - asked_ns <= limit_ns:
                return Answer(Waited(False, asked_ns), handles, after_ns)
            if ready:
                # If nothing was queued, time passed because this thread was descheduled. But programs over several
                # devices may return late because of work.
                until_ns = max(after_ns - costs.behind_ns, asked_ns)
                certain = queued and not self.is_near_idle(until_ns - asked_ns)
                found_work = queued or self.several or None
                return Answer(Waited(found_work, until_ns, None if certain else until_ns), handles, after_ns)
            if before_ns - asked_ns > limit_ns:
                return Answer(None, handles, after_ns)
            self._make_room()

    def is_near_idle(self, time_ns: int) -> bool:
        """Return whether an idle program may take this long on a busy machine."""
        if self.several:
            return time_ns <= _SURE_NS
        return time_ns < (1 if self.costs.at_once else 2) * self.costs.cold_limit_ns

    def is_as_idle(self, time_ns: int) -> bool:
        """Measure again whether an idle program takes this long.

        A program over several devices has to wake threads, which varies by a factor of ten from one moment to the
        next. So the earlier calibration does not decide.
        """
        costs = sorted(self._idle_cost(after_s=0.001)[0] for _ in range(5))
        return time_ns < 2 * costs[-2]

    def measure_costs(self) -> Costs:
        """Measure the costs of an idle queue; nothing may be running."""
        warm = [self._idle_cost() for _ in range(45)][5:]
        # After a pause, caches are cold and the threads of several devices sleep.
        cold = [self._idle_cost(after_s=nap_s) for nap_s in _NAPS_S]
        costs = sorted(cost_ns for cost_ns, _ in warm)
        longest_ns = sorted(cost_ns for cost_ns, _ in warm + cold)[-2]
        idle_ns = costs[len(costs) // 4]  # not the median: this is subtracted, and other load is not our cost
        at_once = not self.several and all(at_once for _, at_once in warm + cold)
        # A program that ran at once was behind no work, however long it took, so this limit can be wide.
        cold_limit_ns = 3 * longest_ns if at_once else longest_ns + max(_TOLERANCE_NS, idle_ns // 2)
        return Costs(
            at_once=at_once,
            idle_ns=idle_ns,
            behind_ns=idle_ns if at_once else min(self._cost_behind_another(), idle_ns),
            limit_ns=costs[-3] + _TOLERANCE_NS,
            # A calibration on a busy machine must not hide work from all later measurements.
            cold_limit_ns=min(cold_limit_ns, _MOST_NS),
        )

    def _cost_behind_another(self) -> int:
        """Measure how much later the second of two programs is done than a single one."""
        pairs = [[self._idle_cost(times=times)[0] for times in (1, 2)] for _ in range(40)]
        one, two = (sorted(costs)[len(costs) // 4] for costs in zip(*pairs, strict=True))
        return max(two - one, 0)

    def _idle_cost(self, *, after_s: float = 0, times: int = 1) -> tuple[int, bool]:
        """Measure an idle queue, and whether its programs were done as soon as they were enqueued."""
        if after_s:
            time.sleep(after_s)
        started_ns = self._clock()
        *_, handles = [self.enqueue() for _ in range(times)]
        at_once = _all_ready(handles)
        while not _all_ready(handles):
            self._make_room()
        return self._clock() - started_ns, at_once

    def _make_room(self) -> None:
        """Yield the processor: there may be more devices than processors."""
        if self.several:
            time.sleep(0)


def _all_ready(handles: Iterable[Any]) -> bool:
    return all(handle.is_ready() for handle in handles)


def queues_of(devices: Iterable[Any], clock: Clock) -> tuple[Queue, ...]:
    """Compile a program for each of `devices`, and one over all devices of a platform.

    On the CPU each device is a queue of its own, because a program that runs at once shows immediately whether its
    device had work. On other platforms all devices are queried and waited for together.
    """
    by_platform: dict[str, list[Any]] = {}
    for device in devices:
        by_platform.setdefault(device.platform, []).append(device)
    queues: list[Queue] = []
    over_several: list[Queue] = []  # last, because they may have to be measured again
    for platform, group in by_platform.items():
        single = [_compile([device]) for device in group]
        groups = [[each] for each in single] if platform == "cpu" else [single]
        queues += [Queue(programs, platform, several=False, clock=clock) for programs in groups]
        if len(group) > 1:
            over_several.append(Queue([_compile(group)], platform, several=True, clock=clock))
    return (*queues, *over_several)


def _compile(devices: Sequence[Any]) -> Program:
    """Compile a program over `devices` in a mesh of its own, because ``jax.set_mesh`` may name other devices."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def jaxmagic_fence() -> Any:
        return jnp.zeros(len(devices), jnp.int8)

    mesh = jax.sharding.Mesh(np.array(devices), ("devices",))
    sharding: Any = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("devices"))
    if len(devices) == 1:
        sharding = jax.sharding.SingleDeviceSharding(devices[0])
    with jax.set_mesh(mesh):
        return jax.jit(jaxmagic_fence, out_shardings=sharding).lower().compile()


def jit_disabled() -> bool:
    """Return whether ``jax.disable_jit()`` is in effect, under which a compiled program cannot be called."""
    import jax

    return bool(jax.config.jax_disable_jit)


def jit_enabled() -> AbstractContextManager[Any]:
    """Return a context manager that suspends the user's ``jax.disable_jit()``."""
    import jax

    return jax.disable_jit(False) if jit_disabled() else nullcontext()
