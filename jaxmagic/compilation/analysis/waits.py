"""Measure how long the measured code itself waited for results during dispatch, outside any compilation."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..record.events import Span
from .self_times import self_times

#: When a wait began, and when it ended.
Interval = tuple[int, int]


def own_waits_ns(
    waits: Sequence[Interval],
    spans: Sequence[Span],
    start_ns: int,
    end_ns: int,
    *,
    main_thread: int,
    threads: Collection[int],
) -> int:
    """Return how much time of `waits` belongs to no compilation, in nanoseconds.

    Args:
        waits: waits of the thread that runs the measured code, in order and without overlap.
        spans: stages of compilations, in any order.
        start_ns: the start of the window.
        end_ns: the end of the window.
        main_thread: the thread that ran the measured code.
        threads: the threads whose spans count.

    >>> own_waits_ns([(10, 30), (40, 45)], [], 0, 42, main_thread=1, threads={1})
    22
    """
    near = touching(waits, spans)
    own = self_times(spans, start_ns, end_ns, main_thread=main_thread, threads=threads, waits=near)
    alone_ns = _within_ns(waits, start_ns, end_ns) - _within_ns(near, start_ns, end_ns)
    return alone_ns + sum(own[len(spans) :])


def _within_ns(waits: Sequence[Interval], start_ns: int, end_ns: int) -> int:
    return sum(max(min(end, end_ns) - max(begin, start_ns), 0) for begin, end in waits)


def touching(waits: Sequence[Interval], spans: Sequence[Span]) -> list[Interval]:
    """Return the waits that overlap a span; in a loop with many thousand waits, a few do."""
    if not spans:
        return []
    first, last = min(each.start_ns for each in spans), max(each.end_ns for each in spans)
    return [
        (begin, end)
        for begin, end in waits
        if begin < last and end > first and any(each.start_ns < end and each.end_ns > begin for each in spans)
    ]
