"""Self times of spans: a union of intervals in which every instant has one owner."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.compilation.analysis.self_times import self_times
from jaxmagic.compilation.record.events import Span

MAIN, HELPER, STRANGER = 1, 2, 3


def span(start: int, end: int, thread: int = MAIN) -> Span:
    return Span(stage="tracing", function="f", start_ns=start, end_ns=end, thread=thread, thread_name="t")


def own(*spans: Span, window: tuple[int, int] = (0, 1000)) -> list[int]:
    return self_times(spans, *window, main_thread=MAIN, threads={MAIN, HELPER})


def test_a_span_alone_owns_its_time() -> None:
    assert own(span(100, 300)) == [200]


def test_an_inner_span_takes_its_time_from_the_outer() -> None:
    assert own(span(100, 500), span(200, 300)) == [300, 100]


def test_spans_are_clipped_to_the_window() -> None:
    assert own(span(0, 500), span(900, 2000), window=(400, 1000)) == [100, 100]


def test_parallel_spans_of_helpers_are_counted_once() -> None:
    assert sum(own(span(0, 100, HELPER), span(50, 150, HELPER))) == 150


def test_the_main_thread_comes_before_its_helpers() -> None:
    assert own(span(0, 100, MAIN), span(20, 200, HELPER)) == [100, 100]


def test_strangers_do_not_count() -> None:
    assert own(span(0, 100, STRANGER), span(50, 150)) == [0, 100]


spans = st.lists(
    st.builds(
        lambda start, length, thread: span(start, start + length, thread),
        st.integers(0, 900),
        st.integers(0, 300),
        st.sampled_from([MAIN, HELPER, STRANGER]),
    ),
    max_size=12,
)


def union(spans: list[Span], start: int, end: int) -> int:
    covered: set[int] = set()
    for each in spans:
        if each.thread != STRANGER:
            covered.update(range(max(each.start_ns, start), min(each.end_ns, end)))
    return len(covered)


@given(spans, st.integers(0, 400), st.integers(500, 1000))
def test_self_times_add_up_to_the_union(spans: list[Span], start: int, end: int) -> None:
    assert sum(own(*spans, window=(start, end))) == union(spans, start, end)


@given(spans)
def test_no_span_owns_more_than_its_length(spans: list[Span]) -> None:
    for each, time in zip(spans, own(*spans, window=(0, 2000)), strict=True):
        assert 0 <= time <= each.end_ns - each.start_ns


@given(spans, st.randoms())
def test_the_order_of_the_spans_does_not_matter_for_the_sum(spans: list[Span], random: object) -> None:
    shuffled = list(spans)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sum(own(*spans)) == sum(own(*shuffled))


@given(spans, st.integers(2, 7))
def test_scaling_the_clock_scales_the_times(spans: list[Span], factor: int) -> None:
    scaled = [span(each.start_ns * factor, each.end_ns * factor, each.thread) for each in spans]
    assert sum(own(*scaled, window=(0, 1000 * factor))) == factor * sum(own(*spans))
