"""Arranges the device time of a profile as a tree, by scope or by Python call stack, for tables and flame graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import NamedTuple

from ...records.call_stack import is_users
from ...records.inside import inside
from ...records.paths import short_source
from ...xla import scopes
from ..record.profile import PlaceTime, Profile

#: What the levels of a tree are.
By = OneOf["scope", "stack"]

#: Name of the node with the time that has no scope or no line.
NOWHERE = "(not known)"


class Step(NamedTuple):
    """One step of a path.

    Attributes:
        name: its name.
        place: its source line, if it has one.
        kind: whether a step of a call stack is the user's, a library's, or an operation; empty in a path of scopes.
    """

    name: str
    place: str = ""
    kind: OneOf["", "yours", "library", "operation"] = ""


@dataclass(slots=True)
class Node:
    """Device time of a path.

    Attributes:
        step: the last step of the path.
        depth: the length of the path; 0 for the root.
        time_ns: time of this node and of all below it.
        self_ns: time of this node alone.
        children: child nodes by their steps.
    """

    step: Step
    depth: int = 0
    time_ns: int = 0
    self_ns: int = 0
    children: dict[Step, Node] = field(default_factory=dict)


def tree(profile: Profile, by: By = "scope") -> Node:
    """Build the tree of all paths.

    Args:
        profile: the profile.
        by: ``"scope"`` for paths of scopes, as :func:`jax.named_scope`, functions and transformations make them;
            ``"stack"`` for the user's own calls, the outermost first, the library function that they call, and the
            operation.
    """
    root = Node(Step("all"))
    for place in profile.place_times:
        path = [Step(each) for each in scopes.steps(place.scope)] if by == "scope" else _calls(place)
        node = root
        node.time_ns += place.time_ns
        for step in path or [Step(NOWHERE)]:
            node = node.children.setdefault(step, Node(step, node.depth + 1))
            node.time_ns += place.time_ns
        node.self_ns += place.time_ns
    return root


def _calls(place: PlaceTime) -> list[Step]:
    """Return the user's calls, the library function that they call, and the operation.

    A repeated line, as in a loop, counts once.
    """
    stack = place.stack
    steps: list[Step] = []
    called = [Step(name, kind="library") for name in (inside(stack),) if name is not None]
    mine = [each for each in stack if is_users(each)]
    backward = "backward of " if scopes.BACKWARD in place.scope else ""
    operation = [Step(f"{backward}{each}", kind="operation") for each in scopes.steps(place.scope)[-1:]]
    for frame in mine or stack[-1:]:
        function = frame.function.replace(".<locals>", "")
        name = short_source(frame.location) if function in ("", "<module>") else function
        step = Step(name, frame.location, "yours" if mine else "library")
        if not steps or steps[-1] != step:
            steps.append(step)
    functions = [*steps, *called] if mine else [*called, *steps]
    return [*functions, *operation] if functions else []


def walk(root: Node) -> Iterator[tuple[tuple[Step, ...], Node]]:
    """Yield all nodes but the root with their paths, the largest of a level first; paths may be long."""
    waiting: list[tuple[tuple[Step, ...], Node]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        if node is not root:
            yield path, node
        smallest_first = sorted(node.children.values(), key=lambda each: each.time_ns)
        waiting += [((*path, each.step), each) for each in smallest_first]


def scope_rows(profile: Profile) -> Iterable[tuple[str, int, int, int]]:
    """Yield each scope with its depth, its time, and its self time."""
    for path, node in walk(tree(profile, "scope")):
        yield joined(path), node.depth, node.time_ns, node.self_ns


def joined(path: Sequence[Step]) -> str:
    """Format a path as JAX writes it."""
    return "/".join(each.name for each in path)
