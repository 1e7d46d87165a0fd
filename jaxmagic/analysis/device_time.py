"""How long devices worked: the union of what they did, within the calls that are asked about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

#: From when to when, in nanoseconds.
Interval = tuple[int, int]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The same time without overlaps, in order.

    >>> union([(5, 6), (0, 2), (1, 3)])
    [(0, 3), (5, 6)]
    """
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def overlap_ns(ones: Sequence[Interval], others: Sequence[Interval]) -> int:
    """How long both were, of two unions.

    >>> overlap_ns([(0, 10), (20, 30)], [(5, 25)])
    10
    """
    total, one, other = 0, 0, 0
    while one < len(ones) and other < len(others):
        start, end = max(ones[one][0], others[other][0]), min(ones[one][1], others[other][1])
        total += max(0, end - start)
        if ones[one][1] < others[other][1]:
            one += 1
        else:
            other += 1
    return total


def busy_within(work: Mapping[str, Iterable[Interval]], windows: Iterable[Interval]) -> dict[str, int]:
    """For each device how long it worked within some windows; without those that did not.

    >>> busy_within({"GPU:0": [(0, 4), (2, 6)], "GPU:1": [(90, 99)]}, [(1, 50)])
    {'GPU:0': 5}
    """
    within = union(windows)
    found = {device: overlap_ns(union(spans), within) for device, spans in work.items()}
    return {device: busy_ns for device, busy_ns in sorted(found.items()) if busy_ns}
