"""Draws memory by call stack as a flame graph: each call is as wide as the memory that it has allocated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ... import units
from ...charts.areas import Cell, Flame
from ...charts.scale import Scale
from ...records.paths import short_source
from ..analysis.heap import flame
from ..record.heap import FlameNode, HeapDifference

#: Number of levels that are drawn: enough to recognize a recursion.
_MOST_LEVELS = 20

#: Number of calls that are drawn, the widest ones, to keep saved notebooks small.
_MOST_CELLS = 300

#: Rectangles below this share of the width are less than a pixel wide.
_NARROWEST = 1 / 500

#: How the memory of a call has changed. Freed arrays are not in the later profile, and have no rectangle.
KINDS = ("unchanged", "more than before", "less than before")


class _Place(NamedTuple):
    """A call, its left edge, its level, and the same call in the earlier profile."""

    node: FlameNode
    left: int
    level: int
    before: FlameNode | None


def heap_flame(heap: HeapDifference) -> Flame | None:
    """Draw the flame graph of memory that is held; ``None`` if none is.

    With an earlier profile, colours show what has changed.
    """
    root = flame(heap.after)
    total = root.total_bytes
    if not total:
        return None
    before = None if heap.before is None else flame(heap.before)
    places = sorted(_places(root, before), key=lambda each: (-each.node.total_bytes, each.level))
    wide = [each for each in places if each.node.total_bytes >= _NARROWEST * total]
    shown = [each for each in wide if each.level < _MOST_LEVELS][:_MOST_CELLS]
    left_out = len(places) - len(shown)
    compared = before is not None
    return Flame(
        title="memory held, by call stack",
        x=Scale(label="memory held", quantity="size", low=0.0, high=float(total)),
        cells=tuple(_cell(each, total, compared) for each in shown),
        kinds=KINDS if compared else (),
        note=f"{units.count(left_out, 'smaller or deeper call')} not drawn" if left_out else "",
    )


def _places(root: FlameNode, before: FlameNode | None) -> Iterator[_Place]:
    """Yield all calls from the outermost on, without recursion, because stacks may be deep."""
    waiting = [_Place(root, 0, 0, before)]
    while waiting:
        place = waiting.pop()
        yield place
        left = place.left
        before_by_frame = {} if place.before is None else {each.frame: each for each in place.before.children}
        for child in place.node.children:
            waiting.append(_Place(child, left, place.level + 1, before_by_frame.get(child.frame)))
            left += child.total_bytes


def _cell(place: _Place, total: int, compared: bool) -> Cell:
    size = place.node.total_bytes
    change = size - (0 if place.before is None else place.before.total_bytes)
    return Cell(
        x=(float(place.left), float(place.left + size)),
        level=place.level,
        name=place.node.name,
        lines=tuple(_lines(place.node, total, change if compared else None)),
        place="" if place.node.frame is None else short_source(place.node.frame.location),
        kind=(change > 0) + 2 * (change < 0) if compared else 0,
    )


def _lines(node: FlameNode, total: int, change: int | None) -> Iterator[str]:
    yield node.name if node.frame is None else f"{node.name}  {node.frame.location}"
    yield f"{units.size(node.total_bytes)}, {units.share(node.total_bytes, total)} of all"
    if change is not None:
        yield units.size_change(change)
    if node.children and node.self_bytes:
        yield f"{units.size(node.self_bytes)} self"
