"""The time of a profile by line of source, and the listing of the functions in which it was spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ...records.call_stack import Frame, Stack, is_users
from ...records.inside import inside, line_of
from ...xla.lines.labels import label_of_scope
from ..record.profile import Code, PlaceTime, Profile

#: Lines of a listing around one that took time.
_AROUND = 2

#: What is listed of a function as a whole.
_SHORT = 40


@dataclass(slots=True)
class LineTime:
    """The time of one line.

    Attributes:
        frame: the line; ``None`` for time that reaches none.
        time_ns: what was spent on what is written in it.
        total_ns: the same, and what was spent on what it calls.
        count: how often it ran, as far as its operations tell: for each way of calls that led to it, how often that
            one of its operations did that took most.
        operations: for each of its operations, its time.
        split: whether some of it is the share of a fusion that belongs to other lines as well.
        labels: the time of what its source does not show, by what that is.
        inside: the time spent in functions of libraries that it calls, by their names; of a library's line, the
            function that it is in.
    """

    frame: Frame | None
    time_ns: int = 0
    total_ns: int = 0
    count: int = 0
    operations: dict[str, int] = field(default_factory=dict)
    split: bool = False
    labels: dict[str, int] = field(default_factory=dict)
    inside: dict[str, int] = field(default_factory=dict)


class Listed(NamedTuple):
    """A line of a listing.

    Attributes:
        number: of the line; 0 stands for lines that are left out.
        text: what is written there.
        time: of it; ``None`` if nothing was spent on it.
    """

    number: int
    text: str
    time: LineTime | None


class Listing(NamedTuple):
    """A function, with the time of its lines.

    Attributes:
        place: the file, or ``"cell 12"``.
        lines: those that are worth seeing.
        time_ns: what was spent on all of its lines.
    """

    place: str
    lines: tuple[Listed, ...]
    time_ns: int


def line_times(profile: Profile) -> list[LineTime]:
    """Lines with time of their own or of what they call, the one that took most first, and what reaches no line last.

    Their ``time_ns`` add up to the profile's ``device_ns``. A line is the innermost call of the user's own code, or
    the innermost of all where there is none of the user's.
    """
    found: dict[tuple[str, int], LineTime] = {}
    nowhere = LineTime(None)
    ways: set[Stack] = set()
    for place in profile.place_times:
        line = line_of(place.stack)
        if line is None:
            _add(nowhere, place)
            nowhere.count = max(nowhere.count, place.count)
            nowhere.total_ns += place.time_ns
            continue
        row = found.setdefault((line.file, line.line), LineTime(line))
        _add(row, place)
        way = place.stack[: len(place.stack) - place.stack[::-1].index(line)]
        if way not in ways:  # what took most comes first
            ways.add(way)
            row.count += place.count
        calls = {(each.file, each.line): each for each in place.stack if is_users(each)}
        calls[line.file, line.line] = line
        for key, frame in calls.items():
            found.setdefault(key, LineTime(frame)).total_ns += place.time_ns
    rows = sorted(found.values(), key=lambda each: (-each.time_ns, -each.total_ns))
    return [*rows, nowhere] if nowhere.time_ns else rows


def _add(line: LineTime, place: PlaceTime) -> None:
    line.time_ns += place.time_ns
    line.split |= place.split
    label = place.about or label_of_scope(place.scope)
    if label:
        line.labels[label] = line.labels.get(label, 0) + place.time_ns
    called = inside(place.stack)
    if called is not None:
        line.inside[called] = line.inside.get(called, 0) + place.time_ns
    for each in place.operations:
        line.operations[each] = line.operations.get(each, 0) + place.time_ns


def listings(profile: Profile, lines: Iterable[LineTime]) -> list[Listing]:
    """The functions whose lines took time, the one that took most first.

    Args:
        profile: it has their source.
        lines: the times of its lines.
    """
    times = {(each.frame.file, each.frame.line): each for each in lines if each.frame is not None}
    found = [_listing(code, times) for code in profile.codes]
    return sorted((each for each in found if each.time_ns), key=lambda each: -each.time_ns)


def _listing(code: Code, times: dict[tuple[str, int], LineTime]) -> Listing:
    rows = [
        Listed(number, text, times.get((code.file, number))) for number, text in enumerate(code.lines, code.first)
    ]
    total = sum(each.time.time_ns for each in rows if each.time is not None)
    return Listing(code.cell or code.file, tuple(_worth_seeing(rows)), total)


def _worth_seeing(rows: list[Listed]) -> Iterable[Listed]:
    """All of a short function; of a long one what is around lines that took time, and its head."""
    if len(rows) <= _SHORT:
        return rows
    hot = [at for at, each in enumerate(rows) if each.time is not None]
    near = {0, 1} | {at for each in hot for at in range(each - _AROUND, each + _AROUND + 1)}
    found: list[Listed] = []
    for at, each in enumerate(rows):
        if at in near:
            found.append(each)
        elif found and found[-1].number:
            found.append(Listed(0, "…", None))
    return found
