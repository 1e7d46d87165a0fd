"""The memory sampler: what it measures, its overhead, and that its thread always ends."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.memory_use.capture import usage_readings as memory_use
from jaxmagic.memory_use.capture.usage_readings import ProcessSize, array_bytes, high_water_bytes
from jaxmagic.memory_use.capture.usage_sampler import MemorySampler
from jaxmagic.memory_use.record.usage import MemoryTimeline

MB = 10**6


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "jaxmagic memory"]


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    assert threads() == []


class Clock:
    """A clock that scripted waits advance."""

    def __init__(self) -> None:
        self.ns = 0

    def __call__(self) -> int:
        return self.ns

    def waits(self, *late_ns: int) -> Callable[[float], bool]:
        """Let each wait take the requested time and a delay of the script; end after the last one."""
        script = iter(late_ns)

        def wait(seconds: float) -> bool:
            late = next(script, None)
            if late is None:
                return True
            self.ns += round(seconds * 1e9) + late
            return False

        return wait


def scripted(*late_ns: int, **world: Any) -> MemoryTimeline:
    """A timeline of a fabricated world, with an interval of 1000 ns, and readings that take no time."""
    clock = Clock()
    usual: dict[str, Any] = {
        "interval_ns": 1000,
        "clock": clock,
        "cpu_clock": lambda: 0,
        "devices": lambda: (),
        "read_rss": lambda: 1,
        "read_high_water": lambda: None,
        "wait": clock.waits(*late_ns),
    }
    sampler = MemorySampler(**(usual | world))
    sampler.start()
    return sampler.stop()


def device(stats: Any, number: int = 0, arrays: Any = ()) -> Any:
    """A GPU whose memory_stats() returns `stats`, or its elements one after the other if it is a list."""
    answers = iter(stats) if isinstance(stats, list) else None

    def memory_stats() -> Any:
        answer = next(answers) if answers else stats
        if isinstance(answer, Exception):
            raise answer
        return answer

    client = SimpleNamespace(live_arrays=lambda: list(arrays))
    return SimpleNamespace(platform="gpu", id=number, memory_stats=memory_stats, client=client)


def stats(in_use: int, peak: int) -> dict[str, int]:
    return {"bytes_in_use": in_use, "peak_bytes_in_use": peak, "bytes_limit": 1000}


def test_memory_of_numpy_is_seen() -> None:
    sampler = MemorySampler()
    sampler.start()
    block = np.ones(200 * MB // 8)
    seen = sampler.stop()
    assert seen.rss_start_bytes is not None
    assert seen.rss_end_bytes is not None
    assert seen.rss_peak_bytes is not None
    assert 190 * MB < seen.rss_peak_bytes - seen.rss_start_bytes < 300 * MB
    assert seen.rss_end_bytes - seen.rss_start_bytes > 190 * MB
    del block


def test_memory_that_came_and_went_is_seen_by_the_thread() -> None:
    """Wait for the samples of the thread, not for a fixed time."""
    looked = threading.Semaphore(0)
    read = ProcessSize()

    def read_rss() -> int:
        size = read()
        if threading.current_thread().name == "jaxmagic memory":
            looked.release()
        return size

    sampler = MemorySampler(read_rss=read_rss, read_high_water=lambda: None)
    sampler.start()
    block = np.ones(200 * MB // 8)
    while looked.acquire(blocking=False):
        pass
    for _ in range(2):  # the first sample may be from before
        assert looked.acquire(timeout=60)
    del block
    seen = sampler.stop()
    read.close()
    assert seen.rss_peak_bytes - seen.rss_start_bytes > 190 * MB  # type: ignore[operator]
    assert seen.rss_end_bytes - seen.rss_start_bytes < 100 * MB  # type: ignore[operator]
    assert len(seen.times_ns) == len(seen.rss_bytes) == len(seen.array_bytes) > 2
    assert list(seen.times_ns) == sorted(seen.times_ns)


def test_arrays_are_seen_on_all_of_their_devices_and_not_kept() -> None:
    sampler = MemorySampler()
    sampler.start()
    array = jnp.ones(MB)
    array.block_until_ready()
    gone = weakref.ref(array)
    seen = sampler.stop()
    assert seen.array_bytes[-1] - seen.array_bytes[0] == 4 * MB  # type: ignore[operator]
    del array
    gc.collect()
    assert gone() is None


def test_a_copy_on_each_device_counts_on_each() -> None:
    devices = jax.local_devices()
    before = array_bytes(devices)
    mesh = jax.sharding.Mesh(np.array(devices), "x")
    copies = jax.device_put(np.ones(1000, np.float32), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))
    assert array_bytes(devices) - before == 4000 * len(devices)  # type: ignore[operator]
    copies.delete()
    assert array_bytes(devices) == before


@pytest.mark.parametrize("make", [jnp.asarray, jax.device_put])
def test_to_count_arrays_makes_none(make: Any) -> None:
    x = make(np.ones(5000, np.float32))
    alive = len(jax.live_arrays())
    assert array_bytes([jax.devices()[0]]) >= x.nbytes  # type: ignore[operator]
    assert len(jax.live_arrays()) == alive


def test_what_has_been_printed_counts_once() -> None:
    x = jnp.ones(5000)
    before = array_bytes([jax.devices()[0]])
    alive = len(jax.live_arrays())
    repr(x)
    copy = x.clone() if len(jax.live_arrays()) == alive else x  # as printing does on JAX up to 0.10
    assert len(jax.live_arrays()) > alive
    assert array_bytes([jax.devices()[0]]) == before
    del copy


def test_deleted_arrays_take_nothing_and_are_not_asked() -> None:
    def never() -> int:
        raise AssertionError

    deleted = SimpleNamespace(is_deleted=lambda: True, on_device_size_in_bytes=never)
    bytes_of = {"size": 7, "dtype": np.dtype("uint8")}
    alive = SimpleNamespace(is_deleted=lambda: False, on_device_size_in_bytes=lambda: 5, **bytes_of)
    does_not_say = SimpleNamespace(is_deleted=lambda: False, on_device_size_in_bytes=never, **bytes_of)
    donated = SimpleNamespace(is_deleted=iter([False, True]).__next__, on_device_size_in_bytes=never)
    one = device(None, arrays=[deleted, alive, does_not_say, donated])
    other = SimpleNamespace(client=one.client)
    assert array_bytes([one, other]) == 12  # a client is queried once, however many devices it has
    assert array_bytes(None) is None


def test_samples_are_on_a_grid_and_missed_ones_are_counted() -> None:
    seen = scripted(0, 0, 2500, 0, read_rss=iter([1, 5, 2, 3, 4, 9]).__next__)
    assert seen.times_ns == (0, 1000, 2000, 5500, 6000, 6000)
    assert seen.rss_bytes == (1, 5, 2, 3, 4, 9)
    assert seen.samples_missed == 2
    assert seen.samples_spared == 0


def test_a_thread_that_never_came_to_run_has_missed_everything() -> None:
    clock = Clock()

    def wait(seconds: float) -> bool:
        clock.ns += 5500
        return True

    assert scripted(clock=clock, wait=wait).samples_missed == 4


def test_dear_samples_are_spared() -> None:
    cpu = iter(range(0, 10**9, 10**6))  # a millisecond each: 333 of them at the share of 0.3 %
    seen = scripted(*[0] * 5, interval_ns=10**6, cpu_clock=lambda: next(cpu))
    apart = [later - earlier for earlier, later in zip(seen.times_ns[1:-2], seen.times_ns[2:-1], strict=True)]
    assert all(each >= 333 * 10**6 for each in apart)
    assert seen.samples_spared > 500
    assert any("to limit overhead" in str(note) for note in seen.notes)


def test_arrays_are_looked_at_less_often_where_there_are_many() -> None:
    cpu = SimpleNamespace(ns=0)

    def live_arrays() -> list[Any]:
        cpu.ns += 10_000
        return []

    many = SimpleNamespace(
        platform="cpu", id=0, memory_stats=lambda: None, client=SimpleNamespace(live_arrays=live_arrays)
    )
    seen = scripted(*[0] * 40, interval_ns=10**6, cpu_clock=lambda: cpu.ns, devices=lambda: [many])
    looks = [time for time, value in zip(seen.times_ns, seen.array_bytes, strict=True) if value is not None]
    assert looks == [0, 10**7, 2 * 10**7, 3 * 10**7, 4 * 10**7, 4 * 10**7]  # 0.1 % of the time, and at the ends


def test_thinning_keeps_the_extremes_and_the_room() -> None:
    sizes = [50] * 500
    sizes[101], sizes[203] = 99, 1
    seen = scripted(*[0] * 498, most_samples=20, read_rss=iter(sizes).__next__)
    assert len(seen.times_ns) <= 20
    assert max(seen.rss_bytes) == 99  # type: ignore[type-var]
    assert min(seen.rss_bytes) == 1  # type: ignore[type-var]
    assert seen.times_ns[0] == 0
    assert list(seen.times_ns) == sorted(seen.times_ns)
    assert seen.times_ns[-1] > 498_000  # the later, the further apart
    assert seen.interval_ns == 1000
    assert any("are kept, including the extremes" in str(note) for note in seen.notes)


def test_a_device_tells_bytes_peak_and_limit() -> None:
    gpu = device([stats(10, 50), stats(10, 50), stats(30, 50), stats(20, 80)])
    seen = scripted(0, devices=lambda: [gpu])
    assert seen.device_bytes == {"gpu:0": (10, 30, 20)}
    assert seen.device_peak_bytes == {"gpu:0": (50, 80)}
    assert seen.device_limit_bytes == {"gpu:0": 1000}
    peak = seen.window_peak("gpu:0")
    assert peak is not None
    assert (peak.exact, peak.at_least_bytes) == (True, 80)
    assert seen.notes == ()


UNKNOWN = "The memory in use on gpu:0, gpu:1 is unknown"
SAMPLED = "The peak memory of gpu:0, gpu:1 is a lower bound, from samples alone"


@pytest.mark.parametrize(
    ("said", "column", "note"),
    [
        (None, None, f"{UNKNOWN}: the device has no memory_stats()."),
        ({}, None, f"{UNKNOWN}: the device has no memory_stats()."),
        (NotImplementedError("x"), None, f"{UNKNOWN}: memory_stats() failed (NotImplementedError)."),
        ({"peak_bytes_in_use": 4}, None, f"{UNKNOWN}: memory_stats() has no bytes_in_use."),
        ({"bytes_in_use": -1, "peak_bytes_in_use": 4}, None, f"{UNKNOWN}: memory_stats() has no bytes_in_use."),
        (
            {"bytes_in_use": 4, "peak_bytes_in_use": -1, "bytes_limit": -1},
            (4, 4),
            f"{SAMPLED}: memory_stats() has no peak_bytes_in_use.",
        ),
        (
            {"bytes_in_use": 4},
            (4, 4),
            f"{SAMPLED}: memory_stats() has no peak_bytes_in_use.",
        ),
    ],
)
def test_what_a_device_does_not_say_is_a_note(said: Any, column: Any, note: str) -> None:
    pair = [device(said, 0), device(said, 1)]
    seen = scripted(devices=lambda: pair)
    assert seen.device_bytes == ({} if column is None else {"gpu:0": column, "gpu:1": column})
    assert seen.device_limit_bytes == {}
    assert list(map(str, seen.notes)) == [note]


def test_a_device_that_was_started_meanwhile_began_with_nothing() -> None:
    answers = iter([(), (), (), (), (), ()])
    gpu = device(stats(7, 9))
    seen = scripted(0, 0, 0, devices=lambda: next(answers, [gpu]))
    column = seen.device_bytes["gpu:0"]
    assert column[0] is None
    assert column[-1] == 7
    assert seen.device_peak_bytes == {"gpu:0": (0, 9)}
    assert seen.array_bytes[0] == 0


def test_devices_that_are_unknown_are_not_started() -> None:
    seen = scripted(devices=lambda: None)
    assert seen.array_bytes == (None, None)
    assert [each.kind for each in seen.notes] == ["memory_use.devices_unknown"]


def test_a_look_that_fails_is_a_note_and_the_others_go_on() -> None:
    broken = device(stats(1, 1))
    del broken.client
    seen = scripted(0, devices=lambda: [broken])
    assert seen.array_bytes == (None, None, None)
    assert seen.rss_bytes == (1, 1, 1)
    assert list(map(str, seen.notes)) == [
        "Could not read the memory of live arrays (AttributeError); not tried again."
    ]


def test_an_error_in_the_thread_ends_it_and_is_a_note(capfd: Any) -> None:
    def wait(seconds: float) -> bool:
        raise MemoryError("x")

    seen = scripted(wait=wait)
    assert seen.times_ns == (0, 0)
    assert list(map(str, seen.notes)) == ["Sampling ended 0 ns after the start (MemoryError)."]
    assert capfd.readouterr() == ("", "")


def test_the_thread_ends_when_the_code_raises() -> None:
    sampler = MemorySampler()
    with pytest.raises(ZeroDivisionError):
        sampler.start()
        try:
            assert len(threads()) == 1
            1 / 0  # noqa: B018
        finally:
            sampler.stop()
    assert threads() == []


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has the file, and says which are open")
def test_the_file_is_closed_when_sampling_has_ended() -> None:
    def files() -> int:
        return sum(
            os.path.realpath(f"/proc/self/fd/{name}").endswith("statm") for name in os.listdir("/proc/self/fd")
        )

    sampler = MemorySampler()
    before = files()
    sampler.start()
    assert files() == before + 1
    sampler.stop()
    assert files() == before
    interrupted = MemorySampler(read_high_water=lambda: signal.raise_signal(signal.SIGINT))  # type: ignore[func-returns-value]
    with pytest.raises(KeyboardInterrupt):
        interrupted.start()
    assert files() == before


def test_a_device_that_has_nothing_to_say_is_not_asked_again() -> None:
    silent = device([None])  # a second query would raise StopIteration
    (note,) = scripted(0, 0, devices=lambda: [silent]).notes
    assert str(note) == "The memory in use on gpu:0 is unknown: the device has no memory_stats()."


def test_stopping_again_returns_the_same() -> None:
    sampler = MemorySampler()
    with pytest.raises(RuntimeError, match="call start"):
        sampler.stop()
    sampler.start()
    assert sampler.stop() is sampler.stop()
    with pytest.raises(RuntimeError, match="make one for each block"):
        sampler.start()


def test_an_interrupt_in_start_leaves_no_thread(monkeypatch: Any) -> None:
    def read_high_water() -> int:
        signal.raise_signal(signal.SIGINT)
        return 1

    sampler = MemorySampler(read_high_water=read_high_water)
    with pytest.raises(KeyboardInterrupt):
        sampler.start()
    assert threads() == []


def test_an_interrupt_that_is_raised_within_start_leaves_no_thread() -> None:
    raised = []

    def read_rss() -> int:
        if not raised:
            raised.append(1)
            raise KeyboardInterrupt
        return 1

    sampler = MemorySampler(read_rss=read_rss)
    with pytest.raises(KeyboardInterrupt):
        sampler.start()
    with pytest.raises(RuntimeError, match="call start"):
        sampler.stop()


def test_an_interrupt_in_stop_arrives_when_there_is_a_record() -> None:
    marks = iter([1, 2])

    def read_high_water() -> int:
        mark = next(marks)
        if mark == 2:
            signal.raise_signal(signal.SIGINT)
        return mark

    sampler = MemorySampler(read_high_water=read_high_water)
    sampler.start()
    with pytest.raises(KeyboardInterrupt):
        sampler.stop()
    assert threads() == []
    assert sampler.stop().rss_high_water_bytes == (1, 2)


def test_a_sampler_that_is_forgotten_ends_its_thread() -> None:
    sampler = MemorySampler()
    sampler.start()
    (thread,) = threads()
    del sampler
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()


def test_sizes_agree_and_the_file_is_closed(monkeypatch: Any) -> None:
    read = ProcessSize()
    with_file = read()
    read.close()
    monkeypatch.setattr(memory_use, "FileIO", lambda path: (_ for _ in ()).throw(OSError))
    assert abs(ProcessSize()() - with_file) < 50 * MB  # by psutil
    assert high_water_bytes() is None


@pytest.mark.skipif(sys.platform != "linux", reason="Linux keeps it")
def test_the_high_water_mark_is_no_lower_than_now() -> None:
    mark = high_water_bytes()
    read = ProcessSize()
    assert mark is not None
    assert mark > 0.9 * read()
    read.close()


@pytest.mark.slow
def test_no_backend_is_started() -> None:
    program = """
import sys
from jaxmagic.memory_use.capture.usage_sampler import MemorySampler
def sample():
    sampler = MemorySampler(); sampler.start(); return sampler.stop()
first = sample()
assert "jax" not in sys.modules
import jax
from jax._src import xla_bridge
second = sample()
assert not xla_bridge.backends_are_initialized()
assert first.array_bytes[0] == second.array_bytes[-1] == 0
"""
    subprocess.run([sys.executable, "-W", "error::ResourceWarning", "-c", program], check=True, timeout=110)
