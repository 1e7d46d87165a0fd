"""Waits for all work of this process: the fence.

Waiting for a result is not enough, because no array leads to work whose result was dropped. So the fence enqueues a
trivial program *behind* the work on every device and waits for that program. A device runs the programs of one
dispatching thread in order. On the CPU, programs on one device and programs sharded over several devices go through
two separate queues, so the fence has one program per device and one over all devices. It uses no collective: that
would wait for nothing more, and would start NCCL on GPUs. ``docs/how-it-measures.md`` and
``tests/timing/capture/test_fence.py`` have the evidence.

The programs take no arguments, so they add nothing to ``jax.live_arrays()`` and trigger no transfer guard. They are
compiled ahead of time, so ``jax.clear_caches()`` does not make them compile again.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable, Sequence
from typing import Any

from ...compilation.capture.listeners import unheard
from ...errors import NotMeasured
from ...interrupts import uninterrupted
from ...runtime import private_api
from ...runtime.clock import Clock, now_ns
from ...runtime.jax_version import require_jax
from ...tracebacks import of_the_user
from .failed_work import Newest, failed_since, newest
from .fence_queues import Costs, Doubt, Queue, Waited, jit_enabled, queues_of
from .wait import wait_for_all

#: ``jax.effects_barrier()`` takes about 20 µs if there is nothing to wait for.
_EFFECTS_NS = 100_000

#: How long the first run of the programs may take, which starts the threads of all devices.
_FIRST_RUN_NS = 50_000_000

#: How many of the newest arrays are checked to tell work that a live array depends on from discarded work. Without
#: the GIL, JAX lists arrays in no order, so all of them are checked.
_YOUNGEST = sys.maxsize if sysconfig.get_config_var("Py_GIL_DISABLED") else 64


class Fence:
    """Holds a program for every local device, compiled once, and the cost of waiting for it when the device is idle.

    Attributes:
        ready: whether the fence covers the devices seen at the last :meth:`prepare`.
        failure: the name of the exception that a program raised at the last wait, for example out of memory; ``None``
            if none did. After a failure, discarded work was not waited for.
        newest: the newest live arrays at the last wait.
        failed: the error of a computation that was found at the last wait; ``None`` if none was.
    """

    def __init__(self, clock: Clock = now_ns) -> None:
        self.ready = False
        self.failure: str | None = None
        self.newest: Newest = ()
        self.failed: str | None = None
        self._clock = clock
        self._devices: tuple[Any, ...] = ()
        self._beside: tuple[str, ...] = ()
        self._queues: tuple[Queue, ...] = ()

    def prepare(self) -> Waited | None:
        """Compile the programs for the current devices, and measure the cost of an idle fence.

        Does nothing if that has been done already, or if no backend has been started: starting one would change the
        user's session, and there is no work to wait for.

        Returns:
            Work found running after the compilation; ``None`` if there was nothing to do. Only what runs much longer
            than the first run of the programs may take is reported as work.
        """
        devices = _local_devices()
        if devices == self._devices:
            return None
        self.ready = False
        self._compile(devices)
        self._devices = ()  # until their cost is known; after a failure the next call tries again
        asked_ns = self._clock()
        found = self.wait_for_programs(asked_ns)  # running work would count as idle cost
        if found.until_ns - asked_ns < _FIRST_RUN_NS:
            found = Waited(False, asked_ns)
        measured: dict[tuple[str, bool], Costs] = {}  # devices of one kind have the same cost
        for queue in self._queues:
            kind = queue.platform, queue.several
            if kind not in measured:
                measured[kind] = queue.measure_costs()
            queue.costs = measured[kind]
        self._devices, self._beside = devices, _platforms_beside_default(devices)
        self.ready = bool(devices)
        return found

    @uninterrupted  # or JAX's flags would not be restored
    def _compile(self, devices: Sequence[Any]) -> None:
        with unheard(), jit_enabled(), private_api.not_written_to_cache():
            self._queues = queues_of(devices, self._clock)

    def wait(self) -> Waited:
        """Wait for all work of this process, and return whether any was still running."""
        return self.wait_for_others(self.wait_for_programs())

    def wait_for_programs(self, asked_ns: int | None = None) -> Waited:
        """Wait for all work that this thread has dispatched, with programs queued behind it.

        Args:
            asked_ns: a clock reading just taken, so that no work can end unseen before the first one here.
        """
        if asked_ns is None:
            asked_ns = self._clock()
        self.failure = None
        try:
            return self._ask_queues(asked_ns)
        except Exception as error:  # a device is out of memory: the measured code goes on
            self.failure = type(error).__name__
            return Waited(None, asked_ns)

    def _ask_queues(self, asked_ns: int) -> Waited:
        found, read_ns = Waited(False, asked_ns), asked_ns
        for index, queue in enumerate(self._queues):
            answer = queue.ask(read_ns)
            if answer.waited is None:
                behind = [handle for other in self._queues[index + 1 :] for handle in other.enqueue()]
                waited, held = self._wait_for_work([*answer.handles, *behind], read_ns, queue)
            else:
                waited, held = answer.waited, False
            before, found, time_ns = found, found.and_then(waited), waited.until_ns - read_ns
            if waited.found_work and not held and queue.several and queue.is_near_idle(time_ns):
                found = found._replace(doubt=Doubt(queue, time_ns, before))
            if answer.waited is None:
                break
            read_ns = answer.read_ns
        return found

    def settle(self, waited: Waited) -> Waited:
        """Resolve doubts about what was found by measuring the idle cost again, which takes milliseconds."""
        while (doubt := waited.doubt) is not None and doubt.queue.is_as_idle(doubt.time_ns):
            waited = doubt.without
        return waited

    def _wait_for_work(self, pending: Sequence[Any], asked_ns: int, queue: Queue) -> tuple[Waited, bool]:
        """Wait for the work that was found: first for live arrays, then for the rest.

        Returns:
            What was found, and whether an array had to be waited for, which proves that there was work.
        """
        import jax

        held_ns = (
            self._clock() if wait_for_arrays(unready(_live_arrays(self._beside, _YOUNGEST, but=pending))) else None
        )
        jax.block_until_ready(pending)
        until_ns = max(self._clock() - queue.costs.behind_ns, held_ns or asked_ns)
        if held_ns is not None:
            return Waited(True, until_ns, held_ns), True
        near_idle = queue.is_near_idle(until_ns - asked_ns)  # too short to conclude that work was discarded
        return Waited(True, until_ns, until_ns if near_idle else None), False

    def wait_for_others(self, waited: Waited, since: Newest | None = None) -> Waited:
        """Wait for callbacks and for arrays of other threads, which no program of the fence is queued behind.

        Args:
            waited: what was found before.
            since: arrays newer than these are asked whether their computation failed.
        """
        import jax

        started_ns = self._clock()
        jax.effects_barrier()
        effects_ns = self._clock()
        if effects_ns - started_ns > _EFFECTS_NS:
            waited = waited._replace(found_work=True, until_ns=effects_ns)
        arrays = _live_arrays(self._beside)
        if wait_for_arrays(unready(arrays[:_YOUNGEST])):
            others_ns = self._clock()
            waited = Waited(True, others_ns, others_ns)
        wait_for_arrays(arrays[_YOUNGEST:])  # to ask each of them would cool the caches of the processor
        self.failed = None if since is None else failed_since(since, arrays[:_YOUNGEST])
        self.newest = newest(arrays)
        return waited


@of_the_user
def fence() -> None:
    """Wait until all JAX work that this process has started is done, whether or not its results are still alive.

    Unlike ``jax.block_until_ready()``, ``fence()`` needs no array. It also waits for work whose result was
    discarded, for computations over several devices, for callbacks and effects, and for arrays of other threads that
    are still alive. It cannot wait for discarded work of another thread, nor for work of other processes. If no
    backend has been started, it returns at once.

    Raises:
        JaxNotAvailable: JAX is not installed or too old.
        NotMeasured: a device could not run the fence's program, for example because it is out of memory.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> _ = jax.jit(lambda x: x @ x)(jnp.ones((500, 500)))
    >>> jaxmagic.fence()
    """
    require_jax()
    shared.prepare()
    shared.wait()
    if shared.failure is not None:
        raise NotMeasured(
            "Live arrays were waited for, but discarded work was not: a device could not run the fence's program "
            f"({shared.failure}). Delete arrays to free memory, and try again."
        )


def _local_devices() -> tuple[Any, ...]:
    """Return the devices of this process on all started backends, without starting one."""
    if private_api.backends_started() is False:
        return ()
    return private_api.local_devices()


def _live_arrays(beside: Iterable[str], most: int | None = None, but: Sequence[Any] = ()) -> list[Any]:
    """List live arrays, newest first: those of the default backend, then those of the platforms `beside` it."""
    import jax

    if private_api.backends_started() is False:  # jax.live_arrays() would start one
        return []
    ours = {id(array) for array in but}
    arrays = jax.live_arrays()[:most]
    for platform in beside:
        arrays += jax.live_arrays(platform)[:most]
    return [array for array in arrays if id(array) not in ours]


def _platforms_beside_default(devices: Iterable[Any]) -> tuple[str, ...]:
    """List the platforms of `devices` except JAX's default one, such as the CPU beside a GPU."""
    import jax

    platforms = dict.fromkeys(device.platform for device in devices)
    return tuple(name for name in platforms if name != jax.default_backend()) if len(platforms) > 1 else ()


def unready(arrays: Iterable[Any]) -> list[Any]:
    """Return the arrays that are not ready.

    Each array is asked twice: some backends begin to track an array at the first query and then answer "not ready".
    Typed keys do not say whether they are ready, but the array that each one holds is alive as well.
    """
    found = [array for array in arrays if _is_unready(array)]
    return [array for array in found if _is_unready(array)]


def _is_unready(array: Any) -> bool:
    return not array.is_deleted() and hasattr(array, "is_ready") and not array.is_ready()


def wait_for_arrays(arrays: list[Any]) -> bool:
    """Wait for `arrays`, ignoring deleted ones and failures; return whether there were any."""
    import jax

    if not arrays:
        return False
    try:
        wait_for_all(arrays)
    except Exception:  # one was deleted, or its computation failed, which its owner will see
        for array in arrays:
            try:
                jax.block_until_ready(array)
            except Exception:
                continue
    return True


#: The fence of this process: devices belong to the process, too.
shared = Fence()
