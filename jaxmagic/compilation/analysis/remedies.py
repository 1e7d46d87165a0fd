"""Describe a difference between two calls, and what would have avoided the compilation.

A remedy is given only where it would have avoided the compilation. Where every value, size or source needs a program
of its own, there is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from operator import ne

from ...records.names import listed, truncated
from ..record.compilation import Cause, CauseKind

#: The most characters shown of a value or type; a static argument may print as a page.
_LONGEST = 60

#: What needs the value of a number while JAX traces.
NEEDED_STATIC = "a shape, axis, size of a slice, length of a scan or Python if"

#: What does not, although ``x[start:start + size]`` does.
SLICE_START = "The start of a slice can be an array, with jax.lax.dynamic_slice_in_dim(x, start, size)"

_REMEDIES: dict[CauseKind, str] = {
    "shape": "pad to a few fixed shapes, or expect one compilation per shape",
    "dtype": "pass the same dtype in every call, with .astype()",
    "weak type": "pass an array in every call, with jnp.asarray(value, dtype)",
    "static value": f"do not declare it static, and pass it as an array of one dtype, unless {NEEDED_STATIC} depends "
    f"on it: then every value needs a program of its own. {SLICE_START}",
    "pytree": "pass the same arguments, containers and keys in every call",
    "new function": "define and jit the function once, outside the loop or the cell that runs again",
    "options": "call one jitted function, with the same options of jax.jit, everywhere",
    "placement": "place the arguments once, with jax.device_put(x, sharding)",
    "context": "set configuration and mesh once, before the first call",
    "transformation": "jit the whole transformation: jax.jit(jax.grad(f)), jax.jit(jax.value_and_grad(f))",
    "eager": "wrap the computation in jax.jit",
    "transfer": "use jax.device_put(np.asarray(values, dtype)), which compiles nothing",
}

_KEYS = "create all keys in the same way, with jax.random.key(seed, impl=...)"

#: For arrays, of which some may be weakly typed, and for arrays without axes that may also be Python numbers.
_ONE_DTYPE = "pass the same dtype in every call, with jnp.asarray(value, dtype)"

_ONE_NUMBER = "pass one type of number in every call, such as float(value)"

#: Between the remedies of several differences, each of which is needed.
ALSO = ". Also "

#: The most other arguments that are named.
_MOST_OTHERS = 3

#: Kinds whose remedy depends on the other compilations; ``compilation/analysis/advice.py`` adds it.
_LATER: tuple[CauseKind, ...] = ("transformation", "eager")

#: Names for differences that belong to no argument.
_PLACES: dict[CauseKind, str] = {"new function": "the function object", "pytree": "how the arguments are passed"}

_TYPE = re.compile(
    r"(?P<dtype>key<\w+>|\w+)(?:<(?P<memory>\w+)>)?\[(?P<shape>[^\]]*)\]"
    r"(?P<sharding>\(.*?\))?(?:\{weak_type=(?P<weak>True|False)\})?$"
)


def remedy(kind: CauseKind) -> str | None:
    """Return the remedy for a kind of cause, if the kind has one."""
    return _REMEDIES.get(kind)


def cause(kind: CauseKind, reason: str) -> Cause:
    """Return a cause, with a remedy if its kind alone determines one."""
    return Cause(kind=kind, reason=reason, remedy=None if kind in _LATER else remedy(kind))


def difference(kind: CauseKind, what: str, argument: str | None, now: str, before: str) -> Cause:
    """Return a cause that is a difference from an earlier call."""
    now, before = _shortened(now, before)
    return Cause(
        kind=kind,
        reason=f"{what}: {now} now, {before} before",
        remedy=remedy(kind),
        argument=argument,
        now=now,
        before=before,
    )


def as_measured(why: Cause) -> Cause:
    """Say that the other type or value is of a call that was measured: later calls may have gone unseen."""
    reason = re.sub(r"(?<= )before(?=$|; also different: )", "in an earlier measurement", why.reason, count=1)
    return replace(why, reason=reason)


def setting_difference(name: str, now: str, before: str) -> Cause:
    """Describe a different value of a setting, or a different mesh."""
    what = "the mesh differs" if "mesh" in name else f"the setting {name} has a different value"
    return difference("context", what, name, now, before)


def without_sharding(type_: str) -> str:
    """Reduce ``f32[2@d,4]``, as explicit sharding writes it, to ``f32[2,4]``."""
    return re.sub(r"@(\([^)]*\)|\w+)", "", type_)


def _split(type_: str) -> list[str]:
    """Return how explicit sharding splits the axes, if it does: ``["@d", ","]`` for ``f32[2@d,4]``."""
    return re.findall(r"@(?:\([^)]*\)|\w+)|,", type_) if "@" in type_ else []


def parameter_difference(operation: str, name: str, now: str, before: str) -> Cause:
    """Describe a different parameter of an eager operation; parameters are constants of its program."""
    kind: CauseKind = "static value"
    what = f"parameter {name} of {operation} has a different value"
    if name in ("shape", "new_sizes", "slice_sizes"):
        kind, what = "shape", "the result has a different shape"
    elif name in ("dtype", "new_dtype"):
        kind, what = "dtype", "the result has a different dtype"
    now, before = (re.sub(r"\bu?int\d+\((-?\d+)\)", r"\1", each) for each in (now, before))
    return replace(difference(kind, what, name, now, before), remedy=None)


def type_difference(
    argument: str,
    now_text: str,
    before_text: str,
    *,
    numbers: tuple[bool, bool] | None = None,
    numpy_scalars: tuple[bool, bool] = (False, False),
) -> Cause:
    """Return what differs between two types as JAX writes them: ``f32[8,8]``, ``i32[]({}){weak_type=True}``.

    Args:
        argument: the name of the argument.
        now_text: its type in this call.
        before_text: its type in the earlier call.
        numbers: whether it was a Python number, now and before; ``None`` if that is not known.
        numpy_scalars: whether it is known to have been a scalar of NumPy, now and before.
    """
    now, before = _TYPE.match(without_sharding(now_text)), _TYPE.match(without_sharding(before_text))
    if now is None or before is None:
        found = difference("dtype", f"argument {argument} has a different type", argument, now_text, before_text)
        return replace(found, remedy=None)
    is_number, was_number = (None, None) if numbers is None else numbers
    now_words, before_words = (f"{each['dtype']}[{each['shape']}]" for each in (now, before))
    if now["shape"] != before["shape"]:
        if now["weak"] == "True":
            now_words += f" ({_kind(now, is_number)})"
        if before["weak"] == "True":
            before_words += f" ({_kind(before, was_number)})"
        and_dtype = " and dtype" if now["dtype"] != before["dtype"] else ""
        what = f"argument {argument} has a different shape{and_dtype}"
        found = difference("shape", what, argument, now_words, before_words)
        return replace(found, remedy=_shape_remedy(now, before))
    if now["dtype"] == before["dtype"] and now["memory"] != before["memory"]:
        memories = (f"{each['memory'] or 'device'} memory" for each in (now, before))
        return difference("placement", f"argument {argument} has a different placement", argument, *memories)
    is_scalar, was_scalar = numpy_scalars
    kinds = (
        f"{now_words} ({_kind(now, is_number, is_scalar)})",
        f"{before_words} ({_kind(before, was_number, was_scalar)})",
    )
    weak = "True" in (now["weak"], before["weak"])
    arrays = bool(now["shape"]) or numbers == (False, False)
    number = is_number or was_number or (numbers is None and weak and not now["shape"])
    if now["dtype"] != before["dtype"] and not number:
        found = difference("dtype", f"argument {argument} has a different dtype", argument, now_words, before_words)
        if now["dtype"].startswith("key<"):
            return replace(found, remedy=_KEYS)
        if numbers is None and not now["shape"]:  # JAX names no weak type that both have
            return replace(found, remedy=_ONE_DTYPE)
        return replace(found, remedy=_ONE_DTYPE if arrays else remedy("weak type")) if weak else found
    if now["dtype"] != before["dtype"] or now["weak"] != before["weak"]:
        what = (
            f"argument {argument} is a different kind of {'array' if arrays and not any(numpy_scalars) else 'number'}"
        )
        found = difference("weak type", what, argument, *kinds)
        own = _ONE_DTYPE if arrays else _ONE_NUMBER if is_number and was_number else found.remedy
        return replace(found, remedy=own)
    texts = _on_meshes(*(re.sub(r"\{weak_type=\w+\}$", "", each) for each in (now_text, before_text)))
    return difference("placement", f"argument {argument} has a different sharding", argument, *texts)


def _on_meshes(now: str, before: str) -> tuple[str, str]:
    """Say in words on which mesh two types are, ``f32[8]({Explicit: ('d',)})``, if they are on different ones.

    >>> _on_meshes("f32[8@d]({Explicit: ('d',)})", "f32[8]({})")
    ('f32[8@d] on a mesh with explicit axis d', 'f32[8] on no mesh')
    >>> _on_meshes("f32[8@d]({Explicit: ('d',)})", "f32[8]({Explicit: ('d',)})"), _on_meshes("f32[8@d]", "f32[8]")
    (('f32[8@d]', 'f32[8]'), ('f32[8@d]', 'f32[8]'))
    """
    (here, mesh), (there, other) = (each.partition("({")[::2] for each in (now, before))
    if mesh == other:
        return (now, before) if here == there else (here, there)
    return f"{here} on {_mesh_in_words(mesh)}", f"{there} on {_mesh_in_words(other)}"


def _mesh_in_words(mesh: str) -> str:
    """Name the axes in ``Auto: ('i', 'j'), Explicit: ('d',)})``, a part of a type."""
    kinds = [
        f"{kind.lower()} {'axis' if len(axes) == 1 else 'axes'} {', '.join(axes)}"
        for kind, names in re.findall(r"(\w+): \(([^)]*)\)", mesh)
        if (axes := re.findall(r"'([^']*)'", names))
    ]
    return f"a mesh with {' and '.join(kinds)}" if kinds else "no mesh"


def type_distance(now_text: str, before_text: str) -> int:
    """Count how many of dtype, weak type, memory, sharding and sizes differ; another rank counts more than all sizes.

    >>> type_distance("f32[8]", "i32[4]"), type_distance("f32[8,2]", "f32[4,3]"), type_distance("f32[8]", "f32[]")
    (2, 2, 2)
    >>> type_distance("f32[8@d,2]", "f32[8,2@d]"), type_distance("f32[8@d]", "bf16[8]")
    (1, 2)
    >>> type_distance("f32[8]({Auto: ('d',)})", "f32[8]({})")
    1
    """
    now, before = (_TYPE.match(without_sharding(each)) for each in (now_text, before_text))
    if now is None or before is None:
        return int(now_text != before_text)
    ours, theirs = (each["shape"].split(",") if each["shape"] else [] for each in (now, before))
    sizes = sum(map(ne, ours, theirs)) if len(ours) == len(theirs) else max(len(ours), len(theirs)) + 1
    sharding = _split(now_text) != _split(before_text)
    count = sizes + sharding + sum(bool(now[each] != before[each]) for each in ("dtype", "weak", "memory"))
    return count or int(now_text != before_text)  # JAX 0.7 writes the mesh behind the type


def _kind(type_: re.Match[str], number: bool | None, numpy_scalar: bool = False) -> str:
    """Say whether an argument was a number of Python, a scalar of NumPy, a weakly typed array, or an array."""
    if numpy_scalar:
        return "a NumPy scalar"
    if number:
        kinds = {"i": "int", "u": "int", "f": "float", "c": "complex", "b": "bool"}
        return f"a Python {kinds.get(type_['dtype'][0], 'number')}"
    if type_["weak"] != "True":
        return "an array"
    return "a weakly typed array" if number is False or type_["shape"] else "a Python number or a weakly typed array"


def _shape_remedy(now: re.Match[str], before: re.Match[str]) -> str | None:
    """Return the remedy for a different shape; padding equalizes sizes, but not ranks."""
    if now["dtype"].startswith("key<") != before["dtype"].startswith("key<"):
        return _KEYS
    ranks = [0 if not each["shape"] else each["shape"].count(",") + 1 for each in (now, before)]
    if ranks[0] != ranks[1]:
        return None
    if now["dtype"] != before["dtype"] or now["weak"] != before["weak"]:
        return f"{remedy('shape')}{ALSO}{remedy('dtype')}"
    return remedy("shape")


def combined(causes: Sequence[Cause]) -> Cause:
    """Combine differences into one cause: the first in full, the others with their values, and all their remedies.

    One remedy alone would not have avoided the compilation. If one difference has no remedy, the others do not help.
    """
    first, *others = causes
    if not others:
        return first
    reason = f"{first.reason}; and other differences at {listed([*map(_named, _of_each_kind(others))], _MOST_OTHERS)}"
    needed = [each for each in causes if not _follows(each, first)]
    return replace(first, reason=reason, remedy=None if any(each.remedy is None for each in needed) else _all(needed))


def _of_each_kind(causes: Sequence[Cause]) -> list[Cause]:
    """Order causes so that one of each remedy comes first: only some of them are named."""
    leading = {each.remedy: each for each in reversed(causes)}.values()
    return sorted(causes, key=lambda each: not any(each is one for one in leading))


def _all(causes: Sequence[Cause]) -> str:
    """Return the remedies of several differences; all but the first with the arguments that they are for."""
    arguments: dict[str, list[str]] = {}
    for each in causes:
        for part in (each.remedy or "").split(ALSO):
            arguments.setdefault(part, []).append(each.argument or "")
    first, *others = arguments
    known = [part for part in others if all(arguments[part]) and arguments[part] != arguments[first]]
    told = (f"for {listed(arguments[each], _MOST_OTHERS)}: {each}" if each in known else each for each in others)
    return ALSO.join([first, *told])


def _named(cause: Cause) -> str:
    values = cause.now is not None and cause.before is not None and cause.now != cause.before
    known = (
        f" ({cause.now} now, {cause.before} before)" if values and (cause.argument or cause.kind == "pytree") else ""
    )
    return f"{cause.argument or _PLACES.get(cause.kind, '?')}{known}"


def _follows(cause: Cause, first: Cause) -> bool:
    """Return whether a dtype differs because the first difference is ``jax_enable_x64``, or a sharding, the mesh."""
    if first.kind == "context" and "mesh" in (first.argument or ""):
        return cause.kind == "placement"
    return first.argument == "jax_enable_x64" and cause.kind == "dtype"


def _shortened(now: str, before: str) -> tuple[str, str]:
    """Cut both texts so that the shown parts differ if the texts do."""
    same = next((i for i, (a, b) in enumerate(zip(now, before, strict=False)) if a != b), min(len(now), len(before)))
    start = 0 if same < _LONGEST - 20 else same - 20
    return _cut(now, start), _cut(before, start)


def _cut(text: str, start: int) -> str:
    return truncated("…" + text[start:] if start else text, _LONGEST)
