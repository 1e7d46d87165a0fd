"""Compare two keys of JAX's tracing cache in full: JAX stops at the first kind of difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from .jax_explanations import UNNAMED, container_places, is_static_value, stated_distance

#: What differs first, as JAX 0.9 and newer number it.
_CONFIGURATION, _CONTAINERS, _DEBUG_INFORMATION, _TYPES, _NOTHING = range(5)

#: The order of calls from which as much differs. JAX 0.12 finds no difference where only a static value differs.
_ORDER = (_TYPES, _NOTHING, _CONTAINERS, _CONFIGURATION, _DEBUG_INFORMATION)


def ranked(
    compare: Callable[[Any, Any], tuple[int, int, str]], keys: Sequence[Any], explained: tuple[int, int, str]
) -> tuple[bool, int, int, int, bool, str]:
    """Rank what JAX 0.9 and newer say about one earlier call: it logs the text of the lowest rank.

    JAX's own ranks prefer a call under another configuration to one that differs in a type, and take any of those in
    which as many arguments differ.

    Args:
        compare: JAX's function, which compares two keys.
        keys: the key of this call, and the one of the earlier call.
        explained: what differs first, in how many places, and in words.

    Returns:
        The rank, and last the text: with what differs besides the configuration, and with how many differences JAX
        does not name.
    """
    now, before = keys
    first, _, text = explained
    severity = first
    if severity == _CONFIGURATION:
        now = (before[0], *now[1:])
        severity, _, rest = compare(now, before)
        text += "" if severity == _NOTHING else f"\n{rest}"
    if unnamed := _unnamed(severity, now, before, text):
        text += f"\n  {UNNAMED}{unnamed}"
    places, differences = stated_distance(text) or (unnamed, unnamed)
    order = _ORDER.index(first)
    return severity == _DEBUG_INFORMATION, places, order, differences, not is_static_value(text), text


def _unnamed(severity: int, now: Any, before: Any, text: str) -> int:
    """Count the arguments that differ and that JAX does not name; one if that cannot be told."""
    try:
        ours, theirs = now[1][0], before[1][0]
        if severity == _NOTHING:
            return int([*now[1]] != [*before[1]])
        if severity == _TYPES:  # JAX 0.12 does not look at static values
            return int(ours.update(theirs.vals) != theirs)
        if severity == _CONTAINERS:
            arguments = [Counter(_arguments(each)) for each in (ours, theirs)]
            others = min((arguments[0] - arguments[1]).total(), (arguments[1] - arguments[0]).total())
            return max(0, others - container_places(text, arguments_only=True))
    except Exception:  # keys of another JAX
        return 1
    return 1


def _arguments(flat: Any) -> list[tuple[Any, tuple[Any, ...]]]:
    """Return structure and types of each argument, by position or by keyword."""
    types = iter(flat.vals)
    structures = [each for group in flat.tree.children() for each in group.children()]
    return [(each, tuple(next(types) for _ in range(each.num_leaves))) for each in structures]
