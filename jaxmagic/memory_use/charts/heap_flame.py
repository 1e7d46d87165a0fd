"""What is held by call stack, as a flame graph: a rectangle for each call, as wide as what it has put into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ... import units
from ...charts.areas import Cell, Flame
from ...charts.scale import Scale
from ...records.paths import short_source
from ..analysis.heap import flame
from ..record.heap import FlameNode, HeapDifference

#: Calls below each other that are drawn; a function that calls itself a thousand times is seen to do so by then.
_MOST_LEVELS = 20

#: Calls that are drawn, the widest ones: more are not seen, and a saved notebook has to hold them.
_MOST_CELLS = 300

#: The share of the whole below which a rectangle is less than a pixel wide.
_NARROWEST = 1 / 500

#: What became of what a call holds. An array that is gone is in no later profile, and so has no rectangle.
KINDS = ("as before", "more than before", "less than before")


class _Place(NamedTuple):
    """A call, where it begins, how deep it lies, and what the same calls held before."""

    node: FlameNode
    left: int
    level: int
    before: FlameNode | None


def heap_flame(found: HeapDifference) -> Flame | None:
    """The flame graph of what is held; ``None`` where nothing is.

    Args:
        found: with an earlier profile, colours tell what has become of it.
    """
    root = flame(found.after)
    total = root.total_bytes
    if not total:
        return None
    before = None if found.before is None else flame(found.before)
    places = sorted(_places(root, before), key=lambda each: (-each.node.total_bytes, each.level))
    wide = [each for each in places if each.node.total_bytes >= _NARROWEST * total]
    shown = [each for each in wide if each.level < _MOST_LEVELS][:_MOST_CELLS]
    left_out = len(places) - len(shown)
    compared = before is not None
    return Flame(
        title="memory that is held, by call stack",
        x=Scale(label="memory held", quantity="size", low=0.0, high=float(total)),
        cells=tuple(_cell(each, total, compared) for each in shown),
        kinds=KINDS if compared else (),
        note=f"{units.count(left_out, 'smaller or deeper call')} not drawn" if left_out else "",
    )


def _places(root: FlameNode, before: FlameNode | None) -> Iterator[_Place]:
    """All calls from the outermost on; without recursion, because stacks may be deep."""
    waiting = [_Place(root, 0, 0, before)]
    while waiting:
        place = waiting.pop()
        yield place
        left = place.left
        old = {} if place.before is None else {each.frame: each for each in place.before.children}
        for child in place.node.children:
            waiting.append(_Place(child, left, place.level + 1, old.get(child.frame)))
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
        yield f"{units.size(node.self_bytes)} of it by itself"
