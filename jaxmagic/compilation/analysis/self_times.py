"""Compute self times of nested and overlapping spans.

JAX's spans nest (an inner function is traced inside the outer one, an operation is compiled while tracing) and
overlap (programs compiled in parallel), so their plain sum exceeds the wall time. Here every instant belongs to at
most one span, so the self times add up to the length of the union of the spans.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Sequence

from ..record.events import Span


def self_times(
    spans: Sequence[Span],
    start_ns: int,
    end_ns: int,
    *,
    main_thread: int,
    threads: Collection[int],
    waits: Sequence[tuple[int, int]] = (),
) -> list[int]:
    """Return the self time of each span between `start_ns` and `end_ns`, in nanoseconds.

    An instant that several spans cover goes to the one that began last, which is the innermost; the thread that
    runs the measured code takes precedence over the others. The result adds up to the union of all intervals.

    Args:
        spans: the spans, in any order.
        start_ns: the start of the window, to which spans are clipped.
        end_ns: the end of the window.
        main_thread: the thread that ran the measured code.
        threads: the threads whose spans count; spans of other threads get 0.
        waits: when the main thread waited for results; a wait inside a span does not count as compiling.

    Returns:
        One duration for each span, in the order of `spans`, and then one for each of `waits`.
    """
    intervals = [(each.start_ns, each.end_ns, each.thread) for each in spans]
    intervals += [(begin_ns, finish_ns, main_thread) for begin_ns, finish_ns in waits]
    marks: list[tuple[int, int, int]] = []  # the time, 0 for an end and 1 for a start, the index of the span
    for index, (begin_ns, finish_ns, thread) in enumerate(intervals):
        begin, finish = max(begin_ns, start_ns), min(finish_ns, end_ns)
        if (thread in threads or index >= len(spans)) and begin < finish:
            marks += [(begin, 1, index), (finish, 0, index)]
    marks.sort()
    own = [0] * len(intervals)
    active: list[tuple[bool, int, int]] = []  # ordered so that the last one owns the instant
    before = start_ns
    for when, starts, index in marks:
        if active:
            own[active[-1][-1]] += when - before
        before = when
        began_ns, _, thread = intervals[index]
        key = (thread == main_thread, began_ns, index)
        if starts:
            insort(active, key)
        else:
            active.remove(key)
    return own
