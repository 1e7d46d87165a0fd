"""Summaries of real traces of accelerators, compared with XProf's, and of fabricated ones.

XProf's numbers are those of its ``hlo_stats`` and ``kernel_stats`` (version 2.23, on the same files), in µs over
all devices; ``op_profile`` has the same ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recordings import recording_of

from jaxmagic.profiling.analysis.operations import over_devices
from jaxmagic.profiling.analysis.run_windows import Window
from jaxmagic.profiling.analysis.summarize import ProfileSummary, summarize
from jaxmagic.profiling.record.recording import EventMetadata, Interpreted, Role, Trace, TraceLine

#: What ``hlo_stats`` says: how often, and how long altogether. It counts 79 kernels of the convolution; one run is
#: two, and one of 80 the profiler filed under no operation.
GPU_OPERATIONS = {
    "input_transpose_fusion": (40, 14344.14),
    "cudnn-conv.1": (40, 12531.616),
    "input_transpose_fusion.1": (39, 481.4),
    "loop_transpose_fusion": (40, 193.52),
}

#: What ``kernel_stats`` says of kernels that belong to no operation.
GPU_KERNELS = {
    "__amd_rocclr_copyBuffer": (35, 563.521),
    "Im3d2Col": (1, 16.08),
    "input_transpose_fusion_1": (1, 6.8),
}

TPU_OPERATIONS = {
    "copy-done.4": (400, 77773215.73125),
    "copy-done.2": (400, 77642772.81875),
    "copy-done": (400, 75671038.51375),
    "copy-done.5": (400, 72946182.6625),
    "broadcast_add_fusion.1": (400, 3262107.41375),
    "broadcast_add_fusion": (400, 3190582.365),
    "broadcast_add_fusion.2": (400, 3167203.85875),
    "all-reduce": (12, 1460345.25875),
    "broadcast.2": (1, 4443.76625),
    "copy-start.4": (400, 2.4),
    "copy-done.1": (400, 1.18875),
}


def real(name: str) -> ProfileSummary:
    return summarize(recording_of(name))


@pytest.fixture(scope="module")
def gpu() -> ProfileSummary:
    return real("gpu_mi300_8dev_conv")


@pytest.fixture(scope="module")
def tpu() -> ProfileSummary:
    return real("tpu_v6e_4dev_inference")


@pytest.mark.parametrize(
    ("name", "wanted"), [("gpu", GPU_OPERATIONS | GPU_KERNELS), ("tpu", TPU_OPERATIONS)], ids=["mi300", "v6e"]
)
def test_operations_take_as_long_as_xprof_says(
    name: str, wanted: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    times = request.getfixturevalue(name)
    for operation, (count, total_us) in wanted.items():
        mine = [each for each in times.operation_times if each.name == operation]
        assert sum(each.count for each in mine) == count, operation
        assert sum(each.total_ns for each in mine) == pytest.approx(1000 * total_us, rel=0.01), operation


def test_a_program_takes_as_long_as_op_profile_says(gpu: ProfileSummary) -> None:
    assert [(each.name, each.time_ns) for each in gpu.programs] == [
        ("jit_forward_3d_conv", pytest.approx(27550.676e3, rel=0.01))
    ]


@pytest.mark.parametrize("name", ["gpu", "tpu"], ids=["mi300", "v6e"])
def test_operations_and_places_add_up_to_the_time_in_which_devices_were_busy(
    name: str, request: pytest.FixtureRequest
) -> None:
    times = request.getfixturevalue(name)
    for use in times.device_uses:
        mine = [each.time_ns for each in times.operation_times if each.device == use.device]
        assert sum(mine) == use.busy_ns <= times.recorded_ns
        assert use.busy_ns + use.idle_ns == pytest.approx(times.recorded_ns, abs=2)
    assert sum(each.time_ns for each in times.place_times) == sum(each.busy_ns for each in times.device_uses)


def test_all_devices_are_there_and_the_copies_of_a_gpu_are_found(gpu: ProfileSummary) -> None:
    assert [each.device for each in gpu.device_uses] == [f"GPU:{number}" for number in range(8)]
    assert gpu.device_uses[0].exposed_copy_ns == pytest.approx(563_521, rel=0.01)
    assert {(each.peak_bytes, each.recorded_peak_bytes) for each in gpu.device_uses} == {(5.3e12, 2662400000000.0)}


@pytest.mark.parametrize(
    ("facts", "flops", "moved", "sources"),
    [
        ({}, 918e12, 1.64e12, ("data sheet", "")),
        ({"peak_hbm_bw_gigabytes_per_second": 2000}, 918e12, 2e12, ("recording", "data sheet")),
        ({"peak_teraflops_per_second": 1000}, 1e15, 1.64e12, ("data sheet", "data sheet, recording")),
        ({"peak_hbm_bw_gigabytes_per_second": 2**62}, 918e12, 1.64e12, ("data sheet", "")),
        ({"peak_teraflops_per_second": float("inf")}, 918e12, 1.64e12, ("data sheet", "")),
        ({"peak_hbm_bw_gigabytes_per_second": float("nan")}, 918e12, 1.64e12, ("data sheet", "")),
    ],
)
def test_a_peak_is_the_larger_of_data_sheet_and_recording_and_names_its_source(
    facts: dict[str, float], flops: float, moved: float, sources: tuple[str, str]
) -> None:
    made = Trace(
        (track("TPU:0", "operations", (0, 0, 10)),),
        (EventMetadata("f", {}),),
        {"TPU:0": {"device_type_string": "TPU v6 Lite", **facts}},
        {},
    )
    (use,) = summarize(Interpreted(made)).device_uses
    assert (use.peak_flops, use.peak_bytes) == (flops, moved)
    assert (use.peaks_from, use.peak_flops_from) == sources


def test_the_line_of_the_convolution_is_first(gpu: ProfileSummary) -> None:
    first = gpu.place_times[0]
    assert (first.stack[-1].function, first.stack[-1].line) == ("forward_3d_conv", 23)
    assert first.time_ns > 0.9 * sum(each.time_ns for each in gpu.place_times)


def test_exchange_of_a_tpu_is_found_and_copies_behind_computation_are_not_exposed(tpu: ProfileSummary) -> None:
    for use in tpu.device_uses:
        assert use.collective_ns == pytest.approx(1460345.25875 * 1000 / 4, rel=0.01)
        assert use.peak_flops == 918e12
    asynchronous = tpu.device_uses[0]  # the only one that recorded copies that run beside its operations
    assert asynchronous.copy_ns - asynchronous.exposed_copy_ns > 0.9 * asynchronous.compute_ns


def test_what_runs_beside_the_operations_of_a_tpu_is_a_row_of_its_own(tpu: ProfileSummary) -> None:
    (beside,) = [each for each in tpu.operation_times if each.name == "async copy.4"]
    assert (beside.device, beside.category, beside.count) == ("TPU:0", "copy", 100)
    assert beside.total_ns > 10 * beside.time_ns  # nearly all of it is hidden, or waited for by copy-done.4


def test_lines_of_a_tpu_come_from_what_the_profiler_wrote(tpu: ProfileSummary) -> None:
    lines = {each.stack[-1].line: each for each in tpu.place_times if each.stack}
    assert lines[29].scope == "jit(f)/jit(main)/add"
    assert lines[38].operations == ("all-reduce",)


def track(device: str, role: Role, *events: tuple[int, int, int]) -> TraceLine:
    kinds, start, end = (np.array(each, np.int64) for each in zip(*events, strict=True))
    return TraceLine(role, device, role, kinds, start * 1000, end * 1000)


KINDS = tuple(
    EventMetadata(name, {"hlo_op": name, "hlo_category": category})
    for name, category in [("dot", "convolution fusion"), ("all-reduce", "all-reduce"), ("copy-done", "copy-done")]
)


def of(*tracks: TraceLine, windows: list[Window] | None = None) -> ProfileSummary:
    return summarize(Trace(tracks, KINDS, {}, {}), windows)


def test_what_is_hidden_behind_computation_costs_nothing() -> None:
    times = of(track("TPU:0", "operations", (0, 0, 10), (1, 10, 16)), track("TPU:0", "asynchronous", (2, 5, 20)))
    (use,) = times.device_uses
    assert (use.busy_ns, use.compute_ns, use.collective_ns, use.copy_ns) == (20, 10, 6, 15)
    assert (use.exposed_collective_ns, use.exposed_copy_ns) == (6, 4)
    assert {each.name: each.time_ns for each in times.operation_times} == {"dot": 10, "all-reduce": 6, "copy-done": 4}


def test_only_what_lies_in_a_window_counts() -> None:
    operations = track("GPU:0", "operations", (0, 0, 10), (0, 20, 30), (0, 40, 50))
    times = of(operations, windows=[Window(5_000, 25_000), Window(45_000, 60_000)])
    assert times.recorded_ns == 35
    assert [each.busy_ns for each in times.device_uses] == [5 + 5 + 5]
    assert times.operation_times[0].count == 3


def test_an_event_that_begins_right_before_a_window_is_of_it_and_one_that_has_long_gone_on_is_not() -> None:
    """Clocks differ by less than a millisecond; the end marker of a completed operation may come late."""
    operations = track("CPU:0", "operations", (0, 0, 3_000_010), (0, 2_999_990, 3_000_020))
    times = of(operations, windows=[Window(3_000_000_000, 4_000_000_000)])
    assert [each.busy_ns for each in times.device_uses] == [20]
    assert times.operation_times[0].count == 1


def test_programs_of_ours_do_not_count() -> None:
    ours = EventMetadata("dot", {"hlo_op": "dot", "hlo_module": "jit_jaxmagic_fence"})
    assert summarize(Trace((track("GPU:0", "operations", (0, 0, 10)),), (ours,), {}, {})).device_uses == ()


def test_a_recording_without_a_device_has_no_times() -> None:
    times = summarize(Trace((), (), {}, {}))
    assert times == ProfileSummary(0, (), (), ())


def test_operations_of_one_name_are_one_only_where_they_do_the_same() -> None:
    """A function that was called with two shapes is two programs, whose operations have one name."""
    stats = ({"flops": 10, "shape_with_layout": "f32[2]"}, {"flops": 90, "shape_with_layout": "f32[9]"})
    kinds = tuple(
        EventMetadata("dot", {"hlo_op": "dot", "hlo_module": "jit_f", **each, "n": n})
        for n, each in enumerate((*stats, stats[0]))
    )
    events = track("GPU:0", "operations", (0, 0, 10), (1, 10, 40), (2, 40, 50))
    times = summarize(Trace((events,), kinds, {}, {}))
    assert [(each.shape, each.count, each.flops, each.mean_ns) for each in times.operation_times] == [
        ("f32[9]", 1, 90, 30.0), ("f32[2]", 2, 10, 10.0),
    ]  # fmt: skip
    assert [each.shape for each in over_devices(times.operation_times)] == ["f32[9]", "f32[2]"]


def test_a_place_is_met_as_often_as_its_operation_ran_whatever_kinds_of_events_that_are() -> None:
    kinds = tuple(EventMetadata("dot", {"hlo_op": "dot", "source": "a.py:3", "n": n}) for n in range(2))
    times = summarize(Trace((track("GPU:0", "operations", (0, 0, 10), (1, 10, 40), (0, 40, 50)),), kinds, {}, {}))
    assert [each.count for each in times.place_times] == [3]


@pytest.mark.parametrize(
    ("events", "median_ns", "usual_ns"),
    [
        ([(0, 0, 10)], None, 10),
        ([(0, 0, 10), (0, 10, 40)], 10, 20),
        ([(0, 0, 10), (0, 10, 90), (0, 90, 102)], 12, 36),
        ([(0, 0, 10), (0, 10, 90), (0, 90, 170)], 80, 170),  # no more than was recorded
    ],
)
def test_a_disturbed_execution_does_not_change_the_usual_time(
    events: list[tuple[int, int, int]], median_ns: float | None, usual_ns: float
) -> None:
    kinds = (EventMetadata("dot", {"hlo_op": "dot", "hlo_module": "jit_f"}),)
    (operation,) = summarize(Trace((track("GPU:0", "operations", *events),), kinds, {}, {})).operation_times
    assert operation.median_ns == median_ns
    assert operation.usual_ns == pytest.approx(usual_ns)
