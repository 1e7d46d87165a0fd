"""Windows of runs: the stopwatch's times within the recorded markers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jaxmagic.profiling.capture.profiler_session import windows_of
from jaxmagic.profiling.record.recording import EventMetadata, Trace, TraceLine

KINDS = (EventMetadata("jaxmagic: run", {"step_num": 0}), EventMetadata("PjitFunction(f)", {}))


def recording(*events: tuple[int, int, int]) -> Trace:
    """Events of a thread, as their kind, start and end in nanoseconds."""
    kinds, start, end = np.array(events, np.int64).T
    return Trace((TraceLine("python", None, "host", kinds, start * 1000, end * 1000),), KINDS, {}, {})


MARKS = recording((0, 1000, 9000), (1, 2000, 3000), (0, 20_000, 29_000))


@pytest.mark.parametrize(
    ("clocked", "windows"),
    [
        ([], [(1000, 9000), (20_000, 29_000)]),
        ([(100, 5000), (200, 6000)], [(1100, 6100), (20_200, 26_200)]),
        ([(100, 50_000)], [(1000, 9000), (20_000, 29_000)]),
    ],
)
def test_a_run_is_as_long_as_the_stopwatch_says_and_ends_with_its_mark_at_the_latest(
    clocked: list[tuple[int, int]], windows: list[tuple[int, int]]
) -> None:
    found = windows_of(MARKS, clocked)
    assert [(start // 1000, end // 1000) for start, end in found] == windows


def with_operations(*spans: tuple[int, int], module: str = "jit_f") -> Trace:
    """The same with operations, given by start and end in nanoseconds."""
    start, end = np.array(spans, np.int64).T * 1000
    kind = EventMetadata("dot", {"hlo_op": "dot", "hlo_module": module})
    track = TraceLine("pool", "CPU:0", "operations", np.full(len(spans), len(KINDS)), start, end)
    return replace(MARKS, tracks=(*MARKS.tracks, track), kinds=(*KINDS, kind))


@pytest.mark.parametrize(
    ("spans", "window"),
    [
        ([(1500, 2000)], (1100, 4100)),
        ([(5000, 6000)], (3000, 6000)),
        ([(4000, 4500), (6000, 8000)], (4000, 7000)),
        ([(1050, 2000)], (1050, 4050)),
        ([(15_000, 16_000), (10, 20)], (1100, 4100)),
        ([(8000, 9500)], (1100, 4100)),
    ],
    ids=["within", "behind", "longer than the run", "before", "in no run", "goes on after its run"],
)
def test_where_the_thread_has_paused_before_the_clock_the_run_is_where_its_operations_are(
    spans: list[tuple[int, int]], window: tuple[int, int]
) -> None:
    found = windows_of(with_operations(*spans), [(100, 3000), (200, 6000)])
    assert [(start // 1000, end // 1000) for start, end in found] == [window, (20_200, 26_200)]


def test_programs_of_ours_move_no_run() -> None:
    found = windows_of(with_operations((7000, 8000), module="jit_jaxmagic_fence"), [(100, 3000)])
    assert found[0] == (1100 * 1000, 4100 * 1000)
