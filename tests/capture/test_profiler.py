"""When runs were: as the stopwatch has clocked them, within the marks that the profiler has recorded."""

from __future__ import annotations

import numpy as np
import pytest

from jaxmagic.capture.profiler import windows_of
from jaxmagic.model.recording import EventKind, Recording, Track

KINDS = (EventKind("jaxmagic: run", {"step_num": 0}), EventKind("PjitFunction(f)", {}))


def recording(*events: tuple[int, int, int]) -> Recording:
    """Events of a thread, as their kind, start and end in nanoseconds."""
    kinds, start, end = np.array(events, np.int64).T
    return Recording((Track("python", None, "host", kinds, start * 1000, end * 1000),), KINDS, {}, {})


MARKS = recording((0, 1000, 9000), (1, 2000, 3000), (0, 20_000, 29_000))


@pytest.mark.parametrize(
    ("clocked", "windows"),
    [
        ([], [(1000, 9000), (20_000, 29_000)]),
        ([(100, 5000), (200, 6000)], [(1100, 6100), (20_200, 26_200)]),
        ([(100, 50_000)], [(1100, 9000), (20_000, 29_000)]),
    ],
)
def test_a_run_is_as_long_as_the_stopwatch_says_and_ends_with_its_mark_at_the_latest(
    clocked: list[tuple[int, int]], windows: list[tuple[int, int]]
) -> None:
    found = windows_of(MARKS, clocked)
    assert [(start // 1000, end // 1000) for start, end in found] == windows
