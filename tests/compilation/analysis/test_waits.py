"""The waiting time within a dispatch, to the nanosecond."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.compilation.analysis.self_times import self_times
from jaxmagic.compilation.analysis.waits import own_waits_ns, touching
from jaxmagic.compilation.record.events import Span

MAIN, HELPER = 1, 2


def span(start_ns: int, end_ns: int, thread: int = MAIN) -> Span:
    return Span(
        stage="tracing", function="f", start_ns=start_ns, end_ns=end_ns, thread=thread, thread_name=str(thread)
    )


@pytest.mark.parametrize(
    ("waits", "spans", "waited_ns"),
    [
        ([], [], 0),
        ([(10, 30)], [], 20),
        ([(10, 30), (50, 55)], [], 25),
        ([(-5, 5), (95, 200)], [], 10),  # clipped to the window
        ([(20, 30)], [span(10, 40)], 10),  # a float() while tracing does not count as tracing
        ([(10, 40)], [span(20, 30)], 20),  # a compilation inside a wait counts as compiling
        ([(10, 30)], [span(20, 40)], 10),
        ([(10, 30)], [span(40, 60)], 20),
        ([(10, 30)], [span(0, 90, HELPER)], 20),  # the main thread comes before its helpers
    ],
)
def test_an_instant_is_a_wait_or_a_stage(waits: list[tuple[int, int]], spans: list[Span], waited_ns: int) -> None:
    assert own_waits_ns(waits, spans, 0, 100, main_thread=MAIN, threads={MAIN, HELPER}) == waited_ns


intervals = st.lists(st.integers(0, 200), max_size=12).map(sorted)


@given(marks=intervals, ends=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=6))
def test_waits_and_stages_never_add_up_to_more_than_the_window(marks: list[int], ends: list[tuple[int, int]]) -> None:
    waits = [(begin, end) for begin, end in zip(marks[::2], marks[1::2], strict=False) if begin < end]
    spans = [span(min(each), max(each)) for each in ends]
    own = self_times(spans, 20, 150, main_thread=MAIN, threads={MAIN}, waits=touching(waits, spans))
    waited_ns = own_waits_ns(waits, spans, 20, 150, main_thread=MAIN, threads={MAIN})
    covered = {at for begin, end in [*waits, *map(sorted, ends)] for at in range(begin, end)} & set(range(20, 150))
    assert sum(own[: len(spans)]) + waited_ns == len(covered)
