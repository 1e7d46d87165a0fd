"""Sums up device time by source line, and lists the functions of these lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ...records.call_stack import Frame, Stack, is_users
from ...records.inside import inside, line_of
from ...xla.lines.labels import label_of_scope
from ..record.profile import Code, PlaceTime, Profile

#: Lines that are listed before and after a line with time.
_AROUND = 2

#: Functions with at most this many lines are listed completely.
_SHORT = 40


@dataclass(slots=True)
class LineTime:
    """Device time of one line.

    Attributes:
        frame: the line; ``None`` for time without a line.
        time_ns: time of the operations written in the line.
        total_ns: the same plus the time of the functions that the line calls.
        count: executions of the line, estimated from its operations: for each call stack that led to it, the count of
            the operation with most time.
        operations: time by operation.
        split: whether some of the time is a share of a fusion that other lines share.
        labels: time of work that the source does not show, by label.
        inside: time by library function that the line calls; for a library's line, the function that contains it.
    """

    frame: Frame | None
    time_ns: int = 0
    total_ns: int = 0
    count: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    split: bool = False
    labels: Counter[str] = field(default_factory=Counter)
    inside: Counter[str] = field(default_factory=Counter)


class Listed(NamedTuple):
    """A line of a listing.

    Attributes:
        number: the line number; 0 stands for omitted lines.
        text: the source text.
        time: its device time; ``None`` if it has none.
    """

    number: int
    text: str
    time: LineTime | None


class Listing(NamedTuple):
    """A function with the device time of its lines.

    Attributes:
        place: the file, or ``"cell 12"``.
        lines: the lines that are shown.
        time_ns: the device time of all its lines.
    """

    place: str
    lines: tuple[Listed, ...]
    time_ns: int


def line_times(profile: Profile) -> list[LineTime]:
    """Return the lines with device time, the one with most first, and the time without a line last.

    Their ``time_ns`` add up to the profile's ``device_ns``. A line is the innermost frame in the user's own code, or
    the innermost frame of the stack without any of the user's.
    """
    by_line: dict[tuple[str, int], LineTime] = {}
    nowhere = LineTime(None)
    ways: set[Stack] = set()
    for place in profile.place_times:
        line = line_of(place.stack)
        if line is None:
            _add(nowhere, place)
            nowhere.count = max(nowhere.count, place.count)
            nowhere.total_ns += place.time_ns
            continue
        row = by_line.setdefault((line.file, line.line), LineTime(line))
        _add(row, place)
        way = place.stack[: len(place.stack) - place.stack[::-1].index(line)]
        if way not in ways:  # the first place of a call stack has most time
            ways.add(way)
            row.count += place.count
        calls = {(each.file, each.line): each for each in place.stack if is_users(each)}
        calls[line.file, line.line] = line
        for key, frame in calls.items():
            by_line.setdefault(key, LineTime(frame)).total_ns += place.time_ns
    rows = sorted(by_line.values(), key=lambda each: (-each.time_ns, -each.total_ns))
    return [*rows, nowhere] if nowhere.time_ns else rows


def _add(line: LineTime, place: PlaceTime) -> None:
    line.time_ns += place.time_ns
    line.split |= place.split
    label = place.about or label_of_scope(place.scope)
    if label:
        line.labels[label] += place.time_ns
    called = inside(place.stack)
    if called is not None:
        line.inside[called] += place.time_ns
    for each in place.operations:
        line.operations[each] += place.time_ns


def listings(profile: Profile, lines: Iterable[LineTime]) -> list[Listing]:
    """Return the functions with device time, the one with most first.

    Args:
        profile: the profile, which has their source.
        lines: its lines.
    """
    times = {(each.frame.file, each.frame.line): each for each in lines if each.frame is not None}
    listed = [_listing(code, times) for code in profile.codes]
    return sorted((each for each in listed if each.time_ns), key=lambda each: -each.time_ns)


def _listing(code: Code, times: dict[tuple[str, int], LineTime]) -> Listing:
    rows = [
        Listed(number, text, times.get((code.file, number))) for number, text in enumerate(code.lines, code.first)
    ]
    total = sum(each.time.time_ns for each in rows if each.time is not None)
    return Listing(code.cell or code.file, tuple(_worth_seeing(rows)), total)


def _worth_seeing(rows: list[Listed]) -> Iterable[Listed]:
    """Return all lines of a short function; the head of a long one and the lines around those with time."""
    if len(rows) <= _SHORT:
        return rows
    hot = [at for at, each in enumerate(rows) if each.time is not None]
    near = {0, 1} | {at for each in hot for at in range(each - _AROUND, each + _AROUND + 1)}
    shown: list[Listed] = []
    for at, each in enumerate(rows):
        if at in near:
            shown.append(each)
        elif shown and shown[-1].number:
            shown.append(Listed(0, "…", None))
    return shown
