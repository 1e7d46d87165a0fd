"""The time that devices worked: of real recordings from accelerators, where they are at hand, and of the CPU."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.analysis.device_time import busy_within, union
from jaxmagic.capture import profile
from jaxmagic.capture.profile import mark_call, read_recording, take_device_time

RECORDINGS = Path(__file__).parents[3] / "shared" / "data" / "traces"

records_cpu = pytest.mark.skipif(
    jax.__version_info__ < profile._RECORDS_CPU, reason="this JAX does not record all operations of the CPU"
)


class Event(NamedTuple):
    name: str
    start_ns: float
    duration_ns: float
    stats: Any = ()


class Line(NamedTuple):
    name: str
    events: list[Event]


class Plane(NamedTuple):
    name: str
    lines: list[Line]


class Recording(NamedTuple):
    planes: list[Plane]


CALL = Event(profile._CALL, 100, 50)


def test_streams_of_a_gpu_are_one_device_and_copies_are_work() -> None:
    gpu = Plane(
        "/device:GPU:1",
        [
            Line("Stream #13(Compute)", [Event("dot", 90, 30)]),
            Line("Stream #14(MemcpyD2D)", [Event("copy", 110, 20)]),
            Line("XLA Modules", [Event("jit_f", 0, 1000)]),
        ],
    )
    windows, work = read_recording(Recording([gpu, Plane("/host:CPU", [Line("python", [CALL])])]))
    assert windows == [(100, 150)]
    assert busy_within(work, windows) == {"GPU:1": 30}


def test_of_a_tpu_the_operations_count_and_not_the_modules_around_them() -> None:
    tpu = Plane(
        "/device:TPU:0",
        [
            Line("Steps", [Event("0", 0, 1000)]),
            Line("XLA Modules", [Event("jit_f", 0, 1000)]),
            Line("XLA Ops", [Event("%dot", 105, 10), Event("%add", 115, 5)]),
            Line("Async XLA Ops", [Event("%copy-start", 118, 12)]),
        ],
    )
    assert busy_within(read_recording(Recording([tpu]))[1], [(100, 150)]) == {"TPU:0": 25}


def test_of_the_host_only_operations_of_xla_are_work() -> None:
    operation = {"hlo_op": "dot.1", "device_ordinal": 2}.items()
    lines = [
        Line("tf_XLAEigen/1", [Event("dot.1", 110, 20, operation), Event("ThreadpoolListener::Record", 100, 50)]),
        Line("python", [CALL, Event("PjitFunction(f)", 100, 50, {"x": 1}.items())]),
    ]
    assert busy_within(read_recording(Recording([Plane("/host:CPU", lines)]))[1], [(100, 150)]) == {"CPU:2": 20}


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="the recordings are not part of the repository")
@pytest.mark.parametrize(
    ("name", "devices"),
    [
        ("gpu_mi300_8dev_conv.xplane.pb", [f"GPU:{number}" for number in range(8)]),
        ("tpu_v6e_4dev_inference.xplane.pb", [f"TPU:{number}" for number in range(4)]),
    ],
)
def test_real_recordings_have_all_devices_and_none_works_longer_than_it_was_recorded(
    name: str, devices: list[str]
) -> None:
    _, work = read_recording(jax.profiler.ProfileData.from_file(str(RECORDINGS / name)))
    assert sorted(work) == devices
    first = min(start for spans in work.values() for start, _ in spans)
    last = max(end for spans in work.values() for _, end in spans)
    for spans in work.values():
        busy = sum(end - start for start, end in union(spans))
        assert 0 < busy <= min(last - first, sum(end - start for start, end in spans))


@records_cpu
def test_work_of_the_cpu_is_most_of_a_long_call(x: Any) -> None:
    f = jax.jit(lambda x: jnp.tanh(x @ x))
    big = jnp.ones((700, 700))
    f(big).block_until_ready()

    def call() -> None:
        with mark_call():
            f(big).block_until_ready()

    found = take_device_time(call, 4)
    assert found.problem is None
    assert found.devices == ("CPU:0",)
    assert found.call_ns is not None
    assert 0.3 * found.wall_ns < 4 * found.call_ns <= found.wall_ns


@records_cpu
def test_work_outside_the_calls_does_not_count() -> None:
    f = jax.jit(lambda x: x @ x)
    big = jnp.ones((700, 700))
    f(big).block_until_ready()

    def call() -> None:
        f(big).block_until_ready()
        with mark_call():
            np.ones(3)

    assert take_device_time(call, 3).problem == "no device worked"


@records_cpu
def test_a_profiler_in_use_is_left_alone(tmp_path: Path) -> None:
    jax.profiler.start_trace(str(tmp_path))
    try:
        found = take_device_time(lambda: None, 3)
        assert found.call_ns is None
        assert "the profiler could not be started" in str(found.problem)
    finally:
        jax.profiler.stop_trace()  # which was the user's, and still runs
    assert list(tmp_path.rglob("*.xplane.pb"))


@records_cpu
def test_what_a_call_raises_comes_through_and_the_profiler_is_stopped() -> None:
    with pytest.raises(ZeroDivisionError):
        take_device_time(lambda: 1 / 0, 3)
    with mark_call():
        pass
    assert take_device_time(lambda: None, 1).problem == "the profiler lost some of the calls"


def test_a_jax_that_does_not_record_the_cpu_says_so(monkeypatch: Any) -> None:
    monkeypatch.setattr(profile, "_RECORDS_CPU", (99, 0))
    found = take_device_time(lambda: None, 3)
    assert found.problem == "this JAX does not record all operations of the CPU"


@pytest.fixture(autouse=True)
def nothing_is_left_on_the_disk(tmp_path_factory: pytest.TempPathFactory, monkeypatch: Any) -> Iterator[None]:
    directory = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(directory))
    yield
    assert os.listdir(directory) == []
