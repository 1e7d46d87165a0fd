"""What differs between a call and earlier calls of the same function?

JAX compares a call with its "closest" earlier one by rules of its own, and names arguments by their place in the
nested tuple of positions and keywords. Where both calls were seen, this says it in the function's own names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from operator import ne

from ..model.compilation import Cause
from ..model.spans import Call, Leaf
from .remedies import (
    difference,
    other_function,
    parameter_difference,
    remade_body,
    remade_function,
    setting_difference,
    static_difference,
    type_difference,
    without_sharding,
)


def differences(now: Call, before: Call) -> list[Cause]:
    """List what differs between two calls of the same function object: one cause for each difference.

    A setting comes first: an argument may have another type because of it.
    """
    statics = _statics(now, before)
    # Where a static argument has another value, it does not matter that its default was left out.
    passed = [] if statics else _passed(now, before)
    nesting = [*_arrays_or_statics(now, before), *_nesting(now, before)]
    return [*_settings(now, before), *passed, *nesting, *statics, *_types(now, before)]


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
    """In how many things two calls differ: each dimension is one, a dtype is one, and so is a leaf too many."""
    ours, theirs = now.leaves, before.leaves
    return (
        (now.context != before.context)
        + len(_settings(now, before))
        + (now.passed != before.passed)
        + len(_statics(now, before))
        + len(ours.keys() ^ theirs.keys())
        + sum(_aspects(leaf, theirs[path]) for path, leaf in ours.items() if path in theirs)
    )


def _aspects(now: Leaf, before: Leaf) -> int:
    """How many of dtype, weakness and dimensions differ; another rank counts more than all of them."""
    dtype, _, shape = without_sharding(now.type).partition("[")
    other_dtype, _, other_shape = without_sharding(before.type).partition("[")
    ours, theirs = shape.split(","), other_shape.split(",")
    same_rank = len(ours) == len(theirs) and (shape == "]") == (other_shape == "]")
    sizes = sum(map(ne, ours, theirs)) if same_rank else max(len(ours), len(theirs)) + 1
    return (dtype != other_dtype) + sizes + (now.weak != before.weak)


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
        if argument not in before.names:
            continue
        if mine == other:
            causes += _other_containers(argument, now, before)
            continue
        here, there = sorted(mine - other), sorted(other - mine)
        what = f"argument {argument} is nested in another way"
        causes.append(difference("pytree", what, argument, _listed(here, mine), _listed(there, other)))
    return causes


def _other_containers(argument: str, now: Call, before: Call) -> list[Cause]:
    """A list where a tuple was: their elements have the same paths."""
    here, there = now.containers.get(argument), before.containers.get(argument)
    if here is None or there is None or here == there:
        return []
    kind, other_kind = here.partition("[")[0], there.partition("[")[0]
    values = (kind, other_kind) if kind != other_kind else (here, there)
    return [difference("pytree", f"argument {argument} is nested in another way", argument, *values)]


def _arrays_or_statics(now: Call, before: Call) -> list[Cause]:
    """Arguments that a library holds static unless they are arrays, and that were the other one before."""
    causes = []
    for name in (*now.leaves, *now.statics):
        values = [
            f"an array {call.leaves[name].type}" if name in call.leaves else f"the static value {call.statics[name]}"
            for call in (now, before)
            if name in call.leaves or name in call.statics
        ]
        if len(values) == 2 and (name in now.leaves) != (name in before.leaves):
            causes.append(difference("weak type", f"argument {name} is of another kind", name, *values))
    return causes


def _by_argument(call: Call) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in (*call.leaves, *(call.statics if call.wrapped else ())):
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


def _settings(now: Call, before: Call) -> list[Cause]:
    if now.context is not None and now.context == before.context:
        return []
    return [
        setting_difference(name, value, before.settings[name])
        for name, value in now.settings.items()
        if name in before.settings and before.settings[name] != value
    ]


def _statics(now: Call, before: Call) -> list[Cause]:
    names = [name for name in now.statics if name in before.statics and before.statics[name] != now.statics[name]]
    return [_static(name, now, before) for name in names]


def _static(name: str, now: Call, before: Call) -> Cause:
    value, other = now.statics[name], before.statics[name]
    if name in now.static_functions and name in before.static_functions:
        source, place = now.static_functions[name]
        other_source, other_place = before.static_functions[name]
        if source == other_source:
            return remade_body(now.name, value, place) if now.internal else remade_function(name, value, place)
        return other_function(name, value, place, other, other_place)
    if now.internal:
        return parameter_difference(now.name, name, value, other)
    return static_difference(name, value, other)


def _types(now: Call, before: Call) -> list[Cause]:
    return [
        type_difference(
            path, _type(leaf), _type(before.leaves[path]), numbers=(leaf.number, before.leaves[path].number)
        )
        for path, leaf in now.leaves.items()
        if path in before.leaves and _type(leaf) != _type(before.leaves[path])
    ]


def _type(leaf: Leaf) -> str:
    return f"{leaf.type}{{weak_type={leaf.weak}}}"
