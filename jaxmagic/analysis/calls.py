"""What differs between a call and earlier calls of the same function?

JAX compares a call with its "closest" earlier one by rules of its own, and names arguments by their place in the
nested tuple of positions and keywords. Where both calls were seen, this says it in the function's own names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ..model.compilation import Cause
from ..model.spans import Call, Leaf
from .remedies import difference, static_difference, type_difference


def differences(now: Call, before: Call) -> list[Cause]:
    """What differs between two calls of the same function object: one cause for each difference."""
    statics = _statics(now, before)
    # Where a static argument has another value, it does not matter that its default was left out.
    return [*([] if statics else _passed(now, before)), *_nesting(now, before), *statics, *_types(now, before)]


def most_alike(call: Call, earlier: Sequence[Call]) -> Call | None:
    """The earlier call that is nearest, in its arguments and its configuration; the newest of several.

    Args:
        call: with its arguments.
        earlier: calls of the same function object, oldest first.
    """
    if call.passed is None:
        return None
    found = [each for each in reversed(earlier) if each.passed is not None]
    return min(found, key=lambda each: _distance(call, each), default=None)


def _distance(now: Call, before: Call) -> int:
    """In how many things two calls differ: shape and dtype of one argument are two, and each leaf too many is one."""
    ours, theirs = now.leaves, before.leaves
    return (
        (now.context != before.context)
        + (now.passed != before.passed)
        + len(_statics(now, before))
        + len(ours.keys() ^ theirs.keys())
        + sum(_aspects(leaf, theirs[path]) for path, leaf in ours.items() if path in theirs)
    )


def _aspects(now: Leaf, before: Leaf) -> int:
    """How many of dtype, shape and weakness differ."""
    dtype, _, shape = now.type.partition("[")
    other_dtype, _, other_shape = before.type.partition("[")
    return (dtype != other_dtype) + (shape != other_shape) + (now.weak != before.weak)


def placement_difference(call: Call, earlier: Sequence[Call]) -> Cause | None:
    """The argument that lies elsewhere than in the newest earlier call of the same types."""
    for before in reversed(earlier):
        if before.passed is None or differences(call, before):
            continue
        for path, leaf in call.leaves.items():
            old = before.leaves.get(path)
            if old and leaf.placement and old.placement and leaf.placement != old.placement:
                what = f"argument {path} lies elsewhere"
                return difference("placement", what, path, leaf.placement, old.placement)
    return None


def _passed(now: Call, before: Call) -> list[Cause]:
    if now.passed == before.passed:
        return []
    here, there = _in_words(now), _in_words(before)
    return [difference("pytree", "the arguments are passed in another way", None, here, there)]


def _in_words(call: Call) -> str:
    by_position, by_keyword = call.passed or (0, ())
    parts = [f"{by_position} by position"] if by_position or not by_keyword else []
    return ", ".join(parts + [f"{name}=…" for name in by_keyword])


def _nesting(now: Call, before: Call) -> list[Cause]:
    """Arguments that hold other leaves; those that are passed in only one of the calls are told already."""
    theirs, ours = _by_argument(before), _by_argument(now)
    causes = []
    for argument in now.names:
        mine, other = ours.get(argument, set()), theirs.get(argument, set())
        if mine == other or argument not in before.names:
            continue
        here, there = sorted(mine - other), sorted(other - mine)
        what = f"argument {argument} is nested in another way"
        causes.append(difference("pytree", what, argument, _listed(here, mine), _listed(there, other)))
    return causes


def _by_argument(call: Call) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in call.leaves:
        name = re.match(r"[^.\[]*", path)
        found.setdefault(name[0] if name else path, set()).add(path)
    return found


def _listed(paths: Sequence[str], all_paths: Collection[str]) -> str:
    """What only one of two arguments holds, in words."""
    if not paths:
        return "nothing else" if all_paths else "nothing"
    if len(all_paths) == 1 and re.fullmatch(r"\w+", paths[0]):
        return "a single leaf"
    return ", ".join(paths[:3]) + (", …" if len(paths) > 3 else "")


def _statics(now: Call, before: Call) -> list[Cause]:
    return [
        static_difference(name, value, before.statics[name])
        for name, value in now.statics.items()
        if name in before.statics and before.statics[name] != value
    ]


def _types(now: Call, before: Call) -> list[Cause]:
    return [
        type_difference(path, _type(leaf), _type(before.leaves[path]))
        for path, leaf in now.leaves.items()
        if path in before.leaves and _type(leaf) != _type(before.leaves[path])
    ]


def _type(leaf: Leaf) -> str:
    return f"{leaf.type}{{weak_type={leaf.weak}}}"
