"""The programs of the fence, by the queue that they go into, and what it means when they return late.

Devices run the programs of one dispatching thread in order. On the CPU the programs of each single device are one
queue and those over several devices another, which has a program of its own here. How long a program may take where
there is no work is measured, warm and cold, because it differs by queue and machine, and by a factor of ten.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from ...interrupts import uninterrupted
from ...runtime.clock import Clock

#: A program that can be enqueued: returns an array that is ready when the device has come to it.
Program = Callable[[], Any]

#: Beyond its idle cost, how much longer a program may take before it is said to have found work.
_TOLERANCE_NS = 10_000

#: Work of this length is always seen, however long idle programs take.
_MOST_NS = 1_000_000

#: Pauses before a program is measured cold. The first magic of a session waits for all of them.
_NAPS_S = (0.001,) * 6 + (0.003,) * 2

#: A program over several devices that returns later than this was behind work; before, it is measured again.
_SURE_NS = 3_000_000


class Waited(NamedTuple):
    """What a fence found.

    Attributes:
        found_work: whether there was any. ``None`` where it could not be told: this thread was set aside by the
            operating system for a moment in which work may have ended unseen.
        until_ns: when all work was done, or seen to be done; the time of asking where there was none.
        held_until_ns: when the last array that is still alive was ready, where any had to be waited for; also
            where it cannot be told whether there was work that no array holds.
        doubt: how to find out whether there was that work at all, where it may not have been.
    """

    found_work: bool | None
    until_ns: int
    held_until_ns: int | None = None
    doubt: Doubt | None = None

    def and_then(self, later: Waited) -> Waited:
        """Return what both found: this, and a queue that was asked after it."""
        if later.found_work is False:
            return self
        if self.found_work is False:
            return later
        held_ns: int | None = None
        if self.held_until_ns is not None and later.held_until_ns is not None:
            held_ns = max(self.held_until_ns, later.held_until_ns)
        return Waited(self.found_work or later.found_work, max(self.until_ns, later.until_ns), held_ns)


class Doubt(NamedTuple):
    """A queue that answered late, and not so late that there must have been work in it.

    Attributes:
        queue: the queue, to be measured again.
        time_ns: how late it was.
        without: what was found in the queues before it.
    """

    queue: Queue
    time_ns: int
    without: Waited


class Answer(NamedTuple):
    """What asking a queue told.

    Attributes:
        waited: what was found; ``None`` if work is still running.
        handles: arrays that are ready when the queue has come to its programs.
        read_ns: the last clock reading. Ask the next queue from there on, and no moment goes by unseen.
    """

    waited: Waited | None
    handles: list[Any]
    read_ns: int


class Costs(NamedTuple):
    """What the programs of a queue cost where there is no work.

    Attributes:
        at_once: they are done as soon as they are enqueued. So it is on the CPU with those of single devices: they
            run on the calling thread, unless they have to queue.
        idle_ns: enqueuing and waiting.
        behind_ns: what is left of that where there is work: how much later a program is done than the one before it.
        limit_ns: how long one that had to queue is watched before something else is done meanwhile.
        cold_limit_ns: how long one may take, after a while of something else, without having met any work.
    """

    at_once: bool
    idle_ns: int
    behind_ns: int
    limit_ns: int
    cold_limit_ns: int


#: Until they have been measured: the first run of a program takes longer than the next ones.
_FIRST_COSTS = Costs(at_once=False, idle_ns=0, behind_ns=0, limit_ns=_MOST_NS, cold_limit_ns=_MOST_NS)


class Queue:
    """Programs that are queued alike.

    Attributes:
        platform: of its devices.
        several: whether there is one program over all devices, and not one for each.
        costs: what it costs to ask; has to be set before that means something.
    """

    def __init__(self, programs: Sequence[Program], platform: str, *, several: bool, clock: Clock) -> None:
        self.platform = platform
        self.several = several
        self.costs = _FIRST_COSTS
        self._programs = programs
        self._clock = clock

    def enqueue(self) -> list[Any]:
        """Queue the programs behind all other work; an array of each."""
        if jit_disabled():
            return self._enqueue_anyway()
        return [program() for program in self._programs]

    @uninterrupted  # or the user's flag would not come back
    def _enqueue_anyway(self) -> list[Any]:
        with jit_enabled():
            return [program() for program in self._programs]

    def ask(self, asked_ns: int) -> Answer:
        """Queue the programs and watch them until they tell something.

        Args:
            asked_ns: a clock reading just taken.
        """
        costs = self.costs
        handles = self.enqueue()
        # Those that run at once did so, or had to queue behind work: which of it, the first look tells.
        queued = costs.at_once and not _all_ready(handles)
        limit_ns = costs.limit_ns if queued else costs.cold_limit_ns
        while True:
            # Read around the look: this thread may be set aside on either side of it.
            before_ns = self._clock()
            ready = _all_ready(handles)
            after_ns = self._clock()
            if ready and not queued and after_ns - asked_ns <= limit_ns:
                return Answer(Waited(False, asked_ns), handles, after_ns)
            if ready:
                # Where nothing was queued, time went by because this thread was set aside. But the programs over
                # several devices may return late, held up by work.
                until_ns = max(after_ns - costs.behind_ns, asked_ns)
                certain = queued and not self.is_near_idle(until_ns - asked_ns)
                found_work = queued or self.several or None
                return Answer(Waited(found_work, until_ns, None if certain else until_ns), handles, after_ns)
            if before_ns - asked_ns > limit_ns:
                return Answer(None, handles, after_ns)
            self._make_room()

    def is_near_idle(self, time_ns: int) -> bool:
        """Tell whether a wait of this length says little: an idle one may take as long on a busy machine."""
        if self.several:
            return time_ns <= _SURE_NS
        return time_ns < (1 if self.costs.at_once else 2) * self.costs.cold_limit_ns

    def is_as_idle(self, time_ns: int) -> bool:
        """Tell whether a program may well take this long where there is no work: measured again, now.

        What one over several devices takes is up to the threads that have to be woken, and differs by a factor of
        ten from one moment to the next; so the calibration does not decide, where it matters.
        """
        costs = sorted(self._idle_cost(after_s=0.001)[0] for _ in range(5))
        return time_ns < 2 * costs[-2]

    def measure_costs(self) -> Costs:
        """Measure what an idle queue costs, and how long it may take; nothing may be running."""
        warm = [self._idle_cost() for _ in range(45)][5:]
        # After a while of something else caches are cold, and threads of several devices have fallen asleep.
        cold = [self._idle_cost(after_s=nap_s) for nap_s in _NAPS_S]
        costs = sorted(cost_ns for cost_ns, _ in warm)
        longest_ns = sorted(cost_ns for cost_ns, _ in warm + cold)[-2]
        idle_ns = costs[len(costs) // 4]  # not the median: it is taken off, and other load is no cost of ours
        at_once = not self.several and all(at_once for _, at_once in warm + cold)
        # What ran at once was behind no work, however long it took: this limit can be wide.
        cold_limit_ns = 3 * longest_ns if at_once else longest_ns + max(_TOLERANCE_NS, idle_ns // 2)
        return Costs(
            at_once=at_once,
            idle_ns=idle_ns,
            behind_ns=idle_ns if at_once else min(self._cost_behind_another(), idle_ns),
            limit_ns=costs[-3] + _TOLERANCE_NS,
            # What was measured while the machine was busy must not hide work from all later measurements.
            cold_limit_ns=min(cold_limit_ns, _MOST_NS),
        )

    def _cost_behind_another(self) -> int:
        """Tell how much later the second of two programs is done than a single one."""
        pairs = [[self._idle_cost(times=times)[0] for times in (1, 2)] for _ in range(40)]
        one, two = (sorted(costs)[len(costs) // 4] for costs in zip(*pairs, strict=True))
        return max(two - one, 0)

    def _idle_cost(self, *, after_s: float = 0, times: int = 1) -> tuple[int, bool]:
        """Tell how long it takes where there is no work, and whether it was done as soon as it was enqueued."""
        if after_s:
            time.sleep(after_s)
        started_ns = self._clock()
        *_, handles = [self.enqueue() for _ in range(times)]
        at_once = _all_ready(handles)
        while not _all_ready(handles):
            self._make_room()
        return self._clock() - started_ns, at_once

    def _make_room(self) -> None:
        """Give other threads this one's processor: where there are more devices than processors, theirs."""
        if self.several:
            time.sleep(0)


def _all_ready(handles: Iterable[Any]) -> bool:
    return all(handle.is_ready() for handle in handles)


def queues_of(devices: Iterable[Any], clock: Clock) -> tuple[Queue, ...]:
    """Compile the programs for `devices`: for each of them, and over all of a platform.

    On the CPU every device is a queue of its own, because a program that runs at once tells for its device, at once,
    whether there was work. Elsewhere all are asked together, and waited for together.
    """
    by_platform: dict[str, list[Any]] = {}
    for device in devices:
        by_platform.setdefault(device.platform, []).append(device)
    queues: list[Queue] = []
    over_several: list[Queue] = []  # those over several last: they may have to be measured again
    for platform, group in by_platform.items():
        single = [_compile([device]) for device in group]
        groups = [[each] for each in single] if platform == "cpu" else [single]
        queues += [Queue(programs, platform, several=False, clock=clock) for programs in groups]
        if len(group) > 1:
            over_several.append(Queue([_compile(group)], platform, several=True, clock=clock))
    return (*queues, *over_several)


def _compile(devices: Sequence[Any]) -> Program:
    """A program over all of `devices`, within a mesh of its own: that of the user's ``jax.set_mesh`` has others."""
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
    """Tell whether the user has said ``jax.disable_jit()``, under which a compiled program cannot be called."""
    import jax

    return bool(jax.config.jax_disable_jit)


def jit_enabled() -> AbstractContextManager[Any]:
    """A block without the user's ``jax.disable_jit()``."""
    import jax

    return jax.disable_jit(False) if jit_disabled() else nullcontext()
