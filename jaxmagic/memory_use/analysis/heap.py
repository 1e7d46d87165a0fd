"""Call stacks by the bytes that they hold, the difference between two profiles, and the tree of all stacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ...records.call_stack import Frame, Stack, is_users
from ..record.heap import FlameNode, HeapChange, HeapDifference, HeapProfile, HeapSample, StackTotal

_Key = TypeVar("_Key", bound=Hashable)


def without_internals(profile: HeapProfile) -> HeapProfile:
    """The same profile with the user's calls only; stacks without any stay as they are.

    JAX takes another way through its own code when a line runs for the first time. Without that, one line of the
    user's is one stack. What ``%jaxtimeit`` and ``%%jaxcompare`` have made a function of is called a statement.
    """
    found = {each.stack for each in profile.samples}
    short = {stack: tuple(_renamed(filter(is_users, stack))) or stack for stack in found}
    return replace(profile, samples=tuple(replace(each, stack=short[each.stack]) for each in profile.samples))


def _renamed(stack: Iterable[Frame]) -> Iterator[Frame]:
    for frame in stack:
        yield replace(frame, function="<statement>") if frame.function.startswith("__jaxmagic_") else frame


def by_stack(profile: HeapProfile) -> tuple[StackTotal, ...]:
    """Return what each stack holds, of all kinds and on all devices, the largest first."""
    sums = _sums((each.stack, each) for each in profile.samples)
    inside = _inside((each.stack, each) for each in profile.samples)
    rows = [
        StackTotal(stack=stack, size_bytes=size, count=count, inside=inside.get(stack, {}))
        for stack, (size, count) in sums.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.size_bytes, -row.count, row.stack)))


def stacks(found: HeapDifference) -> tuple[StackTotal, ...]:
    """Return what each stack holds and by how much that is more than before.

    What changed comes first, the most first, gone or come; then the rest, the largest first. Stacks that hold no
    bytes and held none are left out: on the CPU these are the programs.
    """
    now = {row.stack: row for row in by_stack(found.after)}
    if found.before is None:
        return tuple(row for row in now.values() if row.size_bytes)
    old = by_stack(found.before)
    before = {row.stack: row.size_bytes for row in old}
    gone = [replace(row, size_bytes=0, count=0) for row in old if row.stack not in now]
    rows = [
        replace(row, change_bytes=row.size_bytes - before.get(row.stack, 0))
        for row in (*now.values(), *gone)
        if row.size_bytes or before.get(row.stack)
    ]
    return tuple(sorted(rows, key=lambda row: (-abs(row.change_bytes or 0), -row.size_bytes, row.stack)))


def difference(before: HeapProfile, after: HeapProfile) -> tuple[HeapChange, ...]:
    """Return what changed, by stack, kind and device: from what grew the most to what shrank the most.

    Args:
        before: the earlier profile.
        after: the later one.
    """
    return tuple(each for each in beside(before, after) if each.change_bytes or each.change_count)


def beside(before: HeapProfile, after: HeapProfile) -> tuple[HeapChange, ...]:
    """The same, and what stayed as it was."""
    old, new = (_sums((_place(each), each) for each in profile.samples) for profile in (before, after))
    inside = _inside((_place(each), each) for profile in (before, after) for each in profile.samples)
    found = [
        _change(place, old.get(place, (0, 0)), new.get(place, (0, 0)), tuple(inside.get(place, ())))
        for place in old.keys() | new.keys()
    ]
    return tuple(sorted(found, key=_growth))


def _place(sample: HeapSample) -> tuple[Stack, str, str | None]:
    return sample.stack, sample.kind, sample.device


def _change(
    place: tuple[Stack, str, str | None], before: tuple[int, int], after: tuple[int, int], inside: tuple[str, ...]
) -> HeapChange:
    stack, kind, device = place
    return HeapChange(
        stack=stack,
        kind=kind,
        device=device,
        before_bytes=before[0],
        after_bytes=after[0],
        before_count=before[1],
        after_count=after[1],
        inside=inside,
    )


def _growth(change: HeapChange) -> tuple[int, int, Stack, str, str]:
    return -change.change_bytes, -change.change_count, change.stack, change.kind, change.device or ""


def _sums(samples: Iterable[tuple[_Key, HeapSample]]) -> dict[_Key, tuple[int, int]]:
    """Bytes and allocations of each key."""
    found: dict[_Key, tuple[int, int]] = {}
    for key, sample in samples:
        size, count = found.get(key, (0, 0))
        found[key] = size + sample.size_bytes, count + sample.count
    return found


def _inside(samples: Iterable[tuple[_Key, HeapSample]]) -> dict[_Key, dict[str, int]]:
    """Bytes of each key by the library function that was called for them, the most first."""
    found: dict[_Key, Counter[str]] = {}
    for key, sample in samples:
        if sample.inside is not None:
            found.setdefault(key, Counter())[sample.inside] += sample.size_bytes
    return {key: dict(sorted(sizes.items(), key=lambda each: (-each[1], each[0]))) for key, sizes in found.items()}


@dataclass(slots=True)
class _Growing:
    """A node of the tree while stacks are still put into it."""

    frame: Frame | None
    self_bytes: int = 0
    children: dict[Frame, _Growing] = field(default_factory=dict)
    done: FlameNode | None = None


def flame(profile: HeapProfile) -> FlameNode:
    """The tree of all stacks, equal beginnings merged; what has no bytes is not in it.

    Without recursion: a stack may be deeper than Python's own may get.
    """
    root = _Growing(None)
    nodes = [root]
    for row in by_stack(profile):
        if row.size_bytes:
            _put(row, root, nodes)
    for node in reversed(nodes):  # a child stands behind its parent
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
