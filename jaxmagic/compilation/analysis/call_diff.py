"""What differs between a call and earlier calls of the same function?

JAX compares a call with its "closest" earlier one by rules of its own, and names arguments by their place in the
nested tuple of positions and keywords. Where both calls were seen, this says it in the function's own names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import ne

from ..record.compilation import Cause
from ..record.events import Call, Held, Leaf
from .remedies import difference, parameter_difference, setting_difference, type_difference, without_sharding
from .static_values import other_function, remade_body, remade_function, shown, static_difference

#: The number of a container's class, which tells two of one name apart.
_CLASS = re.compile(r" \(class \w+\)")
_CLASS_NAME = re.compile(r"(\w+) \(class (\w+)\)")

_ONE_CLASS = "define the class once, outside what runs again"


def differences(now: Call, before: Call) -> list[Cause]:
    """List what differs between two calls of the same function object: one cause for each difference.

    A setting comes first: an argument may have another type because of it. So may one that ``jax.jit`` was told to be
    static in only one of them: it is not compared.
    """
    told = options_differences(now, before)
    apart = _static_names(now) ^ _static_names(before) if told else set()
    now, before = _without(now, apart), _without(before, apart)
    statics = _statics(now, before)
    # Where a static argument has another value, it does not matter that its default was left out.
    passed = [] if statics else _passed(now, before)
    nesting = [*_arrays_or_statics(now, before), *_nesting(now, before)]
    return [*told, *_settings(now, before), *passed, *nesting, *statics, *_types(now, before)]


def options_differences(now: Call, before: Call) -> list[Cause]:
    """List the options of ``jax.jit`` that differ: programs are compiled for each set of them."""
    return [
        difference("options", f"jitted with other {name.replace('_', ' ')}", name, value, before.options[name])
        for name, value in now.options.items()
        if name in before.options and before.options[name] != value
    ]


def _static_names(call: Call) -> set[str]:
    return set(call.options.get("static arguments", "").split(", "))


def _without(call: Call, names: Collection[str]) -> Call:
    """The call without some of its arguments."""
    if not names:
        return call
    leaves = {path: leaf for path, leaf in call.leaves.items() if _root(path) not in names}
    statics = {path: value for path, value in call.statics.items() if _root(path) not in names}
    return replace(call, leaves=leaves, statics=statics, names=tuple(n for n in call.names if n not in names))


def _root(path: str) -> str:
    found = re.match(r"[^.\[]*", path)
    return found[0] if found else path


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
        + len(options_differences(now, before))
        + (now.passed != before.passed)
        + len(_statics(now, before))
        + len(ours.keys() ^ theirs.keys())
        + sum(_aspects(leaf, theirs[path]) for path, leaf in ours.items() if path in theirs)
    )


def _aspects(now: Leaf, before: Leaf) -> int:
    """Tell how many of dtype, weakness and dimensions differ; another rank counts more than all of them."""
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
    text, other = _CLASS.sub("", here), _CLASS.sub("", there)
    if text == other:
        kinds = [name for (name, number), (_, old) in _pairs(here, there) if number != old]
        what = f"argument {argument} is of another class of the same name: {kinds[0]}"
        return [Cause(kind="pytree", reason=what, remedy=_ONE_CLASS, argument=argument, now=text, before=other)]
    kind, other_kind = text.partition("[")[0], other.partition("[")[0]
    values = (kind, other_kind) if kind != other_kind else (text, other)
    return [difference("pytree", f"argument {argument} is nested in another way", argument, *values)]


def _pairs(here: str, there: str) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """The classes of two equally nested containers, side by side, with their numbers."""
    return zip(_CLASS_NAME.findall(here), _CLASS_NAME.findall(there), strict=True)


def _arrays_or_statics(now: Call, before: Call) -> list[Cause]:
    """Arguments that a library holds static unless they are arrays, and that were the other one before."""
    causes = []
    for name in (*now.leaves, *now.statics):
        values = [
            f"an array {call.leaves[name].type}"
            if name in call.leaves
            else f"the static value {shown(call.statics[name])}"
            for call in (now, before)
            if name in call.leaves or name in call.statics
        ]
        if len(values) == 2 and (name in now.leaves) != (name in before.leaves):
            causes.append(difference("weak type", f"argument {name} is of another kind", name, *values))
    return causes


def _by_argument(call: Call) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in (*call.leaves, *(call.statics if call.wrapped else ())):
        found.setdefault(_root(path), set()).add(path)
    return found


def _listed(paths: Sequence[str], all_paths: Collection[str]) -> str:
    """Return what only one of two arguments holds, in words."""
    if not paths:
        return "nothing else" if all_paths else "nothing"
    if len(all_paths) == 1 and re.fullmatch(r"\w+", paths[0]):
        return "a single leaf"
    return ", ".join(paths[:3]) + (", …" if len(paths) > 3 else "")


def _settings(now: Call, before: Call) -> list[Cause]:
    same = now.context is not None and now.context == before.context
    return [
        setting_difference(name, value, before.settings[name])
        for name, value in now.settings.items()
        if name in before.settings and before.settings[name] != value and (name == "mesh" or not same)
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
            if now.internal:
                return remade_body(now.name, value, place)
            return remade_function(name, value, place, *_held(name, now, before))
        return other_function(name, value, place, other, other_place)
    if now.internal:
        return parameter_difference(now.name, name, shown(value), shown(other))
    return static_difference(name, value, other, *_held(name, now, before))


def _held(name: str, now: Call, before: Call) -> tuple[Mapping[str, Held], Mapping[str, Held]]:
    return now.static_contents.get(name, {}), before.static_contents.get(name, {})


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
