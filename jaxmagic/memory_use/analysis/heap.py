"""Sums heap profiles by call stack, compares two of them, and makes the tree of all stacks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ...records.call_stack import Frame, Stack, is_users
from ..record.heap import FlameNode, HeapChange, HeapDifference, HeapProfile, HeapSample, StackTotal

_Key = TypeVar("_Key", bound=Hashable)


def without_internals(profile: HeapProfile) -> HeapProfile:
    """Keep only the user's calls of each stack; stacks without such calls stay as they are.

    JAX takes another path through its own code when a line runs for the first time. Without JAX's calls, one line of
    the user is one stack.
    """
    distinct = {each.stack for each in profile.samples}
    short = {stack: tuple(filter(is_users, stack)) or stack for stack in distinct}
    return replace(profile, samples=tuple(replace(each, stack=short[each.stack]) for each in profile.samples))


def by_stack(profile: HeapProfile) -> tuple[StackTotal, ...]:
    """Return the memory that each stack holds, of all kinds and on all devices, largest first."""
    sums = _sums((each.stack, each) for each in profile.samples)
    inside = _inside((each.stack, each) for each in profile.samples)
    rows = [
        StackTotal(stack=stack, size_bytes=size, count=count, inside=inside.get(stack, {}))
        for stack, (size, count) in sums.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.size_bytes, -row.count, row.stack)))


def stacks(heap: HeapDifference) -> tuple[StackTotal, ...]:
    """Return the memory that each stack holds, and its growth.

    Stacks that grew or shrank come first, largest change first; then the others, largest first. Stacks that hold no
    bytes and held none before are left out: on the CPU these are the programs.
    """
    now = {row.stack: row for row in by_stack(heap.after)}
    if heap.before is None:
        return tuple(row for row in now.values() if row.size_bytes)
    old = by_stack(heap.before)
    before = {row.stack: row.size_bytes for row in old}
    freed = [replace(row, size_bytes=0, count=0) for row in old if row.stack not in now]
    rows = [
        replace(row, change_bytes=row.size_bytes - before.get(row.stack, 0))
        for row in (*now.values(), *freed)
        if row.size_bytes or before.get(row.stack)
    ]
    return tuple(sorted(rows, key=lambda row: (-abs(row.change_bytes or 0), -row.size_bytes, row.stack)))


def changes(before: HeapProfile, after: HeapProfile) -> tuple[HeapChange, ...]:
    """Compare two profiles by stack, kind and device, from the largest growth to the largest decrease.

    What did not change is included.
    """
    old, new = (_sums((_key(each), each) for each in profile.samples) for profile in (before, after))
    inside = _inside((_key(each), each) for profile in (before, after) for each in profile.samples)
    rows = []
    for key in old.keys() | new.keys():
        (before_bytes, before_count), (after_bytes, after_count) = old.get(key, (0, 0)), new.get(key, (0, 0))
        rows.append(
            HeapChange(
                stack=key[0],
                kind=key[1],
                device=key[2],
                before_bytes=before_bytes,
                after_bytes=after_bytes,
                before_count=before_count,
                after_count=after_count,
                inside=tuple(inside.get(key, ())),
            )
        )
    return tuple(sorted(rows, key=_growth))


def _key(sample: HeapSample) -> tuple[Stack, str, str | None]:
    return sample.stack, sample.kind, sample.device


def _growth(change: HeapChange) -> tuple[int, int, Stack, str, str]:
    return -change.change_bytes, -change.change_count, change.stack, change.kind, change.device or ""


def _sums(samples: Iterable[tuple[_Key, HeapSample]]) -> dict[_Key, tuple[int, int]]:
    """Return bytes and number of allocations for each key."""
    totals: dict[_Key, tuple[int, int]] = {}
    for key, sample in samples:
        size, count = totals.get(key, (0, 0))
        totals[key] = size + sample.size_bytes, count + sample.count
    return totals


def _inside(samples: Iterable[tuple[_Key, HeapSample]]) -> dict[_Key, dict[str, int]]:
    """Return bytes by the library function that allocated them, for each key, largest first."""
    totals: defaultdict[_Key, Counter[str]] = defaultdict(Counter)
    for key, sample in samples:
        if sample.inside is not None:
            totals[key][sample.inside] += sample.size_bytes
    return {key: dict(sorted(sizes.items(), key=lambda each: (-each[1], each[0]))) for key, sizes in totals.items()}


@dataclass(slots=True)
class _Growing:
    """A node of the tree to which stacks are still added."""

    frame: Frame | None
    self_bytes: int = 0
    children: dict[Frame, _Growing] = field(default_factory=dict)
    done: FlameNode | None = None


def flame(profile: HeapProfile) -> FlameNode:
    """Merge all stacks that hold bytes into one tree.

    This does not recurse, because a stack may be deeper than Python's recursion limit.
    """
    root = _Growing(None)
    nodes: list[_Growing] = []  # besides the root
    for row in by_stack(profile):
        if row.size_bytes:
            _put(row, root, nodes)
    for node in reversed(nodes):  # a child comes after its parent
        node.done = _finish(node)
    return _finish(root)


def _put(row: StackTotal, root: _Growing, nodes: list[_Growing]) -> None:
    node = root
    for frame in row.stack:
        if frame not in node.children:
            node.children[frame] = _Growing(frame)
            nodes.append(node.children[frame])
        node = node.children[frame]
    node.self_bytes += row.size_bytes


def _finish(node: _Growing) -> FlameNode:
    children = [child.done for child in node.children.values() if child.done is not None]
    return FlameNode(
        frame=node.frame,
        self_bytes=node.self_bytes,
        total_bytes=node.self_bytes + sum(child.total_bytes for child in children),
        children=tuple(sorted(children, key=lambda child: (-child.total_bytes, child.frame or _NOWHERE))),
    )


_NOWHERE = Frame(function="", file="", line=0)
