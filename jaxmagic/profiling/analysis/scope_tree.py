"""The time of a profile as a tree: by scope, or by the calls of Python; and the tree as a flame graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import NamedTuple

from ... import units
from ...charts.spec import Cell, Flame, Scale
from ...memory_use.analysis.heap import is_users
from ...records.inside import inside
from ...records.paths import short_source
from ..record.profile import PlaceTime, Profile

#: What a tree can be made by.
By = OneOf["scope", "stack"]

#: What is drawn: more is not seen.
_MOST_LEVELS = 20
_MOST_CELLS = 400
_NARROWEST = 1 / 500

#: How the time without a scope, or without a line, is called.
NOWHERE = "(not known)"


class Step(NamedTuple):
    """A level of a path: its name, and the line where it is written, if it has one."""

    name: str
    place: str = ""


@dataclass(slots=True)
class Node:
    """What was spent below a step of a path.

    Attributes:
        step: the last step of the path.
        depth: of the path; 0 for the root.
        time_ns: spent here and below.
        self_ns: spent here, and not below.
        children: by their steps, in the order in which they were found.
    """

    step: Step
    depth: int = 0
    time_ns: int = 0
    self_ns: int = 0
    children: dict[Step, Node] = field(default_factory=dict)


def tree(profile: Profile, by: By = "scope") -> Node:
    """The tree of all paths.

    Args:
        profile: whose time.
        by: what the paths are made of: scopes, as :func:`jax.named_scope`, functions and transformations have made
            them; or the user's own calls, the outermost first.
    """
    root = Node(Step("all"))
    for place in profile.place_times:
        path = scope_steps(place.scope) if by == "scope" else _calls(place)
        node = root
        node.time_ns += place.time_ns
        for step in path or [Step(NOWHERE)]:
            node = node.children.setdefault(step, Node(step, node.depth + 1))
            node.time_ns += place.time_ns
        node.self_ns += place.time_ns
    return root


def scope_steps(scope: str) -> list[Step]:
    """The steps of a path; a name in brackets is one, whatever is in it.

    >>> [step.name for step in scope_steps("jit(f)/jit(main)/layer/transpose(jvp(a/b))/dot_general")]
    ['jit(f)', 'layer', 'transpose(jvp(a/b))', 'dot_general']
    """
    steps, begin, depth = [], 0, 0
    for at, letter in enumerate(f"{scope}/"):
        depth += (letter == "(") - (letter == ")")
        if letter == "/" and depth <= 0:
            steps.append(scope[begin:at])
            begin = at + 1
    return [Step(each) for each in steps if each and each != "jit(main)"]


def _calls(place: PlaceTime) -> list[Step]:
    """The user's own, and the library's function behind them; a line that follows itself, as in a loop, is one."""
    found: list[Step] = []
    called = [Step(name) for name in (inside(place.stack),) if name is not None]
    mine = [each for each in place.stack if is_users(each)]
    for frame in mine or place.stack[-1:]:
        step = Step(frame.function.replace(".<locals>", "") or short_source(frame.location), frame.location)
        if not found or found[-1] != step:
            found.append(step)
    return [*found, *called] if mine else [*called, *found]


def walk(root: Node) -> Iterator[tuple[tuple[Step, ...], Node]]:
    """All nodes but the root with their paths, the largest of a level first; without recursion: paths may be long."""
    waiting: list[tuple[tuple[Step, ...], Node]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        if node is not root:
            yield path, node
        smallest_first = sorted(node.children.values(), key=lambda each: each.time_ns)
        waiting += [((*path, each.step), each) for each in smallest_first]


def profile_flame(profile: Profile, by: By = "scope") -> Flame | None:
    """The flame graph; ``None`` where no time was spent."""
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
        yield f"{units.time(node.self_ns / parts)} of it by itself"


def scope_rows(profile: Profile) -> Iterable[tuple[str, int, int, int]]:
    """Each scope with its depth, its time, and the time that is its own."""
    for path, node in walk(tree(profile, "scope")):
        yield joined(path), node.depth, node.time_ns, node.self_ns


def joined(path: Sequence[Step]) -> str:
    """A path as JAX writes one."""
    return "/".join(each.name for each in path)
