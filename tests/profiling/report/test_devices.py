"""Sentences and tables about the devices of a profile: load, communication and shardings."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fabricate.profiling import MS, fabricated, operation, use

from jaxmagic.profiling.analysis.operations import by_line
from jaxmagic.profiling.record.communication import CollectiveTime, ProgramTime, TransferTime
from jaxmagic.profiling.record.kernels import KernelTime
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.profiling.report.roof import operation_table
from jaxmagic.report.to_html import to_html
from jaxmagic.xla.hlo import Sharded


@pytest.fixture
def profile() -> Profile:
    """Two runs on two devices, one of which does twice as much."""
    return replace(
        fabricated(),
        device_uses=(use("GPU:0", 20 * MS), use("GPU:1", 10 * MS, barrier_ns=4 * MS)),
        collectives=(
            CollectiveTime(
                name="all-reduce.1", kind="all-reduce", module="jit_f", devices=2, count=8, payload_bytes=2048,
                total_ns=8 * MS, exposed_ns=6 * MS, wait_ns=2 * MS,
            ),
        ),
        transfers=(
            TransferTime(
                direction="host to device", device="GPU:0", count=4, size_bytes=4 * 2**20, total_ns=3 * MS,
                time_ns=2 * MS,
            ),
        ),
        programs=(
            ProgramTime(
                name="jit_f", devices=2, time_ns=30 * MS,
                inputs=(
                    Sharded(name="x", shape="f32[4,8]", pieces=(2, 1)),
                    Sharded(name="w", shape="f32[8]", pieces=(1,)),
                ),
                outputs=(Sharded(name="", shape="f32[]", pieces=None),),
            ),
        ),
    )  # fmt: skip


def squeezed(profile: Profile) -> str:
    return "\n".join(" ".join(line.split()) for line in str(profile).splitlines())


def test_tables_have_the_numbers_of_a_run_on_a_device(profile: Profile) -> None:
    text = squeezed(profile)
    assert "device busy share compute at barriers idle" in text
    assert "GPU:1 5.00 ms 25 % 5.00 ms 2.00 ms 15.0 ms" in text
    assert "collective kind payload time exposed straggler wait count" in text
    assert "all-reduce.1 all-reduce 2.00 KiB 2.00 ms 1.50 ms 500 µs 2" in text
    assert "transfer device count size time rate" in text
    assert "host to device GPU:0 2 2.00 MiB 1.00 ms 2.10 GB/s" in text


def test_columns_of_which_nothing_is_known_are_left_out(profile: Profile) -> None:
    (collective,), (transfer,) = profile.collectives, profile.transfers
    unknown = replace(
        profile,
        collectives=(replace(collective, payload_bytes=None, wait_ns=None),),
        transfers=(replace(transfer, device=None, size_bytes=None),),
    )
    text = squeezed(unknown)
    assert "collective kind time exposed count" in text
    assert "transfer count time\n" in text


def test_a_device_that_is_not_recorded_is_unknown_beside_others(profile: Profile) -> None:
    (transfer,) = profile.transfers
    text = squeezed(replace(profile, transfers=(transfer, replace(transfer, device=None))))
    assert "host to device unknown 2 2.00 MiB 1.00 ms 2.10 GB/s" in text


def test_an_uneven_load_is_said_and_an_even_one_is_not(profile: Profile) -> None:
    assert "Uneven load: devices compute for 5.00 ms to 10.0 ms; GPU:0 is 33 % above the mean." in " ".join(
        str(profile).split()
    )
    even = replace(profile, device_uses=(use("GPU:0", 20 * MS), use("GPU:1", 20 * MS)))
    assert "Uneven load" not in str(even)


def test_devices_of_one_cpu_wait_for_processors_and_are_not_uneven_for_that(profile: Profile) -> None:
    of_cpu = replace(profile, device_uses=(use("CPU:0", 20 * MS), use("CPU:1", 10 * MS)))
    assert "Uneven load" not in str(of_cpu)


def test_how_arrays_are_divided_is_said_in_one_line(profile: Profile) -> None:
    line = "jit_f, on each of 2 devices: x f32[4,8] (sharded 2 ways on axis 0), w f32[8] (replicated) → f32[]."
    assert line in " ".join(str(profile).split())
    assert line in to_html(profile)


def test_names_of_arguments_are_escaped(profile: Profile, hostile: str) -> None:
    (program,) = profile.programs
    named = replace(program, name=hostile, inputs=(Sharded(name=hostile, shape="f32[]", pieces=(2,)),))
    assert hostile not in to_html(replace(profile, programs=(named,)))


def test_all_of_it_is_in_frames(profile: Profile) -> None:
    collectives = profile.to_frame("collectives")
    assert collectives[["operation", "kind", "wait_ns"]].values.tolist() == [["all-reduce.1", "all-reduce", 2 * MS]]
    assert profile.to_frame("transfers")["bytes_per_s"].tolist() == [pytest.approx(4 * 2**20 / 2e-3)]
    programs = profile.to_frame("programs").fillna("?")
    assert programs[["array", "name", "pieces"]].values.tolist() == [
        ["input", "x", "2,1"], ["input", "w", "1"], ["output", "?", "?"],
    ]  # fmt: skip
    assert profile.devices()["barrier_ns"].tolist() == [0, 4 * MS]


def test_devices_that_did_nothing_are_named_and_compared_with_none(profile: Profile) -> None:
    """A device that only received copies does not make the load uneven."""
    received = replace(use("GPU:2", 5 * MS), compute_ns=0)
    made = replace(
        profile,
        device_uses=(use("GPU:0", 20 * MS), use("GPU:1", 20 * MS), received),
        idle_devices=("GPU:3", "GPU:4", "GPU:5", "GPU:7"),
    )
    text = squeezed(made)
    assert "No events of GPU:3 to GPU:5, GPU:7." in text
    assert "GPU:2 computed nothing." in text
    assert "Uneven" not in text


def test_counts_are_whole_numbers_of_all_devices_and_of_each_where_they_differ(profile: Profile) -> None:
    def counted(*counts: int) -> str:
        rows = [
            replace(operation("dot.1", 10 * MS), device=f"GPU:{at}", count=each)
            for at, each in enumerate(counts)
            if each
        ]
        return str(replace(profile, operation_times=tuple(rows), runs=1))

    assert "    10  " in counted(5, 5)
    assert "9 (4 to 5)" in counted(4, 5)
    assert "5 (GPU:1)" in counted(0, 5)
    assert "3 in all" in str(replace(profile, operation_times=(replace(operation("dot.1", MS), count=3),), runs=2))


def _cells(profile: Profile) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the heads and the first row of the table of operations."""
    heads, first, *_ = operation_table(by_line(profile.operation_times), profile)
    return heads, first


def test_what_goes_on_beside_operations_has_its_span_in_a_column_of_its_own(profile: Profile) -> None:
    beside = replace(operation("async copy.4", MS), asynchronous=True, total_ns=600 * MS, count=2, category="copy")
    text = squeezed(replace(profile, operation_times=(operation("dot.1", 20 * MS), beside)))
    assert "operation share exposed line count mean span category" in text
    (row,) = (line for line in text.splitlines() if line.startswith("async copy.4"))
    assert row.count("300 ms") == 1
    cells = dict(zip(*_cells(replace(profile, operation_times=(beside,))), strict=True))
    assert (cells["mean"], cells["span"]) == ("", "300 ms")
    assert "span" not in squeezed(profile)


def test_a_recording_from_elsewhere_names_the_window_of_its_share(profile: Profile) -> None:
    made = replace(profile, runs=None, recorded_ns=30 * MS, whole_ns=9700 * MS)
    told = squeezed(made).splitlines()
    assert " ".join(told[:2]).startswith(
        "Device time: 15.0 ms (mean of 2 devices; counts are of all), 50 % of the 30.0 ms from the first operation "
        "to the end of the last (recording: 9.70 s)"
    )


def test_kernels_that_are_called_otherwise_than_their_operation_have_rows(profile: Profile) -> None:
    attention = KernelTime(
        name="FmhaFwdKernel", full_name="void ck::FmhaFwdKernel<1>(int)", operation="call.1", module="jit_f",
        device="GPU:0", count=4, total_ns=8 * MS, min_ns=1 * MS, median_ns=2 * MS, max_ns=3 * MS, grid=(16, 2, 1),
        block=(256, 1, 1), registers=32, launch_ns=7000,
    )  # fmt: skip
    own = replace(attention, name="loop_add_fusion_1", full_name="loop_add_fusion_1", operation="loop_add_fusion.1")
    same = replace(own, operation="loop_add_fusion.7")  # XLA compiled both as one
    made = replace(profile, kernel_times=(attention, own, same, replace(attention, device="GPU:1")))
    text = squeezed(made)
    assert "kernel of time count median launch FmhaFwdKernel call.1 4.00 ms 4 2.00 ms 7.00 µs" in text.replace(
        "\n", " "
    )
    assert "loop_add_fusion" not in text
    assert all(each in to_html(made) for each in ("16×2×1", "256×1×1", "3.00 ms", "registers"))
    frame = made.kernels("call.1")
    assert frame[["kernel", "device", "grid", "registers"]].values.tolist() == [
        ["FmhaFwdKernel", "GPU:0", "16,2,1", 32], ["FmhaFwdKernel", "GPU:1", "16,2,1", 32],
    ]  # fmt: skip
    assert len(made.kernels()) == 4
    assert profile.kernels().empty
