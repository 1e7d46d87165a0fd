"""Counts of operations whose executions are several kernels, and directions of copy kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.profiling.analysis.devices.driver_calls import DriverCalls, runs_in_order, with_calls_of_copies
from jaxmagic.profiling.analysis.summarize import summarize
from jaxmagic.profiling.record.recording import EventMetadata, Trace, TraceLine

FACTS = {"program_id": 1, "hlo_module": "jit_f"}


def track(name: str, device: str | None, *events: tuple[int, int, int, int]) -> TraceLine:
    """Events are given by kind, start, end and correlation id."""
    kinds, start, end, launches = np.array(events, np.int64).reshape(-1, 4).T
    return TraceLine(name, device, "host" if device is None else "operations", kinds, start, end, launches=launches)


def recording(*tracks: TraceLine, kinds: tuple[str, ...]) -> Trace:
    """Kinds of device events have their operation after a slash."""
    made = []
    for each in kinds:
        name, _, operation = each.partition("/")
        made.append(EventMetadata(name, FACTS | {"hlo_op": operation} if operation else {}))
    return Trace(tracks, tuple(made), {}, {})


def counts(found: Trace) -> dict[str, int]:
    return {each.name: each.count for each in summarize(found).operation_times}


def test_a_sort_of_two_equal_kernels_is_one_run_where_the_host_says_so() -> None:
    """By order alone they could be two executions."""
    device = track("Stream #1", "GPU:0", *((0, at, at + 5, 1 + at // 10) for at in range(100, 160, 10)))
    calls = track("driver", None, *((1, at - 90, at - 88, 1 + at // 10) for at in range(100, 160, 10)))
    marks = track("python", None, (2, 9, 29, 0), (2, 30, 49, 0), (2, 50, 69, 0))
    kinds = ("k/sort.1", "cuLaunchKernel", "sort.1")
    assert counts(recording(device, calls, marks, kinds=kinds)) == {"sort.1": 3}
    assert counts(recording(device, calls, kinds=kinds)) == {"sort.1": 6}


def test_runs_of_a_loop_that_follow_each_other_are_counted_each() -> None:
    device = track("Stream #1", "GPU:0", *((at % 2, 10 * at, 10 * at + 5, 0) for at in range(8)))
    assert counts(recording(device, kinds=("first/call.1", "second/call.1"))) == {"call.1": 4}


def test_the_marks_of_several_devices_at_once_tell_nothing() -> None:
    one = track("Stream #1", "GPU:0", (0, 100, 110, 1), (0, 110, 120, 2), (1, 120, 130, 0))
    calls = track("driver", None, (2, 10, 11, 1), (2, 20, 21, 2))
    marks = track("python", None, (3, 5, 30, 0), (3, 6, 31, 0))
    found = recording(one, calls, marks, kinds=("k/call.1", "k/add.2", "cuLaunchKernel", "call.1"))
    assert DriverCalls(found).runs("call.1", np.array([1, 2])) is None
    assert counts(found) == {"call.1": 2, "add.2": 1}


def test_a_kernel_whose_call_was_not_recorded_is_counted_by_its_order() -> None:
    calls = DriverCalls(recording(track("driver", None, (0, 10, 11, 1)), kinds=("cuLaunchKernel",)))
    assert calls.runs("call.1", np.array([1, 7])) is None
    assert calls.starts(np.array([1, 7, 0])).tolist() == [10, -1, -1]


def test_a_kernel_that_amd_copies_with_is_the_copy_that_the_driver_was_called_for() -> None:
    device = track("Stream #1", "GPU:0", (0, 100, 110, 1), (0, 120, 140, 2), (0, 150, 160, 9))
    calls = track("driver", None, (1, 10, 11, 1), (2, 20, 21, 2))
    kinds = ("__amd_rocclr_copyBuffer.kd", "hipMemcpyHtoDAsync", "hipMemcpyDtoDAsync")
    found = with_calls_of_copies(recording(device, calls, kinds=kinds))
    transfers = {each.direction: (each.count, each.total_ns) for each in summarize(found).transfers}
    assert transfers == {"host to device": (1, 0), "on the device": (1, 0)}
    assert {each.category for each in summarize(found).operation_times} == {"memcpy"}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=20))
def test_runs_in_order_are_those_that_were_made(made: list[tuple[int, int, int]]) -> None:
    """Runs of operations, each of so many kernels, some of them in a row."""
    operations: list[int] = []
    kernels: list[int] = []
    wanted: dict[int, int] = {}
    before = -1
    for operation, size, times in made:
        if operation == before:
            continue
        before = operation
        wanted[operation] = wanted.get(operation, 0) + times
        operations += [operation] * size * times
        kernels += [10 * operation + each for each in range(size)] * times
    assert runs_in_order(np.array(operations), np.array(kernels)) == wanted


@pytest.mark.parametrize("name", ["gpu_gfx950_te_attention", "gpu_mi300_gemm"])
def test_runs_of_a_real_recording_are_those_that_the_host_marked(name: str) -> None:
    from recordings import recording_of

    found = recording_of(name)
    marks: dict[str, int] = {}
    for each in found.tracks:
        for number in each.kinds.tolist() if each.role == "host" else ():
            marks[found.kinds[number].name] = marks.get(found.kinds[number].name, 0) + 1
    told: dict[Any, int] = {}
    for one in summarize(found).operation_times:
        if one.module:
            told[one.name] = told.get(one.name, 0) + one.count
    assert told
    assert {operation: marks[operation] for operation in told} == told
