"""Waiting for everything: the fence.

Waiting for a result is not enough, because work whose result was dropped is reachable from no array. What
works is to enqueue a trivial program *behind* the work on every device, and to wait for that. Devices run the
programs of one dispatching thread in order; on the CPU the programs of one device and those sharded over
several are two separate queues, so there is a program for each device and one over all of them. (No collective:
it would wait for no more, and on GPUs would start NCCL.) The evidence is in ``docs/how-it-measures.md`` and in
``tests/timing/capture/test_fence.py``.

The programs take no argument, so that nothing of ours is among ``jax.live_arrays()`` and no transfer guard is
met; they are compiled ahead of time, so that ``jax.clear_caches()`` does not make them compile again.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable, Sequence
from typing import Any

from ...compilation.capture.compile_log import unheard
from ...errors import NotMeasured
from ...interrupts import uninterrupted
from ...runtime import private_api
from ...runtime.clock import Clock, now_ns
from ...runtime.jax_version import require_jax
from .fence_queues import Costs, Doubt, Queue, Waited, jit_enabled, queues_of
from .wait import wait_for_all

#: ``jax.effects_barrier()`` takes some 20 µs where there is nothing to wait for.
_EFFECTS_NS = 100_000

#: What the first run of the programs may take, when the threads of all devices are still to be started.
_FIRST_RUN_NS = 50_000_000

#: How many of the youngest arrays are looked at to tell work that an array still holds from work thrown away. Without
#: the GIL, JAX lists arrays in no order: then it is all of them.
_YOUNGEST = sys.maxsize if sysconfig.get_config_var("Py_GIL_DISABLED") else 64


class Fence:
    """Programs for every local device, compiled once, and what waiting for them costs when there is no work.

    Attributes:
        ready: whether it covers the devices that there were at the last :meth:`prepare`.
        failure: the name of the exception with which a program failed at the last wait, such as one for want of
            memory; ``None`` if none did. What nobody holds was not waited for then.
    """

    def __init__(self, clock: Clock = now_ns) -> None:
        self.ready = False
        self.failure: str | None = None
        self._clock = clock
        self._devices: tuple[Any, ...] = ()
        self._beside: tuple[str, ...] = ()
        self._queues: tuple[Queue, ...] = ()

    def prepare(self) -> Waited | None:
        """Compile the programs for the devices there are, and measure an idle fence.

        Does nothing where that has been done, and nothing where no backend has been started: to start one
        would be a change of the user's session, and there is no work to wait for.

        Returns:
            What was found running behind the compilation, ``None`` where nothing had to be done. Only work that runs
            much longer than the first programs themselves may take is said to be work.
        """
        devices = _local_devices()
        if devices == self._devices:
            return None
        self.ready = False
        self._compile(devices)
        self._devices = ()  # until it is known what they cost: where that fails, it is tried again
        asked_ns = self._clock()
        found = self.wait_for_programs(asked_ns)  # what is running would count as the idle cost
        if found.until_ns - asked_ns < _FIRST_RUN_NS:
            found = Waited(False, asked_ns)
        measured: dict[tuple[str, bool], Costs] = {}  # devices of a kind cost the same
        for queue in self._queues:
            kind = queue.platform, queue.several
            if kind not in measured:
                measured[kind] = queue.measure_costs()
            queue.costs = measured[kind]
        self._devices, self._beside = devices, _platforms_beside_default(devices)
        self.ready = bool(devices)
        return found

    @uninterrupted  # or flags of JAX would not come back
    def _compile(self, devices: Sequence[Any]) -> None:
        with unheard(), jit_enabled(), private_api.not_written_to_cache():
            self._queues = queues_of(devices, self._clock)

    def wait(self) -> Waited:
        """Wait for all work of this process, and say whether there was any beyond now."""
        return self.wait_for_others(self.wait_for_programs())

    def wait_for_programs(self, asked_ns: int | None = None) -> Waited:
        """Wait for all work that this thread has dispatched, by programs queued behind it.

        Args:
            asked_ns: a clock reading just taken; with it, no moment goes by in which work could end unseen.
        """
        if asked_ns is None:
            asked_ns = self._clock()
        self.failure = None
        try:
            return self._ask_queues(asked_ns)
        except Exception as error:  # a device that is out of memory: the code that is measured goes on
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
        """Return what was found, after all.

        Measures again where that is in doubt, which takes milliseconds of its own.
        """
        while (doubt := waited.doubt) is not None and doubt.queue.is_as_idle(doubt.time_ns):
            waited = doubt.without
        return waited

    def _wait_for_work(self, pending: Sequence[Any], asked_ns: int, queue: Queue) -> tuple[Waited, bool]:
        """There is work. Whose? Wait for the arrays that are still alive first, then for the rest.

        Returns:
            What was found, and whether an array had to be waited for: then there was work without a doubt.
        """
        import jax

        held_ns = (
            self._clock() if wait_for_arrays(unready(_live_arrays(self._beside, _YOUNGEST, but=pending))) else None
        )
        jax.block_until_ready(pending)
        until_ns = max(self._clock() - queue.costs.behind_ns, held_ns or asked_ns)
        if held_ns is not None:
            return Waited(True, until_ns, held_ns), True
        near_idle = queue.is_near_idle(until_ns - asked_ns)  # too short to say that work was thrown away
        return Waited(True, until_ns, until_ns if near_idle else None), False

    def wait_for_others(self, waited: Waited) -> Waited:
        """Wait for callbacks and for arrays that other threads dispatched: no program of ours is behind those."""
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
        wait_for_arrays(unready(arrays[_YOUNGEST:]))
        return waited


def fence() -> None:
    """Wait until all JAX work that this process has started is done, whoever holds its results.

    Unlike :func:`jax.block_until_ready` it needs no array: it also waits for work whose result was thrown
    away, for computations over several devices, for callbacks and effects, and for arrays that other threads
    dispatched as long as they are alive. What it cannot wait for is work of another thread whose result nobody
    holds, and work of other processes. Where no backend has been started it returns at once.

    Raises:
        JaxNotAvailable: JAX is not installed or too old.
        NotMeasured: a device could not run the program that waits, for want of memory for instance.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> _ = jax.jit(lambda x: x @ x)(jnp.ones((500, 500)))
    >>> jaxmagic.fence()
    """
    require_jax()
    shared.prepare()
    shared.wait()
    if shared.failure is not None:
        raise NotMeasured(
            "Arrays that are alive were waited for, but not work whose result was thrown away: a device could not "
            f"run the program that waits for it ({shared.failure}). Delete arrays to free memory, and try again."
        )


def _local_devices() -> tuple[Any, ...]:
    """The devices of this process on every backend that has been started; starts none."""
    if private_api.backends_started() is False:
        return ()
    return private_api.local_devices()


def _live_arrays(beside: Iterable[str], most: int | None = None, but: Sequence[Any] = ()) -> list[Any]:
    """List live arrays, youngest first: those of the default backend, then those of the platforms `beside` it."""
    import jax

    if private_api.backends_started() is False:  # asking would start one
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
    """Return the arrays that have to be waited for.

    Arrays are asked twice: where a backend begins to watch an array when it is first asked, its first answer is no.
    """
    found = [array for array in arrays if not array.is_deleted() and not array.is_ready()]
    return [array for array in found if not array.is_deleted() and not array.is_ready()]


def wait_for_arrays(arrays: list[Any]) -> bool:
    """Wait for `arrays`, whatever became of them; whether there were any."""
    import jax

    if not arrays:
        return False
    try:
        wait_for_all(arrays)
    except Exception:  # one of them was deleted, or its computation failed: that is its owner's to hear of
        for array in arrays:
            try:
                jax.block_until_ready(array)
            except Exception:
                continue
    return True


#: The process's one fence: devices are the process's, too.
shared = Fence()
