"""Waiting for everything: the fence.

Waiting for a result is not enough, because work whose result was dropped is reachable from no array. What
works is to enqueue a trivial program *behind* the work on every device, and to wait for that. Devices run the
programs of one dispatching thread in order; on the CPU the programs of one device and those sharded over
several are two separate queues, so there is a program for each device and one over all of them. (No collective:
it would wait for no more, and on GPUs would start NCCL.) The evidence is in ``docs/how-it-measures.md`` and in
``tests/capture/test_fence.py``.

The programs take no argument, so that nothing of ours is among ``jax.live_arrays()`` and no transfer guard is
met; they are compiled ahead of time, so that ``jax.clear_caches()`` does not make them compile again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from typing import Any, NamedTuple

from . import internals
from .clock import Clock, now_ns
from .compilation import unheard
from .jax_version import require_jax

#: A program that can be enqueued: returns an array that is ready when the device has come to it.
Program = Callable[[], Any]

#: Beyond its idle cost, how much longer a fence may take before it is said to have found work.
_TOLERANCE_NS = 10_000

#: ``jax.effects_barrier()`` takes some 20 µs where there is nothing to wait for.
_EFFECTS_NS = 100_000

#: Until an idle fence has been measured: the first run of a program takes longer than the next ones.
_FIRST_LIMIT_NS = 1_000_000

#: How many of the youngest arrays are looked at to tell work that an array still holds from work thrown away.
_YOUNGEST = 64


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


class Fence:
    """Programs for every local device, compiled once, and what waiting for them costs when there is no work."""

    def __init__(self, clock: Clock = now_ns) -> None:
        self._clock = clock
        self._devices: tuple[Any, ...] = ()
        self._programs: Sequence[Program] = ()
        self._several = False
        self._idle_ns = 0
        self._limit_ns = 0

    @property
    def ready(self) -> bool:
        """Whether it covers the devices that there are now."""
        return bool(self._devices) and self._devices == _local_devices()

    def prepare(self) -> Waited | None:
        """Compile the programs for the devices there are, and measure an idle fence.

        Does nothing where that has been done, and nothing where no backend has been started: to start one
        would be a change of the user's session, and there is no work to wait for.

        Returns:
            What was found running behind the compilation, ``None`` where nothing had to be done.
        """
        devices = _local_devices()
        if devices == self._devices:
            return None
        with unheard(), _jit_enabled(), internals.not_written_to_cache():
            self._programs = tuple(_programs(devices))
        self._devices = devices
        self._several = len(devices) > len({device.platform for device in devices})
        self._idle_ns, self._limit_ns = 0, _FIRST_LIMIT_NS
        found = self.wait_for_programs()  # what is running would count as the idle cost
        self._calibrate()
        return found

    def _calibrate(self) -> None:
        """Measure what a fence costs, and how long one may take without there being any work."""
        costs = [self._idle_cost_ns() for _ in range(45)][5:]
        self._idle_ns = round(median(costs))
        if self._several:
            # The threads of several devices fall asleep, and to wake them takes a multiple.
            costs += [self._idle_cost_ns(after_s=nap_s) for nap_s in (0.001, 0.003) for _ in range(10)]
        self._limit_ns = sorted(costs)[-2] + max(_TOLERANCE_NS, self._idle_ns // 2)

    def _idle_cost_ns(self, after_s: float = 0) -> int:
        if after_s:
            time.sleep(after_s)
        started_ns = self._clock()
        self.wait_for_programs()
        return self._clock() - started_ns

    def wait(self) -> Waited:
        """Wait for all work of this process, and say whether there was any beyond now."""
        return self.wait_for_others(self.wait_for_programs())

    def wait_for_programs(self, asked_ns: int | None = None) -> Waited:
        """Wait for all work that this thread has dispatched, by programs queued behind it.

        Args:
            asked_ns: a clock reading just taken; with it, no moment goes by in which work could end unseen.
        """
        import jax

        if asked_ns is None:
            asked_ns = self._clock()
        with _jit_enabled():
            pending = [program() for program in self._programs]
        while True:
            # Read around the look: this thread may be set aside on either side of it.
            before_ns = self._clock()
            ready = all(handle.is_ready() for handle in pending)
            after_ns = self._clock()
            if ready and after_ns - asked_ns <= self._limit_ns:
                return Waited(False, asked_ns)
            if ready:
                # The program of a device runs at once or waits in its queue: time went by because this thread
                # was set aside. One over several devices may return late, held up by work.
                return Waited(self._several or None, max(after_ns - self._idle_ns, asked_ns))
            if before_ns - asked_ns > self._limit_ns:
                break
        # There is work. Whose? Wait for the arrays that are still alive first, then for the rest.
        held_ns = self._clock() if _wait_for_arrays(_unready(_live_arrays(_YOUNGEST, but=pending))) else None
        jax.block_until_ready(pending)
        until_ns = max(self._clock() - self._idle_ns, held_ns or asked_ns)
        if self._several and held_ns is None and until_ns - asked_ns < 2 * self._limit_ns:
            held_ns = until_ns  # so near to an idle fence, nobody's work is not said to have been thrown away
        return Waited(True, until_ns, held_ns)

    def wait_for_others(self, waited: Waited) -> Waited:
        """Wait for callbacks and for arrays that other threads dispatched: no program of ours is behind those."""
        import jax

        started_ns = self._clock()
        jax.effects_barrier()
        effects_ns = self._clock()
        if effects_ns - started_ns > _EFFECTS_NS:
            waited = waited._replace(found_work=True, until_ns=effects_ns)
        if _wait_for_arrays(_unready(_live_arrays(_YOUNGEST))):
            others_ns = self._clock()
            waited = Waited(True, others_ns, others_ns)
        _wait_for_arrays(_live_arrays())
        return waited


def fence() -> None:
    """Wait until all JAX work that this process has started is done, whoever holds its results.

    Unlike :func:`jax.block_until_ready` it needs no array: it also waits for work whose result was thrown
    away, for computations over several devices, for callbacks and effects, and for arrays that other threads
    dispatched as long as they are alive. Where no backend has been started it returns at once.

    Raises:
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> _ = jax.jit(lambda x: x @ x)(jnp.ones((500, 500)))
    >>> jaxmagic.fence()
    """
    require_jax()
    shared.prepare()
    shared.wait()


def _local_devices() -> tuple[Any, ...]:
    """The devices of this process on every backend that has been started; starts none."""
    if internals.backends_started() is False:
        return ()
    return internals.local_devices()


def _programs(devices: Iterable[Any]) -> Iterable[Program]:
    import jax
    import numpy as np

    by_platform: dict[str, list[Any]] = {}
    for device in devices:
        by_platform.setdefault(device.platform, []).append(device)
    for group in by_platform.values():
        for device in group:
            yield _compile(1, jax.sharding.SingleDeviceSharding(device))
        if len(group) > 1:
            mesh = jax.sharding.Mesh(np.array(group), ("devices",))
            spec = jax.sharding.PartitionSpec("devices")
            yield _compile(len(group), jax.sharding.NamedSharding(mesh, spec))


def _compile(length: int, sharding: Any) -> Program:
    import jax
    import jax.numpy as jnp

    def jaxmagic_fence() -> Any:
        return jnp.zeros(length, jnp.int8)

    return jax.jit(jaxmagic_fence, out_shardings=sharding).lower().compile()


def _jit_enabled() -> AbstractContextManager[Any]:
    """A compiled program cannot be called under the user's ``jax.disable_jit()``."""
    import jax

    return jax.disable_jit(False) if jax.config.jax_disable_jit else nullcontext()


def _live_arrays(most: int | None = None, but: Sequence[Any] = ()) -> list[Any]:
    """Arrays that are alive, youngest first; of the default backend only, as JAX has it."""
    import jax

    if internals.backends_started() is False:  # asking would start one
        return []
    ours = {id(array) for array in but}
    return [array for array in jax.live_arrays()[:most] if id(array) not in ours]


def _unready(arrays: Iterable[Any]) -> list[Any]:
    return [array for array in arrays if not array.is_deleted() and not array.is_ready()]


def _wait_for_arrays(arrays: list[Any]) -> bool:
    """Wait for `arrays`, whatever became of them; whether there were any."""
    import jax

    try:
        jax.block_until_ready(arrays)
    except Exception:  # one of them was deleted, or its computation failed: that is its owner's to hear of
        for array in arrays:
            try:
                jax.block_until_ready(array)
            except Exception:
                continue
    return bool(arrays)


#: The process's one fence: devices are the process's, too.
shared = Fence()
