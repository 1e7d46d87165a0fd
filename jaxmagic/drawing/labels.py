"""Places the labels of points where they cover nothing: no other label, no point and no line.

Points that lie so close to each other that not every label has room beside its point have their labels in a column
next to them, with leader lines. ``labels.js`` does the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import hypot
from typing import NamedTuple

#: The ends of a straight line in pixels: x and y of the first, x and y of the second.
Segment = tuple[float, float, float, float]

#: Points that are closer to each other than this belong together.
_NEAR_X, _NEAR_Y = 60.0, 26.0

#: The distance of two rows of a column, of two places where it may begin, and of the column from its points.
_ROW, _STEP, _GAPS = 13.0, 5.0, (14.0, 40.0, 80.0, 130.0, 200.0)

#: How much worse it is, in pixels of leader lines, if a label is cut, if lines cross, and if a label is hidden.
_CUT, _CROSSING, _HIDDEN = 60.0, 50.0, 1000.0


class Wanted(NamedTuple):
    """A label to place.

    Attributes:
        x: the position of its point in pixels.
        y: the height of its point.
        halves: half the width of each of its forms: of the whole one, and of the cut one if there is one.
    """

    x: float
    y: float
    halves: tuple[float, ...]


class Place(NamedTuple):
    """The place of a label.

    Attributes:
        middle: its middle, in pixels.
        line: its baseline.
        half: half its width.
        form: which of its forms is used.
        leader: the leader line from its point to it; ``None`` if it is beside the point.
    """

    middle: float
    line: float
    half: float
    form: int
    leader: Segment | None = None


class Room(NamedTuple):
    """Where labels may be.

    Attributes:
        across: where they begin and end.
        down: the highest and the lowest baseline.
        dots: the positions of all points in pixels.
        lines: the lines that labels must not cover.
    """

    across: tuple[float, float]
    down: tuple[float, float]
    dots: Sequence[tuple[float, float]]
    lines: Sequence[Segment] = ()


class _Taken(NamedTuple):
    """What labels must not cover, and their leader lines must not cross: boxes, and lines."""

    boxes: list[Segment]
    lines: list[Segment]


def label_places(wanted: Sequence[Wanted], room: Room) -> list[Place | None]:
    """Place labels in the order of points and groups of points that turns out best, of a few.

    Returns:
        The place of each label; ``None`` where there is no room.
    """
    groups = sorted(_groups(wanted), key=len)
    others = [group[::-1] for group in groups]
    ways = [_placed(wanted, each, room) for each in (groups, groups[::-1], others, others[::-1])]
    best = min(ways, key=lambda made: _cost(made, room.lines) + _HIDDEN * (len(wanted) - len(made)))
    return [best.get(number) for number in range(len(wanted))]


def _placed(wanted: Sequence[Wanted], groups: Sequence[Sequence[int]], room: Room) -> dict[int, Place]:
    """Place the labels of one group after the other: beside their points, or in a column, or each for itself."""
    taken = _Taken([(x - 7, y - 3, x + 7, y + 3) for x, y in room.dots], list(room.lines))
    places: dict[int, Place] = {}

    def keep(made: dict[int, Place]) -> None:
        places.update(made)
        taken.boxes.extend(map(_box, made.values()))
        taken.lines.extend(each.leader for each in made.values() if each.leader)

    for group in groups:
        beside = _beside(wanted, group, room, taken)
        column = _column(wanted, group, room, taken) if len(beside) < len(group) else beside
        keep(column)
        for number in () if column else group:
            keep(_beside(wanted, [number], room, taken) or _column(wanted, [number], room, taken))
    return places


def _groups(wanted: Sequence[Wanted]) -> list[list[int]]:
    """Divide points into groups of those that lie close to each other.

    >>> _groups([Wanted(0, 0, ()), Wanted(200, 0, ()), Wanted(50, 9, ())])
    [[1], [0, 2]]
    """
    groups: list[list[int]] = []
    for number, (x, y, _) in enumerate(wanted):
        near = [
            group
            for group in groups
            if any(abs(wanted[at].x - x) < _NEAR_X and abs(wanted[at].y - y) < _NEAR_Y for at in group)
        ]
        groups = [group for group in groups if group not in near]
        groups.append(sorted([number, *(at for group in near for at in group)]))
    return groups


def _beside(wanted: Sequence[Wanted], group: Sequence[int], room: Room, taken: _Taken) -> dict[int, Place]:
    """Place labels above, below, right or left of their points as far as there is room, whole or else cut."""
    places: dict[int, Place] = {}
    for number in group:
        boxes = [*taken.boxes, *map(_box, places.values())]
        free = (each for each in _ways(wanted[number], room) if _is_free(each, room, boxes, taken.lines))
        if (place := next(free, None)) is not None:
            places[number] = place
    return places


def _ways(wanted: Wanted, room: Room) -> Iterator[Place]:
    x, y, halves = wanted
    low, high = room.across
    for form, half in enumerate(halves):
        for right, lower in ((0.0, -7.0), (0.0, 15.0), (half + 7, 4.0), (-half - 7, 4.0)):
            yield Place(min(max(x + right, low + half), high - half), y + lower, half, form)


def _column(wanted: Sequence[Wanted], group: Sequence[int], room: Room, taken: _Taken) -> dict[int, Place]:
    """Place labels below each other, right or left of their points, where that costs least; empty if nowhere."""
    best: dict[int, Place] = {}
    least = float("inf")
    for form in range(max(len(wanted[number].halves) for number in group)):
        for right in (True, False):
            for gap in _GAPS:
                for number in range(int((room.down[1] - room.down[0] - _ROW * (len(group) - 1)) / _STEP) + 1):
                    top = room.down[0] + _STEP * number
                    made = _stacked(wanted, group, form, right=right, gap=gap, top=top)
                    cost = _cost(made, taken.lines)
                    if cost < least and all(
                        _is_free(each, room, taken.boxes, taken.lines) and not _hits(each, taken.boxes, room.dots)
                        for each in made.values()
                    ):
                        best, least = made, cost
    return best


def _stacked(
    wanted: Sequence[Wanted], group: Sequence[int], form: int, *, right: bool, gap: float, top: float
) -> dict[int, Place]:
    """Place labels in a column, in the order of the heights of their points."""
    xs = [wanted[number].x for number in group]
    edge = max(xs) + gap if right else min(xs) - gap
    made = {}
    for row, number in enumerate(sorted(group, key=lambda at: wanted[at].y)):
        x, y, halves = wanted[number]
        mine = min(form, len(halves) - 1)
        half, line = halves[mine], top + _ROW * row
        leader = x, y, edge - 2 if right else edge + 2, line - 3
        made[number] = Place(edge + half if right else edge - half, line, half, mine, leader)
    return made


def _cost(made: dict[int, Place], lines: Sequence[Segment]) -> float:
    """Return how bad places are: the length of their leader lines, and what is crossed or cut."""
    leaders = [each.leader for each in made.values() if each.leader]
    length = sum(hypot(end_x - x, end_y - y) for x, y, end_x, end_y in leaders)
    crossed = sum(_meet(one, other) for at, one in enumerate(leaders) for other in (*leaders[:at], *lines))
    return length + _CROSSING * crossed + _CUT * sum(each.form for each in made.values())


def _is_free(place: Place, room: Room, boxes: Sequence[Segment], lines: Sequence[Segment]) -> bool:
    """Return whether a label is inside of the room and covers nothing."""
    left, top, right, bottom = box = _box(place)
    if left < room.across[0] - 0.01 or right > room.across[1] + 0.01:
        return False
    if not room.down[0] <= place.line <= room.down[1]:
        return False
    if any(left < each[2] and each[0] < right and top < each[3] and each[1] < bottom for each in boxes):
        return False
    return not any(_crosses(line, box) for line in lines)


def _hits(place: Place, boxes: Sequence[Segment], dots: Sequence[tuple[float, float]]) -> bool:
    """Return whether a leader line crosses another label."""
    return place.leader is not None and any(_crosses(place.leader, box) for box in boxes[len(dots) :])


def _box(place: Place) -> Segment:
    """Return the left, upper, right and lower edge of a label."""
    return place.middle - place.half, place.line - 8.5, place.middle + place.half, place.line + 2.5


def _crosses(line: Segment, box: Segment) -> bool:
    """Return whether a line goes through the inside of a box.

    >>> [_crosses(line, (4, 4, 6, 6)) for line in ((0, 0, 9, 9), (0, 2, 9, 9), (0, 5, 9, 5), (0, 3, 9, 3))]
    [True, True, True, False]
    """
    first, last = 0.0, 1.0
    for begin, end, low, high in ((line[0], line[2], box[0], box[2]), (line[1], line[3], box[1], box[3])):
        if begin == end:
            if not low < begin < high:
                return False
            continue
        one, other = sorted(((low - begin) / (end - begin), (high - begin) / (end - begin)))
        first, last = max(first, one), min(last, other)
    return first < last


def _meet(one: Segment, other: Segment) -> bool:
    """Return whether two lines cross.

    >>> _meet((0, 0, 9, 9), (0, 9, 9, 0)), _meet((0, 0, 4, 4), (0, 9, 9, 0)), _meet((0, 0, 9, 9), (0, 0, 9, 0))
    (True, False, False)
    """
    return _sides(one, other) and _sides(other, one)


def _sides(line: Segment, of: Segment) -> bool:
    """Return whether the ends of a line are on different sides of another one."""
    x, y, end_x, end_y = of
    first, last = ((end_x - x) * (line[at + 1] - y) - (end_y - y) * (line[at] - x) for at in (0, 2))
    return first * last < 0
