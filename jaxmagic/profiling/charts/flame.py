"""Flame graphs of device time."""

from __future__ import annotations

from collections.abc import Iterator

from ... import units
from ...charts.areas import Cell, Flame
from ...charts.scale import Scale
from ...records.paths import short_source
from ...xla import scopes
from ...xla.scopes import brief, jitted, spoken_step
from ..analysis.operations import parts
from ..analysis.scope_tree import NOWHERE, By, Node, Step, tree, walk
from ..record.profile import Profile
from .scope_names import Known, has_names, known

#: Limits of what can still be seen: levels, cells, and the share of the width of a cell.
_MOST_LEVELS = 20
_MOST_CELLS = 400
_NARROWEST = 1 / 500


#: The kinds of steps, in the order of their colours. A function that is not on a call stack of the user may be a
#: library's or JAX's, or the user's own object that was jitted under another name.
KINDS = ("operation", "your function", "other function", "scope")

#: The number of the colour of all other steps.
_NEUTRAL = 7


def profile_flame(profile: Profile, by: By | None = None) -> Flame | None:
    """Draw device time as a flame graph; ``None`` without device time.

    Args:
        profile: the profile.
        by: what the levels are; by default scopes if any has a name, and otherwise call stacks if there are any.
    """
    facts = known(profile.place_times)
    steps = {each for place in profile.place_times for each in scopes.steps(place.scope)[:-1]}
    has_scopes = has_names(steps, facts.functions)
    by = by or ("stack" if facts.functions and not has_scopes else "scope")
    root = tree(profile, by)
    if not root.time_ns:
        return None
    count = parts(profile)
    cells = sorted(_cells(root, count, facts), key=lambda each: (each.x[0] - each.x[1], each.level))
    shown = [each for each in cells if each.level < _MOST_LEVELS][:_MOST_CELLS]
    left_out = sum(1 for _ in walk(root)) + 1 - len(shown)
    return Flame(
        title=f"device time by {'scope' if by == 'scope' else 'call stack'}",
        x=Scale(label="device time", quantity="time", low=0.0, high=root.time_ns / count),
        cells=tuple(shown),
        kinds=KINDS,
        note="; ".join(_left_out(by, facts, left_out)),
        hint=_hint(by, facts, has_scopes),
    )


def _left_out(by: By, facts: Known, left_out: int) -> Iterator[str]:
    """Say which steps the graph lacks: calls, and those too small or deep to be drawn."""
    if by == "scope" and not facts.functions:
        yield "calls of your functions were not recorded"
    if left_out:
        yield f"{units.count(left_out, 'smaller or deeper part')} not drawn"


def _hint(by: By, facts: Known, has_scopes: bool) -> str:
    """Name the graph of what this one does not show."""
    if by == "scope":
        return 'your calls: figure("stacks")' if facts.functions else ""
    return 'named scopes: figure("scopes")' if has_scopes else ""


def _cells(root: Node, count: int, known: Known) -> Iterator[Cell]:
    waiting: list[tuple[int, Node]] = [(0, root)]
    while waiting:
        left, node = waiting.pop()
        name = spoken_step(node.step.name, known.has_backward)
        yield Cell(
            x=(left / count, (left + node.time_ns) / count),
            level=node.depth,
            name=name,
            brief=brief(name),
            lines=tuple(_lines(node, root.time_ns, count, known)),
            place=_place(node.step),
            kind=_kind(node, known),
        )
        for child in sorted(node.children.values(), key=lambda each: -each.time_ns):
            if child.time_ns >= _NARROWEST * root.time_ns:
                waiting.append((left, child))
            left += child.time_ns


def _place(step: Step) -> str:
    """Return the source line of a step, unless it is its name already, as it is at the top of a file or cell."""
    line = short_source(step.place) if step.place else ""
    return "" if line == step.name else line


def _kind(node: Node, known: Known) -> int:
    name, _, kind = node.step
    if not node.depth or name == NOWHERE:
        return _NEUTRAL
    if kind:
        return KINDS.index({"yours": KINDS[1], "library": KINDS[2], "operation": KINDS[0]}[kind])
    if (function := jitted(name)) is not None:
        return KINDS.index("your function" if function in known.functions else "other function")
    return KINDS.index("scope" if node.children or "(" in name else "operation")


def _lines(node: Node, total_ns: int, count: int, known: Known) -> Iterator[str]:
    name = spoken_step(node.step.name, known.has_backward)
    yield f"{name}  {node.step.place}".rstrip()
    yield f"{units.time(node.time_ns / count)}, {units.share(node.time_ns, total_ns)} of all"
    if node.children and node.self_ns:
        yield f"{units.time(node.self_ns / count)} self time"
    if name != node.step.name:
        yield f"in JAX: {node.step.name}"
