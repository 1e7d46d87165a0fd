"""Compare a call with earlier calls of the same function.

JAX compares a call with its "closest" earlier one by rules of its own, and names arguments by their place in the
nested tuple of positions and keywords. Where both calls were observed, the function's own parameter names are used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..record.compilation import Cause
from ..record.events import Call, Held, Leaf
from .held import changes, is_made_anew
from .library_jits import GRAPH, as_array, as_variable
from .remedies import (
    combined,
    difference,
    parameter_difference,
    remedy,
    setting_difference,
    type_difference,
    type_distance,
)
from .signatures import is_passed_otherwise, signature_differences
from .static_values import (
    other_function,
    remade_body,
    remade_function,
    same_number,
    shown,
    static_difference,
)
from .structures import root, structure_differences


def differences(now: Call, before: Call) -> list[Cause]:
    """List what differs between two calls of the same function object, as one cause per difference.

    Options and settings come first: an argument may have a different type because of them. An argument that is static
    in only one of the calls is not compared.
    """
    options = options_differences(now, before)
    now, before = _comparable(now, before)
    static_args = _static_args(now, before)
    # Where a static argument has a different value, it does not matter that its default was left out.
    signature = [] if static_args and not is_passed_otherwise(now, before) else signature_differences(now, before)
    structure = [*_arrays_or_static(now, before), *structure_differences(now, before)]
    first = [] if static_args else signature
    others, types = [*structure, *static_args, *(signature if static_args else [])], _types(now, before)
    if any(each.kind == "shape" for each in types):  # a layer's static sizes differ with the shapes of its weights
        sizes = [each for each in static_args if _is_field(each.argument, now)]
        others = [each for each in others if each not in sizes]
        types += [replace(each, remedy=None) for each in sizes]
    return [*options, *_settings(now, before), *first, *others, *types]


def options_differences(now: Call, before: Call) -> list[Cause]:
    """List the options of ``jax.jit`` that differ; each set of options has programs of its own."""
    return [
        difference("options", f"jitted with different {name.replace('_', ' ')}", name, value, before.options[name])
        for name, value in now.options.items()
        if name in before.options and before.options[name] != value
    ]


def _static_names(call: Call) -> set[str]:
    return set(call.options.get("static arguments", "").split(", "))


def _comparable(now: Call, before: Call) -> tuple[Call, Call]:
    """Return both calls without the arguments that are static in only one of them."""
    static_once = _static_names(now) ^ _static_names(before) if options_differences(now, before) else set()
    return _without(now, static_once), _without(before, static_once)


def _without(call: Call, names: Collection[str]) -> Call:
    """Return the call without some of its arguments."""
    if not names:
        return call
    leaves = {path: leaf for path, leaf in call.leaves.items() if root(path) not in names}
    static_args = {path: value for path, value in call.static_args.items() if root(path) not in names}
    return replace(call, leaves=leaves, static_args=static_args, names=tuple(n for n in call.names if n not in names))


def most_alike(call: Call, earlier: Sequence[Call]) -> Call | None:
    """Return the earlier call with the fewest differences in arguments and configuration; the latest of several.

    First counts in how many places calls differ, then in how much, and last how many arrays lie elsewhere.

    Args:
        call: a call, with its arguments.
        earlier: earlier calls of the same function object, oldest first.
    """
    if call.call_signature is None:
        return None
    comparable = [each for each in reversed(earlier) if each.call_signature is not None]
    return min(comparable, key=lambda each: (*distance(call, each), *_last_resort(call, each)), default=None)


def holds_the_same_in_others(now: Call, before: Call) -> bool:
    """Return whether a static argument is another function of the same source that holds the same values."""
    return any(
        name in before.static_functions
        and before.static_functions[name][0] == source
        and before.static_args.get(name) != now.static_args.get(name)
        and not changes(*_held(name, now, before))
        for name, (source, _) in now.static_functions.items()
    )


def _last_resort(now: Call, before: Call) -> tuple[int, int, int]:
    """Return what decides between calls that differ in as much."""
    return _other_numbers(now, before), _other_contents(now, before), len(_placed_elsewhere(now, before))


def _other_numbers(now: Call, before: Call) -> int:
    """Count the static arguments that differ in more than the type of their number."""
    return sum(
        value != before.static_args.get(name, value) and not same_number(value, before.static_args[name])
        for name, value in now.static_args.items()
    )


def _other_contents(now: Call, before: Call) -> int:
    """Count the values that differ in static arguments, such as the attributes of a module."""
    differing = (name for name, value in now.static_args.items() if before.static_args.get(name, value) != value)
    return sum(len(changes(*_held(name, now, before))) for name in differing)


def distance(now: Call, before: Call) -> tuple[int, int]:
    """Count the places in which two calls differ, and the differences.

    Places are leaves, containers, static arguments, settings and options. Each size, dtype, weak type, sharding and
    path of a leaf is a difference. A leaf that only one of the calls has counts twice: as much as one that has
    another type at another path.
    """
    now, before = _comparable(now, before)
    ours, theirs = now.leaves, before.leaves
    renamed = [
        [leaf for path, leaf in one.items() if path not in two] for one, two in ((ours, theirs), (theirs, ours))
    ]
    containers = {*now.containers.items()} ^ {*before.containers.items()}
    static_args = len(_static_args(now, before))
    others = (
        max(now.context != before.context, len(_settings(now, before)))
        + len(options_differences(now, before))
        + (static_args or len(signature_differences(now, before)))
        + len({name for name, _ in containers})
    )
    types = [_type_distance(leaf, theirs[path]) for path, leaf in ours.items() if path in theirs]
    return (
        others + max(map(len, renamed)) + sum(map(bool, types)),
        others
        + sum(1 + _type_distance(*leaves) for leaves in zip(*renamed, strict=False))
        + 2 * abs(len(ours) - len(theirs))
        + sum(types),
    )


def _type_distance(now: Leaf, before: Leaf) -> int:
    return type_distance(_type(now), _type(before))


def placement_difference(call: Call, earlier: Sequence[Call]) -> Cause | None:
    """Find the arguments that are placed elsewhere than in the nearest earlier call with the same types."""
    alike = [each for each in reversed(earlier) if each.call_signature is not None and not differences(call, each)]
    elsewhere = min(filter(None, (_placed_elsewhere(call, each) for each in alike)), key=len, default=None)
    if elsewhere is None:
        return None
    return combined(
        [
            difference("placement", f"argument {path} has a different placement", path, now, before)
            for path, (now, before) in elsewhere.items()
        ]
    )


def _placed_elsewhere(now: Call, before: Call) -> dict[str, tuple[str, str]]:
    """Return where the arrays lie that lie elsewhere than those at the same paths of another call."""
    both = ((path, leaf, before.leaves[path]) for path, leaf in now.leaves.items() if path in before.leaves)
    return {
        path: (leaf.placement, old.placement)
        for path, leaf, old in both
        if leaf.placement and old.placement and leaf.placement != old.placement
    }


def _arrays_or_static(now: Call, before: Call) -> list[Cause]:
    """List arguments that were an array in one call and static in the other.

    Libraries such as Equinox treat every argument that is not an array as static.
    """
    causes = []
    for name in (*now.leaves, *now.static_args):
        values = [
            f"an array {call.leaves[name].type}"
            if name in call.leaves
            else f"the static value {shown(call.static_args[name])}"
            for call in (now, before)
            if name in call.leaves or name in call.static_args
        ]
        if len(values) == 2 and (name in now.leaves) != (name in before.leaves):
            causes.append(difference("weak type", f"argument {name} is a different kind of value", name, *values))
    return causes


def _settings(now: Call, before: Call) -> list[Cause]:
    same = now.context is not None and now.context == before.context
    return [
        setting_difference(name, value, before.settings[name])
        for name, value in now.settings.items()
        if name in before.settings and before.settings[name] != value and (name == "mesh" or not same)
    ]


def _static_args(now: Call, before: Call) -> list[Cause]:
    differing = [name for name, value in now.static_args.items() if before.static_args.get(name, value) != value]
    return [_static_arg(name, now, before) for name in differing if not _is_told(name, differing)]


def _is_told(name: str, differing: Sequence[str]) -> bool:
    """Return whether a static value is the whole graph of a module, some attributes of which differ."""
    owner = name.removesuffix(GRAPH)
    return name != owner and any(each.startswith((f"{owner}.", f"{owner}[")) for each in differing if each != name)


def _static_arg(name: str, now: Call, before: Call) -> Cause:
    value, other = now.static_args[name], before.static_args[name]
    if name in now.static_functions and name in before.static_functions:
        source, place = now.static_functions[name]
        other_source, other_place = before.static_functions[name]
        if source == other_source:
            if now.internal:
                return remade_body(now.name, value, place)
            held = _held(name, now, before)
            return remade_function(name, value, place, now.static_wrappers.get(name), *held, other)
        return other_function(name, value, place, other, other_place)
    if now.internal:
        return parameter_difference(now.name, name, shown(value), shown(other))
    why = static_difference(name, value, other, *_held(name, now, before))
    if why.remedy == remedy("static value"):  # unless somebody has declared it static
        if any(each.endswith(GRAPH) and _is_told(each, [name]) for each in now.static_args):
            return replace(why, remedy=as_variable(why.now or ""))
        if now.wrapped and not any(_static_names(now)) and not _is_field(name, now):
            return replace(why, remedy=as_array(why.now or ""))
    return why


def _is_field(path: str | None, call: Call) -> bool:
    """Return whether a path is that of a static field of a pytree, which is no leaf."""
    owner, _, name = (path or "").rpartition(".")
    return owner in call.nodes and name not in call.nodes[owner].names


def new_objects(call: Call, earlier: Sequence[Call]) -> tuple[str, ...]:
    """Return the static arguments that were re-created: no earlier call had them, and one had others like them.

    Args:
        call: a call, with its arguments.
        earlier: earlier calls of functions of the same source.
    """
    found = []
    for name, value in call.static_args.items():
        before = [each.static_args[name] for each in earlier if name in each.static_args]
        if value not in before and any(is_made_anew(value, each) for each in before):
            found.append(name)
    return tuple(found)


def _held(name: str, now: Call, before: Call) -> tuple[Mapping[str, Held], Mapping[str, Held]]:
    return now.static_contents.get(name, {}), before.static_contents.get(name, {})


def _types(now: Call, before: Call) -> list[Cause]:
    return [
        type_difference(
            path,
            _type(leaf),
            _type(before.leaves[path]),
            numbers=(leaf.number, before.leaves[path].number),
            numpy_scalars=(leaf.numpy_scalar, before.leaves[path].numpy_scalar),
        )
        for path, leaf in now.leaves.items()
        if path in before.leaves and _type(leaf) != _type(before.leaves[path])
    ]


def _type(leaf: Leaf) -> str:
    return f"{leaf.type}{leaf.mesh}{{weak_type={leaf.weak}}}"
