"""GPU kernels: launch sizes, times, and launch latency."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recordings import recording_of

from jaxmagic.profiling.analysis.summarize import ProfileSummary, summarize
from jaxmagic.profiling.record.kernels import KernelTime
from jaxmagic.profiling.record.recording import EventMetadata, Trace, TraceLine

FACTS: dict[str, Any] = {"hlo_op": "call.1", "hlo_module": "jit_f", "program_id": 1}
DETAILS = "regs:32 static_shared:0 dynamic_shared:0 grid:1280,2,1 block:256,1,1 occ_pct:100"


def of(
    *events: tuple[int, int, int, int], details: str = DETAILS, calls: tuple[tuple[int, int], ...] = ()
) -> ProfileSummary:
    """Events are given by kind, start, end, and correlation id; driver calls by correlation id and start."""
    kinds = (
        EventMetadata("void ns::f<1>(int)", FACTS | {"kernel_details": details}),
        EventMetadata("cuLaunchKernel", {}),
    )
    number, start, end, launch = np.array(events, np.int64).T
    tracks = [TraceLine("Stream #1", "GPU:0", "operations", number, start * 1000, end * 1000, launches=launch)]
    if calls:
        numbers, times = np.array(calls, np.int64).T
        one = np.ones(len(numbers), np.int64)
        tracks.append(TraceLine("python", None, "host", one, times * 1000, times * 1000 + 1, launches=numbers))
    return summarize(Trace(tuple(tracks), kinds, {}, {}))


def test_a_kernel_has_its_size_and_its_times() -> None:
    (found,) = of(
        (0, 100, 110, 1), (0, 200, 230, 2), (0, 300, 312, 3), calls=((1, 95), (2, 192), (3, 270))
    ).kernel_times
    assert found == KernelTime(
        name="f", full_name="void ns::f<1>(int)", operation="call.1", module="jit_f", device="GPU:0", count=3,
        total_ns=52, min_ns=10, median_ns=12, max_ns=30, grid=(1280, 2, 1), block=(256, 1, 1), registers=32,
        launch_ns=8,
    )  # fmt: skip


def test_what_was_not_recorded_is_not_known() -> None:
    (found,) = of((0, 100, 110, 1), details="occ_pct:0").kernel_times
    assert (found.grid, found.block, found.registers, found.launch_ns) == ((), (), None, None)
    (wrong,) = of((0, 100, 110, 1), details="regs:2191500840 grid:1,1,1", calls=((1, 105),)).kernel_times
    assert (wrong.registers, wrong.launch_ns) == (None, None)  # no thread has so many; nothing begins before its call


def test_kernels_of_an_operation_add_up_to_it_in_a_real_recording() -> None:
    times = summarize(recording_of("gpu_gfx950_te_attention"))
    for operation in times.operation_times:
        mine = [each for each in times.kernel_times if each.operation == operation.name]
        assert sum(each.total_ns for each in mine) == pytest.approx(operation.total_ns, abs=len(mine))
    backward = [each for each in times.kernel_times if each.operation == "te_fused_attn_backward_ffi.18"]
    assert next(each.name for each in backward) == "FmhaBwdDQDKDVKernel"
    assert backward[0].total_ns / sum(each.total_ns for each in backward) == pytest.approx(0.92, abs=0.005)
    assert next((each.count, each.grid, each.block) for each in backward) == (5, (11, 16, 2), (256, 1, 1))
    assert {each.name: each.count for each in backward}["__amd_rocclr_fillBufferAligned"] == 10


def test_a_cpu_has_no_kernels() -> None:
    times = summarize(recording_of("jax-0.12.0"))
    assert times.operation_times
    assert times.kernel_times == ()
