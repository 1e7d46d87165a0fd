"""Gaps of a device: every moment has exactly one cause."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.profiling.analysis.attribution import (
    ASYNC,
    CALLBACK,
    COLLECTIVE,
    COMPUTE,
    CONTROL,
    COPY,
    Segments,
    overlap,
    union_of,
)
from jaxmagic.profiling.analysis.devices.idle_gaps import CAUSES, gaps, host_activity, host_stretches, length_ps
from jaxmagic.profiling.record.recording import EventMetadata, Trace, TraceLine

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20), st.integers(COMPUTE, CONTROL)), max_size=12)
PLAIN = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=5)


def union(spans: list[tuple[int, int]]) -> Segments:
    return union_of(*columns([(low, low + length) for low, length in spans], 2))


def columns(rows: list[tuple[int, ...]], count: int) -> list[np.ndarray]:
    return list(np.array(rows, np.int64).reshape(-1, count).T)


def moments(found: Segments) -> set[int]:
    return {
        each for low, high in zip(found.start.tolist(), found.end.tolist(), strict=True) for each in range(low, high)
    }


@given(PLAIN, PLAIN)
def test_an_overlap_is_that_of_every_moment(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    some, others = union(one), union(other)
    assert moments(overlap(some, others, inside=True)) == moments(some) & moments(others)
    assert moments(overlap(some, others, inside=False)) == moments(some) - moments(others)


@given(SPANS, PLAIN, PLAIN, PLAIN)
def test_every_moment_without_computation_has_the_first_cause_that_fits(
    spans: list[tuple[int, int, int]],
    windows: list[tuple[int, int]],
    compiling: list[tuple[int, int]],
    moving: list[tuple[int, int]],
) -> None:
    start, length, priorities = columns(spans, 3)
    segments = Segments(start, start + length, np.arange(len(start)))
    recorded, host = union(windows), {"compilation": union(compiling), "transfer": union(moving)}
    found = {cause: moments(each) for cause, each in gaps(segments, priorities, recorded, host).items()}

    def of(*wanted: int) -> set[int]:
        return moments(union([(low, size) for low, size, priority in spans if priority in wanted]))

    for moment in moments(recorded):
        if moment in of(COMPUTE):
            cause = None
        elif moment in of(COLLECTIVE):
            cause = "collective"
        elif moment in of(COPY, ASYNC):
            cause = "copy"
        elif moment in of(CALLBACK):
            cause = "callback"
        elif moment in of(CONTROL):
            cause = None
        elif moment in moments(host["compilation"]):
            cause = "compilation"
        else:
            cause = "transfer" if moment in moments(host["transfer"]) else "host"
        assert [each for each in CAUSES if moment in found[each]] == ([] if cause is None else [cause])
    assert set.union(*found.values()) <= moments(recorded)


@pytest.mark.parametrize(
    ("name", "activity"),
    [
        ("backend_compile_and_load", "compilation"),
        ("lower_sharding_computation", "compilation"),
        ("CpuCompiler::RunBackend", "compilation"),
        ("np.asarray(jax.Array)", "transfer"),
        ("batched_copy_array_to_devices_with_sharding", "transfer"),
        ("tpu::System::TransferFromDevice", "transfer"),
        ("MemcpyD2H", "transfer"),
        ("PjitFunction(f)", "host"),
        ("shard_args", "host"),
        ("PjitFunction(precompiled_step)", "host"),
        ("PjRtCpuClient::Compile", "compilation"),
        ("TfrtTpuCompiler::Compile", "compilation"),
        ("StreamExecutorGpuClient::CompileAndLoad", "compilation"),
        ("ArrayImpl.copy_to_host_async", "transfer"),
        ("BatchedCopyToDeviceWithSharding: dispatch", "transfer"),
        ("PjRtStreamExecutorBuffer::CopyToDeviceHelper::async_copy_to_device", "transfer"),
        ("AsyncHostToDeviceTransferManager::TransferLiteralToBuffer", "transfer"),
        ("tpu::System::TransferToDevice=>IssueEvent=>Done", "transfer"),
        ("hipMemcpyDtoDAsync", "transfer"),
        # what a user's function or annotation may be called
        ("$train.py:7 run_compiled_model", "host"),
        ("$pxla.py:230 batched_device_put", "host"),
        ("$train.py:9 backend_compile", "host"),
        ("run compiled epoch", "host"),
        ("device_put-free epoch", "host"),
        ("before backend_compile", "host"),
        ("DevicePut of the batch", "host"),
        ("transfer_to_device", "host"),
    ],
)
def test_what_the_host_does_is_known_by_its_name(name: str, activity: str) -> None:
    assert host_activity(name) == activity


def test_the_host_compiles_when_any_of_its_threads_does() -> None:
    kinds = (
        EventMetadata("PjitFunction(f)", {}),
        EventMetadata("backend_compile", {}),
        EventMetadata("DevicePut", {}),
    )
    threads = [
        TraceLine("python", None, "host", *columns([(0, 0, 90), (1, 10, 20), (2, 50, 55)], 3)),
        TraceLine("pool", None, "host", *columns([(1, 15, 40)], 3)),
        TraceLine("stream", "GPU:0", "operations", *columns([(1, 60, 70)], 3)),
    ]
    found = host_stretches(Trace(tuple(threads), kinds, {}, {}))
    assert [each.tolist() for each in found["compilation"][:2]] == [[10], [40]]
    assert length_ps(found["transfer"]) == 5
