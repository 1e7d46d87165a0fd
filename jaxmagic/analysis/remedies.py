"""From a difference between two calls to a cause in words, with what would spare the compilation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..model.compilation import Cause, CauseKind

#: The longest that is shown of a value or type: a static argument may print as a page.
_LONGEST = 60

_REMEDIES: dict[CauseKind, str] = {
    "shape": "pad to a few fixed shapes, or expect one compilation a shape",
    "dtype": "pass the same dtype in every call, with .astype()",
    "weak type": "pass an array in every call, with jnp.asarray(value, dtype)",
    "static value": "every value of a static argument is a program of its own; pass it as an array if it varies",
    "pytree": "pass the same arguments, containers and keys in every call",
    "new function": "define and jit the function once, outside the loop or the cell that runs again",
    "placement": "place the arguments once, with jax.device_put(x, sharding)",
    "context": "set configuration and mesh once, before the first call",
    "transformation": "jit the whole, from outside: jax.jit(jax.grad(f)), jax.jit(jax.vmap(f))",
    "eager": "wrap the computation in jax.jit",
}

#: What :func:`repr` says of an object that is equal to no other.
_OBJECT = re.compile(r" object (at )?0x")

_TYPE = re.compile(
    r"(?P<dtype>[\w<>]+)\[(?P<shape>[^\]]*)\](?P<sharding>\(.*?\))?(?:\{weak_type=(?P<weak>True|False)\})?$"
)


def cause(kind: CauseKind, reason: str) -> Cause:
    """A cause with the remedy for its kind, where there is one."""
    return Cause(kind=kind, reason=reason, remedy=_REMEDIES.get(kind))


def difference(kind: CauseKind, what: str, argument: str | None, now: str, before: str) -> Cause:
    """A cause that is a difference to an earlier call."""
    now, before = _shortened(now, before)
    return Cause(
        kind=kind,
        reason=f"{what}: {now} now, {before} before",
        remedy=_REMEDIES.get(kind),
        argument=argument,
        now=now,
        before=before,
    )


def static_difference(name: str | None, now: str, before: str) -> Cause:
    """Another value of a static argument; its name is not always known."""
    what = f"static argument {name} has another value" if name else "a static argument has another value"
    found = difference("static value", what, name, now, before)
    if _OBJECT.search(now) and _OBJECT.search(before):
        return replace(found, remedy="pass the same object again, or give its class __eq__ and __hash__")
    return found


def type_difference(argument: str, now_text: str, before_text: str) -> Cause:
    """What differs between two types as JAX writes them: ``f32[8,8]``, ``i32[]({}){weak_type=True}``."""
    now, before = _TYPE.match(now_text), _TYPE.match(before_text)
    if now is None or before is None:
        return difference("dtype", f"argument {argument} has another type", argument, now_text, before_text)
    now_words, before_words = (f"{found['dtype']}[{found['shape']}]" for found in (now, before))
    if now["shape"] != before["shape"]:
        if now["weak"] == "True":
            now_words += " (a Python number)"
        if before["weak"] == "True":
            before_words += " (a Python number)"
        and_dtype = " and dtype" if now["dtype"] != before["dtype"] else ""
        what = f"argument {argument} has another shape{and_dtype}"
        return difference("shape", what, argument, now_words, before_words)
    if now["dtype"] != before["dtype"]:
        found = difference("dtype", f"argument {argument} has another dtype", argument, now_words, before_words)
        number = "True" in (now["weak"], before["weak"])  # which has no .astype()
        return replace(found, remedy=_REMEDIES["weak type"]) if number else found
    if now["weak"] != before["weak"]:
        kinds = {"True": "a Python number (weak type)", "False": "an array", None: "an array"}
        return difference(
            "weak type",
            f"argument {argument} is another kind of {now_words}",
            argument,
            kinds[now["weak"]],
            kinds[before["weak"]],
        )
    return difference("placement", f"argument {argument} is sharded in another way", argument, now_text, before_text)


def combined(causes: Sequence[Cause]) -> Cause:
    """Several differences as one cause: the first in full, the arguments of the others by name."""
    first, *others = causes
    if not others:
        return first
    names = ", ".join(each.argument or "?" for each in others[:3]) + (", …" if len(others) > 3 else "")
    return replace(first, reason=f"{first.reason}; and other differences at {names}")


def _shortened(now: str, before: str) -> tuple[str, str]:
    """Both texts, cut so that what is shown differs if they do."""
    same = next((i for i, (a, b) in enumerate(zip(now, before, strict=False)) if a != b), min(len(now), len(before)))
    start = 0 if same < _LONGEST - 20 else same - 20
    return _cut(now, start), _cut(before, start)


def _cut(text: str, start: int) -> str:
    text = "…" + text[start:] if start else text
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
