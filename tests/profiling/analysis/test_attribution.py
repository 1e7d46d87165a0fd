"""Attribution of device time, compared with a simulation of every moment."""

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
    divide,
    innermost,
    union_of,
)

Spans = list[tuple[int, int]]


@st.composite
def nested(draw: st.DrawFn) -> Spans:
    """Events as a thread records them: nested or disjoint."""
    found: Spans = []

    def fill(start: int, end: int, depth: int) -> None:
        at = start
        while at < end and len(found) < 30:
            first = draw(st.integers(at, end))
            last = draw(st.integers(first, end))
            found.append((first, last))
            if depth < 3 and last > first and draw(st.booleans()):
                fill(first, last, depth + 1)
            at = max(last, at + 1)

    fill(0, 40, 0)
    return found


def arrays(spans: Spans) -> tuple[np.ndarray, np.ndarray]:
    return np.array([each[0] for each in spans], np.int64), np.array([each[1] for each in spans], np.int64)


@given(nested(), st.randoms(use_true_random=False))
def test_each_moment_belongs_to_the_innermost_event(spans: Spans, chance: object) -> None:
    chance.shuffle(spans)  # type: ignore[attr-defined]
    found = innermost(*arrays(spans))
    owners: dict[int, set[tuple[int, int]]] = {}
    for start, end, event in zip(found.start.tolist(), found.end.tolist(), found.event.tolist(), strict=True):
        for moment in range(start, end):
            owners.setdefault(moment, set()).add(spans[event])
    for moment in range(40):
        around = [each for each in spans if each[0] <= moment < each[1]]
        if around:
            shortest = min(end - start for start, end in around)
            (owner,) = owners[moment]
            assert owner in around
            assert owner[1] - owner[0] == shortest
        else:
            assert moment not in owners


def test_events_that_overlap_have_not_run_on_one_thread_and_keep_their_own_time() -> None:
    found = innermost(np.array([0, 3]), np.array([5, 8]))
    assert (found.start.tolist(), found.end.tolist()) == ([0, 3], [5, 8])


@pytest.mark.parametrize("spans", [[], [(3, 3)]])
def test_nothing_has_no_time(spans: Spans) -> None:
    assert len(innermost(*arrays(spans)).start) == 0
    assert divide(*arrays([]), np.zeros(0, np.int64)).total == 0


SEGMENT = st.tuples(
    st.integers(0, 30), st.integers(1, 10), st.sampled_from([COMPUTE, COLLECTIVE, COPY, ASYNC, CALLBACK, CONTROL])
)


@given(st.lists(SEGMENT, min_size=1, max_size=12))
def test_a_moment_is_divided_among_the_first_rank_that_has_any(segments: list[tuple[int, int, int]]) -> None:
    start, size, priority = (np.array(each, np.int64) for each in zip(*segments, strict=True))
    busy = divide(start, start + size, priority)
    share = [0.0] * len(segments)
    priorities, exposed = [0] * 6, [0] * 6
    for moment in range(50):
        there = [at for at, (first, length, _) in enumerate(segments) if first <= moment < first + length]
        kinds = {segments[at][2] for at in there}
        for each in kinds:
            priorities[each] += 1
        if there:
            exposed[min(kinds)] += 1
            first_rank = [at for at in there if segments[at][2] == min(kinds)]
            for at in first_rank:
                share[at] += 1 / len(first_rank)
    assert busy.share.tolist() == pytest.approx(share)
    assert (busy.priorities, busy.exposed) == (tuple(priorities), tuple(exposed))
    assert busy.share.sum() == pytest.approx(busy.total)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), max_size=12))
def test_a_union_has_each_moment_once(spans: Spans) -> None:
    spans = [(start, start + size) for start, size in spans]
    found = union_of(*arrays(spans))
    moments = [each for start, end in zip(found.start, found.end, strict=True) for each in range(start, end)]
    assert moments == sorted({each for start, end in spans for each in range(start, end)})
