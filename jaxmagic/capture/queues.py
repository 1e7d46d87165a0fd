"""The programs of the fence, by the queue that they go into, and what it means when they return late.

Devices run the programs of one dispatching thread in order. On the CPU the programs of single devices are one queue
and those over several devices another, which has a program of its own here. How long a program may take where there
is no work is measured, warm and cold, because it differs by queue and machine, and by a factor of ten.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from .clock import Clock

#: A program that can be enqueued: returns an array that is ready when the device has come to it.
Program = Callable[[], Any]

#: Beyond its idle cost, how much longer a program may take before it is said to have found work.
_TOLERANCE_NS = 10_000

#: Work of this length is always seen, however long idle programs take.
_MOST_NS = 1_000_000

#: Until an idle one has been measured: the first run of a program takes longer than the next ones.
_FIRST_LIMIT_NS = 1_000_000


class Waited(NamedTuple):
    """What a fence found.

    Attributes:
        found_work: whether there was any. ``None`` where it could not be told: this thread was set aside by the
            operating system for a moment in which work may have ended unseen.
        until_ns: when all work was done, or seen to be done; the time of asking where there was none.
        held_until_ns: when the last array that is still alive was ready, where any had to be waited for; also
            where it cannot be told whether there was work that no array holds.
    """

    found_work: bool | None
    until_ns: int
    held_until_ns: int | None = None


class Queue:
    """Programs that are queued alike: one for each device of a platform, or one over all of them.

    Attributes:
        idle_ns: what enqueuing and waiting costs where there is no work.
        at_once: where there is no work, the programs are done as soon as they are enqueued. So it is on the CPU with
            those of single devices: they run on the calling thread, unless they have to queue.
    """

    def __init__(self, programs: Sequence[Program], *, several: bool, clock: Clock) -> None:
        self.idle_ns = 0
        self.at_once = False
        self._programs = programs
        self._several = several
        self._clock = clock
        self._limit_ns = self._cold_limit_ns = _FIRST_LIMIT_NS

    def enqueue(self) -> list[Any]:
        """Queue the programs behind all other work."""
        with jit_enabled():
            return [program() for program in self._programs]

    def look(self, pending: Sequence[Any], asked_ns: int) -> Waited | None:
        """Look at what :meth:`enqueue` returned until it tells something; ``None`` if there is work in the queue.

        Args:
            pending: the handles.
            asked_ns: a clock reading from before they were enqueued.
        """
        looked_before = False
        while True:
            # Read around the look: this thread may be set aside on either side of it.
            before_ns = self._clock()
            ready = all(handle.is_ready() for handle in pending)
            after_ns = self._clock()
            queued = looked_before and self.at_once  # it had to queue, behind work
            limit_ns = self._limit_ns if queued else self._cold_limit_ns
            if ready and after_ns - asked_ns <= limit_ns:
                return Waited(False, asked_ns)
            if ready:
                # Where nothing was queued, time went by because this thread was set aside. But the programs over
                # several devices may return late, held up by work.
                until_ns = max(after_ns - self.idle_ns, asked_ns)
                certain = queued and not self.is_near_idle(until_ns - asked_ns)
                return Waited(queued or self._several or None, until_ns, None if certain else until_ns)
            if before_ns - asked_ns > limit_ns:
                return None
            looked_before = True

    def is_near_idle(self, time_ns: int) -> bool:
        """Whether a wait of this length says little: an idle one may take as long on a busy machine."""
        return time_ns < (1 if self.at_once else 2) * self._cold_limit_ns

    def calibrate(self, behind: Sequence[Queue]) -> None:
        """Measure what an idle queue costs, and how long it may take; nothing may be running.

        Args:
            behind: the queues that are asked before this one; their cost is in its own.
        """
        warm = [self._idle_cost(behind) for _ in range(45)][5:]
        # After a while of something else caches are cold, and threads of several devices have fallen asleep.
        cold = [self._idle_cost(behind, after_s=nap_s) for nap_s in (0.001, 0.003) for _ in range(10)]
        costs = sorted(cost_ns for cost_ns, _ in warm)
        longest_ns = sorted(cost_ns for cost_ns, _ in warm + cold)[-2]
        self.idle_ns = costs[len(costs) // 4]  # not the median: it is taken off, and other load is no cost of ours
        self.at_once = not self._several and all(at_once for _, at_once in warm + cold)
        self._limit_ns = costs[-3] + _TOLERANCE_NS
        if self.at_once:
            wanted_ns = 3 * longest_ns  # it was behind no work, however long it took: this can be wide
        else:
            wanted_ns = min(longest_ns, 4 * self.idle_ns) + max(_TOLERANCE_NS, self.idle_ns // 2)
        # What was measured while the machine was busy must not hide work from all later measurements.
        self._cold_limit_ns = min(wanted_ns, _MOST_NS)

    def _idle_cost(self, behind: Sequence[Queue], after_s: float = 0) -> tuple[int, bool]:
        """How long it takes where there is no work, and whether it was done as soon as it was enqueued."""
        if after_s:
            time.sleep(after_s)
        started_ns = self._clock()
        for other in behind:
            other.look(other.enqueue(), started_ns)
        pending = self.enqueue()
        at_once = all(handle.is_ready() for handle in pending)
        while not all(handle.is_ready() for handle in pending):
            pass
        return self._clock() - started_ns, at_once


def queues_of(devices: Iterable[Any], clock: Clock) -> tuple[Queue, ...]:
    """Compile the programs for `devices`: for each of them, and over all of a platform."""
    import jax
    import numpy as np

    by_platform: dict[str, list[Any]] = {}
    for device in devices:
        by_platform.setdefault(device.platform, []).append(device)
    queues = []
    for group in by_platform.values():
        single = [_compile(1, jax.sharding.SingleDeviceSharding(device)) for device in group]
        queues.append(Queue(single, several=False, clock=clock))
        if len(group) > 1:
            mesh = jax.sharding.Mesh(np.array(group), ("devices",))
            sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("devices"))
            queues.append(Queue([_compile(len(group), sharding)], several=True, clock=clock))
    return tuple(queues)


def _compile(length: int, sharding: Any) -> Program:
    import jax
    import jax.numpy as jnp

    def jaxmagic_fence() -> Any:
        return jnp.zeros(length, jnp.int8)

    return jax.jit(jaxmagic_fence, out_shardings=sharding).lower().compile()


def jit_enabled() -> AbstractContextManager[Any]:
    """A compiled program cannot be called under the user's ``jax.disable_jit()``."""
    import jax

    return jax.disable_jit(False) if jax.config.jax_disable_jit else nullcontext()
