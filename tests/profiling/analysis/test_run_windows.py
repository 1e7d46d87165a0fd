"""The parts of events that lie in runs."""

from __future__ import annotations

import numpy as np
import pytest

from jaxmagic.profiling.analysis.run_windows import Window, from_first_to_last, within
from jaxmagic.profiling.record.recording import TraceLine

MS = 10**9
RUNS = [Window(10 * MS, 20 * MS), Window(30 * MS, 40 * MS)]


def parts(spans: list[tuple[int, int]], windows: list[Window]) -> list[tuple[float, float, int]]:
    """Return the parts as start and end in milliseconds, and the index of the event."""
    start, end = np.array(spans, np.int64).reshape(-1, 2).T
    return [(low / MS, high / MS, number) for low, high, number in zip(*within(start, end, windows), strict=True)]


@pytest.mark.parametrize(
    ("span", "found"),
    [
        ((12 * MS, 15 * MS), (12, 15)),
        ((15 * MS, 25 * MS), (15, 20)),
        ((15 * MS, 35 * MS), (15, 20)),
        ((10 * MS - MS // 2, 15 * MS), (10, 15)),
        ((5 * MS, 15 * MS), None),
        ((20 * MS, 25 * MS), None),
        ((29 * MS + MS // 2, 31 * MS), (30, 31)),
        ((25 * MS, 35 * MS), None),
        ((40 * MS, 41 * MS), None),
        ((10 * MS, 10 * MS), None),
    ],
    ids=["in a run", "goes on", "goes on into the next", "right before", "long before", "behind",
         "right before the next", "long before the next", "behind the last", "nothing"],
)  # fmt: skip
def test_an_event_is_of_the_run_in_which_it_began_or_right_before_which(
    span: tuple[int, int], found: tuple[int, int] | None
) -> None:
    wanted = [] if found is None else [(*found, 1)]
    assert parts([(41 * MS, 42 * MS), span], RUNS) == wanted


def test_without_a_run_there_is_nothing_and_in_a_single_one_everything() -> None:
    assert parts([(1 * MS, 2 * MS)], []) == []
    assert parts([], RUNS) == []
    assert parts([(1 * MS, 2 * MS), (2 * MS, 3 * MS)], [Window(0, 9 * MS)]) == [(1, 2, 0), (2, 3, 1)]


def test_without_runs_it_is_from_the_first_event_to_the_end_of_the_last() -> None:
    def track(*spans: tuple[int, int]) -> TraceLine:
        start, end = np.array(spans, np.int64).T
        return TraceLine("thread", "CPU:0", "operations", np.zeros(len(spans), np.int64), start, end)

    assert from_first_to_last([track((5, 90), (6, 7)), track((3, 4))]) == [Window(3, 90)]
    assert from_first_to_last([]) == []
