"""How long devices worked, beside a count of every nanosecond."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.analysis.device_time import busy_within, overlap_ns, union

INTERVALS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)).map(lambda each: (each[0], sum(each))))


def moments(intervals: list[tuple[int, int]]) -> set[int]:
    return {moment for start, end in intervals for moment in range(start, end)}


@given(INTERVALS)
def test_a_union_is_the_same_time_without_overlaps(intervals: list[tuple[int, int]]) -> None:
    found = union(intervals)
    assert moments(found) == moments(intervals)
    assert all(end < start for (_, end), (start, _) in pairwise(found))


@given(INTERVALS, INTERVALS)
def test_an_overlap_is_the_time_that_both_were(ones: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    assert overlap_ns(union(ones), union(others)) == len(moments(ones) & moments(others))


@given(st.dictionaries(st.sampled_from(["GPU:0", "GPU:1"]), INTERVALS), INTERVALS)
def test_no_device_works_longer_than_the_calls_take(
    work: dict[str, list[tuple[int, int]]], windows: list[tuple[int, int]]
) -> None:
    found = busy_within(work, windows)
    assert all(0 < busy_ns <= len(moments(windows)) for busy_ns in found.values())
