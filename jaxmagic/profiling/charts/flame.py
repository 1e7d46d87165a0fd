"""Flame graphs of device time."""

from __future__ import annotations

from collections.abc import Iterator

from ... import units
from ...charts.areas import Cell, Flame
from ...charts.scale import Scale
from ...records.paths import short_source
from ..analysis.scope_tree import By, Node, tree, walk
from ..record.profile import Profile

#: Limits of what can still be seen: levels, cells, and the share of the width of a cell.
_MOST_LEVELS = 20
_MOST_CELLS = 400
_NARROWEST = 1 / 500


def profile_flame(profile: Profile, by: By = "scope") -> Flame | None:
    """Draw device time as a flame graph; ``None`` without device time."""
    root = tree(profile, by)
    if not root.time_ns:
        return None
    parts = (profile.runs or 1) * max(len(profile.device_uses), 1)
    cells = sorted(_cells(root, parts), key=lambda each: (each.x[0] - each.x[1], each.level))
    shown = [each for each in cells if each.level < _MOST_LEVELS][:_MOST_CELLS]
    left_out = sum(1 for _ in walk(root)) + 1 - len(shown)
    return Flame(
        title=f"device time by {'scope' if by == 'scope' else 'call stack'}",
        x=Scale(label="device time", quantity="time", low=0.0, high=root.time_ns / parts),
        cells=tuple(shown),
        note=f"{units.count(left_out, 'smaller or deeper part')} not drawn" if left_out else "",
    )


def _cells(root: Node, parts: int) -> Iterator[Cell]:
    waiting: list[tuple[int, Node]] = [(0, root)]
    while waiting:
        left, node = waiting.pop()
        yield Cell(
            x=(left / parts, (left + node.time_ns) / parts),
            level=node.depth,
            name=node.step.name,
            lines=tuple(_lines(node, root.time_ns, parts)),
            place=short_source(node.step.place) if node.step.place else "",
        )
        for child in sorted(node.children.values(), key=lambda each: -each.time_ns):
            if child.time_ns >= _NARROWEST * root.time_ns:
                waiting.append((left, child))
            left += child.time_ns


def _lines(node: Node, total_ns: int, parts: int) -> Iterator[str]:
    yield f"{node.step.name}  {node.step.place}".rstrip()
    yield f"{units.time(node.time_ns / parts)}, {units.share(node.time_ns, total_ns)} of all"
    if node.children and node.self_ns:
        yield f"{units.time(node.self_ns / parts)} self time"
