"""Collectives with straggler waits, copies with sizes, and barriers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recordings import recording_of

from jaxmagic.profiling.analysis.classify_ops import ClassifiedOp
from jaxmagic.profiling.analysis.devices.communication import Collectives, kind_of, transfers
from jaxmagic.profiling.analysis.run_windows import Window
from jaxmagic.profiling.analysis.summarize import ProfileSummary, summarize
from jaxmagic.profiling.record.communication import CollectiveTime, TransferTime
from jaxmagic.profiling.record.recording import EventMetadata, Role, StatValue, Trace, TraceLine


@pytest.mark.parametrize(
    ("name", "opcode", "kind"),
    [
        ("psum_invariant.7", "all-reduce", "all-reduce"),
        ("all-gather-start.2", "all-gather-start", "all-gather"),
        ("reduce-scatter.1", "", "reduce-scatter"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "", "all-reduce"),
        ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "", "send"),
        ("ppermute.3", "collective-permute", "collective-permute"),
        ("ragged", "ragged-all-to-all", "ragged-all-to-all"),
        ("something", "", "collective"),
    ],
)
def test_a_collective_operation_has_a_kind(name: str, opcode: str, kind: str) -> None:
    assert kind_of(name, opcode) == kind


def collective(*spans: list[tuple[int, int]], groups: int = 1) -> CollectiveTime:
    """A collective on several devices, given by its starts and ends on each, in nanoseconds."""
    found = Collectives()
    work = ClassifiedOp(
        "all-reduce.1", "jit_f", "collective", opcode="all-reduce", payload_bytes=64, replica_group_count=groups
    )
    for device, each in enumerate(spans):
        start, end = np.array(each, np.int64).T * 1000
        total = float((end - start).sum())
        found.add(f"TPU:{device}", work, (len(each), total, total / 2), (start, end))
    (row,) = found.times()
    return row


def test_all_devices_wait_for_the_last_one() -> None:
    found = collective([(0, 100), (200, 300)], [(90, 100), (200, 300)], [(50, 100), (260, 300)])
    assert (found.devices, found.count, found.payload_bytes) == (3, 6, 64)
    assert (found.total_ns, found.exposed_ns) == (400, 200)
    assert found.wait_ns == (90 + 40) + (60 + 60)


@pytest.mark.parametrize(
    ("spans", "groups"),
    [
        ([[(0, 10)], [(5, 10)]], 2),
        ([[(0, 10)], [(5, 10)]], 0),
        ([[(0, 10)]], 1),
        ([[(0, 10), (20, 30)], [(5, 10)]], 1),
        ([[(0, 10)], [(15, 20)]], 1),
    ],
)
def test_who_waited_is_not_said_where_it_is_not_known(spans: Any, groups: int) -> None:
    assert collective(*spans, groups=groups).wait_ns is None


def copies(role: Role, name: str, stats: dict[str, StatValue], *spans: tuple[int, int]) -> tuple[TransferTime, ...]:
    start, end = np.array(spans, np.int64).T * 1000
    device = None if role == "host" else "GPU:0"
    tracks = [TraceLine("t", device, role, np.zeros(len(spans), np.int64), start, end)]
    return summarize(Trace(tuple(tracks), (EventMetadata(name, stats),), {}, {}), [Window(0, 10**9)]).transfers


def test_copies_of_an_nvidia_gpu_have_sizes_and_rates() -> None:
    details = "kind_src:pageable kind_dst:device size:4096 dest:0 async:1"
    (found,) = copies("operations", "MemcpyH2D", {"memcpy_details": details}, (0, 100), (200, 300))
    assert (found.direction, found.device, found.count) == ("host to device", "GPU:0", 2)
    assert (found.size_bytes, found.total_ns, found.bytes_per_s) == (8192, 200, pytest.approx(8192 / 200e-9))


@pytest.mark.parametrize(
    ("name", "ends", "direction"),
    [
        ("MemcpyD2H", ("device", "pinned"), "device to host"),
        ("MemcpyP2P", ("device", "device"), "device to device"),
        ("MemcpyD2D", ("device", "device_static"), "on the device"),
        ("MemcpyOther", ("pinned", "device"), "host to device"),  # the memory decides where the name tells nothing
        ("MemcpyOther", ("device", "pageable"), "device to host"),
        ("MemcpyOther", ("device", "array"), "on the device"),
        ("MemcpyH2D", ("managed", "device"), "host to device"),
        ("MemcpyOther", ("managed", "unknown"), None),
        ("MemcpyOther", ("pinned", "pageable"), None),
    ],
)
def test_the_memory_of_both_ends_decides_the_direction_of_a_copy(
    name: str, ends: tuple[str, str], direction: str | None
) -> None:
    details = f"kind_src:{ends[0]} kind_dst:{ends[1]} size:4096 dest:0 async:1"
    found = copies("operations", name, {"memcpy_details": details}, (0, 100))
    assert [each.direction for each in found] == ([] if direction is None else [direction])


def test_a_copy_whose_size_is_not_told_has_none() -> None:
    (found,) = copies("operations", "MemcpyD2D", {"memcpy_details": "kind:Unknown size:0 dest:512"}, (0, 100))
    assert (found.direction, found.size_bytes, found.bytes_per_s) == ("on the device", None, None)


def test_sizes_that_add_up_to_more_than_a_record_can_hold_are_wrong_and_unknown() -> None:
    details = f"kind:Unknown size:{10**18 - 1} dest:512"
    (found,) = copies("operations", "MemcpyD2D", {"memcpy_details": details}, (0, 100), (200, 300))
    assert (found.count, found.size_bytes, found.bytes_per_s) == (2, None, None)


def test_copies_of_a_tpu_are_told_by_the_host_and_only_those_that_began_in_a_window_count() -> None:
    name, stats = "tpu::System::TransferFromDevice", {"size": 1000, "device_ordinal": 4}
    (found,) = copies("host", name, stats, (0, 100), (10**6 - 1, 10**6 + 5), (10**6, 10**6 + 1))
    assert (found.direction, found.device, found.count, found.size_bytes) == ("device to host", None, 2, 2000)
    assert copies("host", name, {}, (0, 100)) == ()


def test_copies_between_two_runs_are_of_none() -> None:
    kind = EventMetadata("tpu::System::TransferFromDevice", {"size": 10, "device_ordinal": 0})
    start = np.array([5, 15, 25, 35])
    track = TraceLine("python", None, "host", np.zeros(4, np.int64), start, start + 1)
    (found,) = transfers(Trace((track,), (kind,), {}, {}), [(0, 10), (20, 30)])
    assert found.count == 2
    assert transfers(Trace((track,), (kind,), {}, {}), []) == ()


SHAPE = "f32[5,4]{1,0:T(8,128)}"


@pytest.mark.parametrize(
    ("shape", "direction"),
    [
        (f"({SHAPE}, f32[5,4]{{1,0:T(8,128)S(5)}}, u32[]{{:S(2)}})", "host to device"),
        (f"(f32[5,4]{{1,0:T(8,128)S(5)}}, {SHAPE}, u32[]{{:S(2)}})", "device to host"),
        (f"({SHAPE}, {SHAPE}, u32[])", None),
        ("broken", None),
    ],
)
def test_what_a_program_moves_to_the_memory_of_the_host_is_known_by_its_shape(shape: str, direction: Any) -> None:
    stats: dict[str, StatValue] = {"hlo_category": "copy-start", "shape_with_layout": shape, "bytes_accessed": 80}
    found = copies("asynchronous", "%copy-start = ...", stats, (0, 100))
    assert [each.direction for each in found] == ([] if direction is None else [direction])
    assert all(each.size_bytes == 80 for each in found)


@pytest.fixture(scope="module")
def tpu() -> ProfileSummary:
    return summarize(recording_of("tpu_v6e_4dev_inference"))


def test_a_real_recording_has_copies_between_a_tpu_and_its_host_at_the_rates_of_their_bus(
    tpu: ProfileSummary,
) -> None:
    found = {(each.direction, each.device): each for each in tpu.transfers}
    size = 5 * 1024 * 1024 * 256 * 4
    assert found["host to device", "TPU:0"].count == found["device to host", "TPU:0"].count == 300
    assert found["host to device", "TPU:0"].size_bytes == 300 * size
    assert found["device to host", None].size_bytes == found["device to host", None].count * size
    for each in found.values():
        assert each.bytes_per_s is not None
        assert 5e9 < each.bytes_per_s < 64e9  # PCI Express


def test_a_real_recording_has_an_all_reduce_and_barriers(tpu: ProfileSummary) -> None:
    (found,) = tpu.collectives
    assert (found.kind, found.devices, found.count) == ("all-reduce", 4, 12)
    assert all(20e6 < each.barrier_ns < 400e6 for each in tpu.device_uses)


def test_a_real_recording_tells_how_arrays_were_divided_over_eight_gpus() -> None:
    times = summarize(recording_of("gpu_mi300_8dev_conv"))
    (program,) = times.programs
    assert (program.name, program.devices) == ("jit_forward_3d_conv", 8)
    assert [(each.name, each.pieces) for each in program.inputs] == [("x", (8, 1, 1, 1, 1)), ("kernel", (1,) * 5)]
    assert program.outputs[0].pieces == (8, 1, 1, 1, 1)
    assert program.time_ns == pytest.approx(
        sum(each.time_ns for each in times.operation_times if each.module == program.name), rel=1e-3
    )


def test_copies_that_overlap_count_once_and_their_rate_is_that_of_all_together() -> None:
    details = "kind_src:pageable kind_dst:device size:4096 dest:0 async:1"
    (found,) = copies("operations", "MemcpyH2D", {"memcpy_details": details}, (0, 100), (50, 150), (200, 250))
    assert (found.count, found.total_ns, found.time_ns) == (3, 250, 200)
    assert found.bytes_per_s == pytest.approx(3 * 4096 / 200e-9)


@pytest.mark.parametrize(("to", "direction"), [(0, "on the device"), (1, "device to device"), (512, "on the device")])
def test_a_copy_whose_destination_is_another_device_is_one_between_devices(to: int, direction: str) -> None:
    kind = EventMetadata("CopyDeviceToDevice", {"memcpy_details": f"kind:Unknown size:655360 dest:{to} async:1"})
    track = TraceLine("t", "GPU:0", "operations", np.zeros(1, np.int64), np.zeros(1, np.int64), np.full(1, 5000))
    (found,) = summarize(Trace((track,), (kind,), {"GPU:0": {}, "GPU:1": {}}, {})).transfers
    assert found.direction == direction
