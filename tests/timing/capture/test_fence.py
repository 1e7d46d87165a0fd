"""When is work done? Each row of the table in docs/how-it-measures.md, on the real JAX."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.runtime.clock import now_ns
from jaxmagic.timing.capture import fence as fence_module
from jaxmagic.timing.capture.fence import Fence, shared
from jaxmagic.timing.capture.fence_queues import Doubt, Queue, Waited
from jaxmagic.timing.capture.stopwatch import Stopwatch

pytestmark = pytest.mark.clock

several_devices = pytest.mark.skipif(jax.local_device_count() < 4, reason="needs four local devices")


class Holder:
    """A plain object that holds arrays: no pytree."""

    def __init__(self, array: Any) -> None:
        self.array = array


def tiny_program(device: Any) -> Any:
    return jax.jit(lambda: jnp.zeros(()), out_shardings=jax.sharding.SingleDeviceSharding(device)).lower().compile()


def over_all_devices() -> Any:
    program = jax.jit(lambda: jnp.zeros(jax.local_device_count()), out_shardings=sharding_over_all())
    return program.lower().compile()


def sharding_over_all() -> Any:
    mesh = jax.sharding.Mesh(np.array(jax.local_devices()), ("i",))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param(lambda result: None, id="nothing"),
        pytest.param(lambda result: jax.effects_barrier(), id="effects_barrier"),
        pytest.param(lambda result: jax.block_until_ready(Holder(result)), id="block_until_ready of a plain object"),
        pytest.param(lambda result: jax.device_put(0.0).block_until_ready(), id="a transfer"),
    ],
)
def test_what_does_not_wait_for_work(work: Any, attempt: Any) -> None:
    assert any(work.is_left_running_by(attempt) for _ in range(10))


@several_devices
def test_a_program_on_another_device_does_not_wait(work: Any) -> None:
    program = tiny_program(jax.devices()[-1])
    assert any(work.is_left_running_by(lambda result: jax.block_until_ready(program())) for _ in range(10))


def test_a_program_behind_it_on_its_device_waits(work: Any) -> None:
    program = tiny_program(jax.devices()[0])
    assert not any(work.is_left_running_by(lambda result: jax.block_until_ready(program())) for _ in range(5))


@several_devices
def test_programs_on_each_device_do_not_wait_for_sharded_work(work: Any) -> None:
    programs = [tiny_program(device) for device in jax.local_devices()]
    sharded = work.on(sharding_over_all())
    assert any(
        sharded.is_left_running_by(lambda result: jax.block_until_ready([program() for program in programs]))
        for _ in range(10)
    )


@several_devices
def test_a_program_over_all_devices_does_not_wait_for_the_work_of_one(work: Any) -> None:
    program = over_all_devices()
    assert any(work.is_left_running_by(lambda result: jax.block_until_ready(program())) for _ in range(10))


def about_fence(watch: Stopwatch) -> list[str]:
    """The notes that name the fence; others tell that the system set this thread aside."""
    return [note for note in map(str, watch.timing.notes) if "fence" in note]


def programs_alone() -> Any:
    """The fence without its look at arrays that are alive, which the results of a test are."""
    fence = Fence()
    fence.prepare()
    return lambda: jax.block_until_ready([queue.enqueue() for queue in fence._queues])


def test_programs_wait_on_every_device_and_over_several(work: Any) -> None:
    wait = programs_alone()
    for place in (*jax.local_devices(), sharding_over_all()):
        moved = work.on(place)
        assert not any(moved.is_left_running_by(lambda result: wait()) for _ in range(3)), place


def test_fence_waits_for_work(work: Any) -> None:
    assert not any(work.is_left_running_by(lambda result: jaxmagic.fence()) for _ in range(3))


@several_devices
def test_programs_wait_for_random_mixes_of_work_on_one_device_and_on_several() -> None:
    wait = programs_alone()
    devices = jax.local_devices()
    x = jax.random.normal(jax.random.key(0), (400, 400))
    functions = [
        jax.jit(lambda x: jnp.tanh((x @ x) @ x)),
        jax.jit(lambda x: jnp.sort(x, axis=0)),
        jax.jit(lambda x: jax.lax.fori_loop(0, 10, lambda i, y: jnp.sin(y) + x, x)),
    ]
    places = [x, *(jax.device_put(x, device) for device in devices)]
    for group in (devices, devices[:2], devices[2:4]):
        mesh = jax.sharding.Mesh(np.array(group), ("i",))
        for spec in (("i",), (None, "i"), ()):
            sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))
            places.append(jax.device_put(x, sharding))
    for place in places:
        jax.block_until_ready([f(place) for f in functions])
    choose = random.Random(0)
    for _ in range(30):
        results = [choose.choice(functions)(choose.choice(places)) for _ in range(choose.randint(1, 5))]
        wait()
        assert all(result.is_ready() for result in results)


def test_fence_waits_for_effects() -> None:
    seen: list[float] = []

    @jax.jit
    def f(x: Any) -> Any:
        jax.debug.callback(lambda value: seen.append(float(value)), x.sum())
        return x

    f(jnp.ones(3))
    jaxmagic.fence()
    assert seen == [3.0]


def test_fence_waits_for_arrays_that_another_thread_dispatched(work: Any) -> None:
    shared.prepare()
    for _ in range(3):
        results: list[Any] = []
        thread = threading.Thread(target=lambda results=results: results.append(work()))
        thread.start()
        thread.join()
        jaxmagic.fence()
        assert results[0].is_ready()


def test_fence_leaves_no_array_behind(x: Any) -> None:
    before = {id(array) for array in jax.live_arrays()}
    jaxmagic.fence()
    assert {id(array) for array in jax.live_arrays()} == before


def test_fence_works_with_jit_disabled_and_transfers_forbidden_and_caches_cleared(x: Any) -> None:
    jaxmagic.fence()
    with jax.disable_jit():
        jaxmagic.fence()
    with jax.transfer_guard("disallow"):
        jaxmagic.fence()


@several_devices
@pytest.mark.parametrize("devices", [slice(4), slice(2), slice(2, 4), slice(1, 2)])
def test_within_a_mesh_of_the_users_it_waits_as_without(work: Any, devices: slice) -> None:
    chosen = np.array(jax.local_devices()[devices])
    with jax.set_mesh(jax.sharding.Mesh(chosen, ("x",))):
        wait = programs_alone()
        with jaxmagic.stopwatch() as watch:
            pass
        assert jax.sharding.get_abstract_mesh().shape == {"x": len(chosen)}
    assert not about_fence(watch)
    for place in (*jax.local_devices(), sharding_over_all()):
        assert not work.on(place).is_left_running_by(lambda result: wait()), place


def test_a_device_without_memory_for_the_fence_costs_the_user_a_note_only(monkeypatch: Any, x: Any) -> None:
    fence = Fence()
    fence.prepare()
    enqueue, fails = Queue.enqueue, [True]

    def allocate(queue: Queue) -> list[Any]:
        if fails[0]:
            raise MemoryError("out of memory")
        return enqueue(queue)

    monkeypatch.setattr(Queue, "enqueue", allocate)
    with Stopwatch(fence=fence) as watch:
        watch.result = x + 1
    (note,) = about_fence(watch)
    assert "the fence did not run (MemoryError)" in note
    assert watch.timing.unreached_ns is None
    monkeypatch.setattr(fence_module, "shared", fence)
    with pytest.raises(jaxmagic.NotMeasured, match="Delete arrays to free memory"):
        jaxmagic.fence()
    starts_so = Stopwatch(fence=fence)
    starts_so.start()
    fails[0] = False
    assert any("the fence did not run (MemoryError)" in str(note) for note in starts_so.stop().notes)
    with Stopwatch(fence=fence) as watch:
        pass
    assert not about_fence(watch)


def test_a_fence_that_could_not_be_calibrated_is_tried_again(monkeypatch: Any) -> None:
    fence = Fence()
    with monkeypatch.context() as patch:
        patch.setattr(Queue, "measure_costs", lambda queue: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            fence.prepare()
    assert not fence.ready
    fence.prepare()
    assert fence.ready


def test_idle_fence_finds_no_work(x: Any) -> None:
    """On a clock that stands still, so that other processes cannot make it late: only work that is there is found."""
    fence = Fence(clock=lambda: 0)
    fence.prepare()
    jaxmagic.fence()
    assert [fence.wait().found_work for _ in range(20)] == [False] * 20


def test_wait_tells_held_work_from_work_thrown_away(work: Any) -> None:
    fence = Fence()
    fence.prepare()
    truth_ns = work.truth_ns()
    start_ns = time.perf_counter_ns()
    work()
    thrown_away = fence.wait()
    assert thrown_away.found_work
    assert thrown_away.held_until_ns is None
    assert thrown_away.until_ns - start_ns > truth_ns / 4
    start_ns = time.perf_counter_ns()
    result = work()
    held = fence.wait()
    assert held.held_until_ns is not None
    assert held.held_until_ns - start_ns > truth_ns / 4
    assert result.is_ready()


def test_a_doubt_is_settled_by_whoever_wants_to_know_and_leaves_what_was_found_before() -> None:
    """It takes milliseconds: too long for a drain, and no processor time of the user's."""
    queue = Queue([], "cpu", several=True, clock=now_ns)
    before = Waited(True, 50, 50)
    assert Fence().settle(before) is before
    for as_idle in (True, False):
        queue.is_as_idle = lambda time_ns, found=as_idle: found  # type: ignore[method-assign]
        one = Waited(True, 900, 900, Doubt(queue, 850, before))
        two = Waited(True, 990, 990, Doubt(queue, 90, one))
        assert Fence().settle(one) is (before if as_idle else one)
        assert Fence().settle(two) is (before if as_idle else two)


@pytest.mark.slow
def test_fence_starts_no_backend() -> None:
    program = (
        "import jaxmagic; jaxmagic.fence()\n"
        "from jax._src import xla_bridge; assert not xla_bridge.backends_are_initialized()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(("late_ns", "found"), [(10_000_000, False), (90_000_000, True)])
def test_the_first_run_of_the_fence_is_not_the_users_work(monkeypatch: Any, late_ns: int, found: bool) -> None:
    """It starts the threads of all devices, which took up to milliseconds, and counted as a wait of the user's."""
    monkeypatch.setattr(Fence, "wait_for_programs", lambda self, asked_ns: Waited(True, asked_ns + late_ns))
    waited = Fence().prepare()
    assert waited is not None
    assert waited.found_work is found


def test_live_arrays_of_all_started_backends_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that are copied from a GPU belong to the CPU's backend, which jax.live_arrays() does not list."""
    asked: list[Any] = []

    def live_arrays(platform: str | None = None) -> list[Any]:
        asked.append(platform)
        return [f"array of {platform}"]

    devices = [SimpleNamespace(platform=name) for name in ("cpu", "other", "other")]
    assert fence_module._platforms_beside_default(devices) == ("other",)
    assert fence_module._platforms_beside_default(devices[:1]) == ()
    monkeypatch.setattr(jax, "live_arrays", live_arrays)
    assert fence_module._live_arrays(()) == ["array of None"]
    assert fence_module._live_arrays(("other",)) == ["array of None", "array of other"]
    assert asked == [None, None, "other"]


def test_a_fence_looks_at_the_platforms_of_its_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []

    def live_arrays(beside: Any, *_: Any, **__: Any) -> list[Any]:
        looked.append(tuple(beside))
        return []

    monkeypatch.setattr(fence_module, "_live_arrays", live_arrays)
    monkeypatch.setattr(fence_module, "_platforms_beside_default", lambda devices: ("other",))
    fence = Fence()
    fence.prepare()
    looked.clear()
    fence.wait()
    assert ("other",) in looked


class Array:
    """An array whose backend begins to watch it when it is first asked."""

    def __init__(self, *answers: bool, deleted: bool = False) -> None:
        self.answers = list(answers)
        self.deleted = deleted

    def is_deleted(self) -> bool:
        return self.deleted

    def is_ready(self) -> bool:
        assert not self.deleted
        return self.answers.pop(0)


def test_an_array_that_is_ready_at_the_second_look_is_not_waited_for() -> None:
    ready, late, running, deleted = Array(True), Array(False, True), Array(False, False), Array(deleted=True)
    assert fence_module.unready([ready, late, running, deleted]) == [running]


def test_where_jax_lists_arrays_in_no_order_all_of_them_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [jnp.zeros(()) for _ in range(100)]
    in_order = jax.live_arrays
    monkeypatch.setattr(jax, "live_arrays", lambda *platform: in_order(*platform)[::-1])
    youngest = kept[-1]
    assert not any(each is youngest for each in fence_module._live_arrays((), fence_module._YOUNGEST))
    program = (
        "import sys, sysconfig; sysconfig.get_config_var = {'Py_GIL_DISABLED': 1}.get;"
        "from jaxmagic.timing.capture import fence; print(fence._YOUNGEST)"
    )
    without_gil = int(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    assert any(each is youngest for each in fence_module._live_arrays((), without_gil))


@pytest.mark.skipif(fence_module._YOUNGEST > 64, reason="without the GIL, all arrays are asked")
def test_arrays_of_old_are_waited_for_and_not_asked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking each of thousands of arrays empties the caches, and the next call takes 100 µs longer."""
    kept = [jnp.ones(2) for _ in range(2 * fence_module._YOUNGEST)]
    asked: list[int] = []
    waited: list[Any] = []
    monkeypatch.setattr(fence_module, "unready", lambda arrays: asked.append(len(arrays)) or [])
    monkeypatch.setattr(fence_module, "wait_for_arrays", lambda arrays: waited.extend(arrays) or False)
    shared.wait_for_others(Waited(False, now_ns()))
    assert asked == [fence_module._YOUNGEST]
    assert {*map(id, kept[: fence_module._YOUNGEST])} <= {*map(id, waited)}
