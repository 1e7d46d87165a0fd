"""The time of a profile as a tree: by scope, or by the calls of Python; and the tree as a flame graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import NamedTuple

from ...records.call_stack import is_users
from ...records.inside import inside
from ...records.paths import short_source
from ..record.profile import PlaceTime, Profile

#: What a tree can be made by.
By = OneOf["scope", "stack"]

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


def scope_rows(profile: Profile) -> Iterable[tuple[str, int, int, int]]:
    """Each scope with its depth, its time, and the time that is its own."""
    for path, node in walk(tree(profile, "scope")):
        yield joined(path), node.depth, node.time_ns, node.self_ns


def joined(path: Sequence[Step]) -> str:
    """A path as JAX writes one."""
    return "/".join(each.name for each in path)
