"""Reading traces: fabricated ones, real ones of three kinds of devices, and broken ones."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st
from recordings import operation, space, trace

from jaxmagic.profiling.analysis.interpret import interpreted
from jaxmagic.profiling.capture.xplane import Plane, xspace_messages
from jaxmagic.profiling.capture.xspace import read_recording
from jaxmagic.profiling.record.recording import Trace, TraceLine


def rows(recording: Trace, track: TraceLine) -> list[tuple[str, int, int]]:
    names = [recording.kinds[each].name for each in track.kinds]
    return list(zip(names, track.start_ps.tolist(), track.end_ps.tolist(), strict=True))


def test_events_of_a_thread_are_those_of_the_devices_whose_operations_it_runs_and_the_rest_is_the_hosts() -> None:
    events = [
        ("f", 0, 900, []),
        ("dot.1", 10, 20, operation(1)),
        ("dot.1", 40, 20, operation(2, device=1)),
        ("end: dot.1", 60, 0, operation(2)),
        ("dot.1", 70, 0, operation(3)),
    ]
    found = read_recording([("", space({"name": "/host:CPU", "lines": {"thread": events}, "start_ns": 2}))])
    by_device = {track.device: rows(found, track) for track in found.tracks}
    assert by_device == {
        None: [("f", 2000, 2900), ("end: dot.1", 2060, 2060)],
        "CPU:0": [("dot.1", 2010, 2030)],
        "CPU:1": [("dot.1", 2040, 2060)],
    }
    assert {track.role for track in found.tracks if track.device} == {"operations"}


def test_operations_go_on_until_their_own_marks_on_whatever_device_and_host() -> None:
    """The end markers of two products with the same name come in reverse order, and both hosts are treated alike."""
    flows = 2**32, 2**33 + 1
    begun = [
        ("dot.1", device * 10**6, 10**6, [*operation(1, device), {"name": 8, "signed": flow}])
        for device, flow in enumerate(flows)
    ]
    ended = [
        ("end: dot.1", at * 10**6, 0, [{"name": 9, "signed": flow}])
        for at, flow in zip((900, 500), flows, strict=True)
    ]
    host = space({"name": "/host:CPU", "lines": {"a": begun, "b": sorted(ended, key=lambda each: each[1])}})
    alone = space({"name": "/host:CPU", "lines": {"a": begun[:1], "b": ended[1:]}})
    for hosts, ends in (
        ([("", host)], {"CPU:0": 900, "CPU:1": 500}),
        ([("x", host), ("y", alone)], {"x CPU:0": 900, "x CPU:1": 500, "y CPU:0": 1}),
    ):
        recorded = read_recording(hosts)
        assert all(
            (each.end_ps - each.start_ps <= 10**6).all() for each in recorded.tracks
        )  # reading changes nothing
        found = interpreted(recorded)
        assert {each.device: (each.end_ps // 10**6).tolist() for each in found.tracks if each.device} == {
            device: [end] for device, end in ends.items()
        }
        assert len({kind.stats.get("_p") for kind in found.kinds}) == 1


def test_streams_count_and_not_what_is_made_of_them_and_the_host_only_launches() -> None:
    kernels = [("kernel", 0, 9, operation(1))]
    device = {"name": "/device:GPU:0", "lines": {"Stream #1(Kernel)": kernels, "XLA Ops": kernels}}
    host = {"name": "/host:CPU", "lines": {"thread": [("launch", 0, 1, operation(1))]}}
    found = read_recording([("", space(device, host))])
    assert [(track.name, track.device) for track in found.tracks] == [
        ("Stream #1(Kernel)", "GPU:0"),
        ("thread", None),
    ]


def test_sparse_cores_belong_to_their_chip() -> None:
    chip = {"name": "/device:TPU:0", "lines": {"XLA Ops": [("dot", 0, 9, [])]}}
    cores = [
        {"name": f"/device:TPU:0 SparseCore {number}", "lines": {"XLA Ops": [("gather", 2, 7, [])]}}
        for number in range(2)
    ]
    found = read_recording([("", space(*cores, chip))])
    assert list(found.devices) == ["TPU:0"]
    assert [track.device for track in found.tracks] == ["TPU:0"] * 3


def test_hosts_are_told_apart() -> None:
    data = space({"name": "/device:TPU:0", "lines": {"XLA Ops": [("dot", 0, 9, [])]}})
    found = read_recording([("a", data), ("b", data)])
    assert sorted(found.devices) == ["a TPU:0", "b TPU:0"]


def test_a_recording_of_this_machine_has_its_modules_and_its_operations(tmp_path: Path) -> None:
    f, x = jax.jit(lambda x: jnp.sort(x + 1)), jnp.ones(3000)
    jax.block_until_ready(f(x))
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level, options.python_tracer_level = 2, 0
    with jax.profiler.trace(str(tmp_path), profiler_options=options):
        jax.block_until_ready(f(x))
    (file,) = tmp_path.rglob("*.xplane.pb")
    found = read_recording([("", file.read_bytes())])
    (module,) = found.modules.values()
    operations = {str(each.stats["hlo_op"]) for each in found.kinds if "hlo_op" in each.stats}
    assert any(module.instructions[module.instruction_ids[each]].opcode == "sort" for each in operations)
    assert not found.unread
    of_two = read_recording([("a", file.read_bytes()), ("b", file.read_bytes())])
    ((_, number),) = found.modules
    assert sorted(of_two.modules) == [("a", number), ("b", number)]
    assert {each.host for each in of_two.kinds} == {"a", "b"}


def test_the_recording_of_a_gpu(benchmark_gpu: Trace) -> None:
    assert sorted(benchmark_gpu.devices) == [f"GPU:{number}" for number in range(8)]
    assert benchmark_gpu.devices["GPU:3"]["memory_bandwidth"] == 2662400000000
    assert [each.name for each in benchmark_gpu.modules.values()] == ["jit_forward_3d_conv"]


def test_the_recording_of_a_tpu(benchmark_tpu: Trace) -> None:
    assert benchmark_tpu.devices["TPU:2"]["peak_teraflops_per_second"] == 918.0
    roles = {(track.device, track.role) for track in benchmark_tpu.tracks if track.device}
    assert {("TPU:0", "operations"), ("TPU:0", "asynchronous"), ("TPU:3", "programs")} <= roles


@pytest.fixture(scope="session")
def benchmark_gpu() -> Trace:
    return read_recording([("", trace("gpu_mi300_8dev_conv").read_bytes())])


@pytest.fixture(scope="session")
def benchmark_tpu() -> Trace:
    return read_recording([("", trace("tpu_v6e_4dev_inference").read_bytes())])


WHOLE = space(
    {"name": "/host:CPU", "lines": {"thread": [("dot.1", at, 5, operation(at)) for at in range(20)]}},
    {"name": "/device:GPU:0", "lines": {"Stream #1(Kernel)": [("kernel", 0, 9, operation(1))]}},
)


@settings(max_examples=300)
@given(st.data())
def test_a_broken_recording_is_read_or_refused(data: st.DataObject) -> None:
    broken = bytearray(WHOLE[: data.draw(st.integers(0, len(WHOLE)))])
    for _ in range(data.draw(st.integers(0, 6))):
        if broken:
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    with suppress(DecodeError):
        read_recording([("", bytes(broken))])


def test_lines_and_planes_without_events_cost_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def block(*_: object) -> None:
        raise AssertionError("nothing has to be read")

    monkeypatch.setattr(Plane, "_block", block)
    message = xspace_messages()["XSpace"]()
    for name in (b"/host:CPU", b"/device:GPU:0", b"/device:TPU:0", b"/host:metadata"):
        plane = message.planes.add(name=name)
        for _ in range(100):
            plane.lines.add(name=b"Stream #1")
        assert len(Plane(plane, "", [])._uses) == 1
    recording = read_recording([("", message.SerializeToString())])
    assert recording.tracks == ()


def test_many_short_lines_are_read_as_few_long_ones_are() -> None:
    def of(lines: int) -> Trace:
        message = xspace_messages()["XSpace"]()
        plane = message.planes.add(name=b"/host:CPU")
        for number in range(1, 61):
            entry = plane.events.add(key=number)
            entry.value.name = b"operation %d" % number
        names = [plane.lines.add(name=b"thread", start_ns=1) for _ in range(lines)]
        for number in range(1, 61):
            names[number % lines].events.append(bytes([8, number, 16, number, 24, 1]))
        return read_recording([("", message.SerializeToString())])

    few, many = of(1), of(60)
    events = [sorted(row for track in each.tracks for row in rows(each, track)) for each in (few, many)]
    assert events[0] == events[1]
    assert len(events[0]) == 60
