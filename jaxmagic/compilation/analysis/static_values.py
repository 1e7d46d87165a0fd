"""Two values of a static argument: what differs, and what would have avoided the compilation, if anything would."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..record.compilation import Cause
from ..record.events import Held
from .held import Change, as_arguments, changes, told
from .remedies import difference

#: What tells apart values that print alike: the address of an object, or of its class.
_MARK = re.compile(r" \((?:object|class|value) 0x\w+\)| object (?:at )?0x\w+")

#: A function in JAX's explanation, and in our own words.
_FUNCTION = re.compile(r"<function (?P<name>.+?) at 0x\w+>$|(?P<ours>[\w.<>]+) \(object 0x\w+\)$")

_CLASS = re.compile(r" \(class 0x\w+\)")

#: A value with a longer text is told by what differs in it.
_LONGEST = 60

#: An object that is equal to no other, by itself.
_OBJECT = re.compile(r"\w+ object 0x\w+")

_NAN = re.compile(r"\bnan[j)]* \(object 0x\w+\)")

#: A number, which could be passed as an array.
_NUMBER = re.compile(r"-?(\d|inf|nan)|True$|False$|\(-?\d\S*j\)$")

#: What brings two equal objects together.
_EQUAL = "pass the same object again, or give its class __eq__ and __hash__"


def shown(words: str) -> str:
    """Return a value as people read it.

    >>> shown("Mode.FAST (object 0x7f12)"), shown("Config(n=2) (class 0x7f12)"), shown("Model object 0x7f12")
    ('Mode.FAST', 'Config(n=2)', 'Model')
    """
    return _MARK.sub("", words)


def static_difference(
    name: str | None,
    now: str,
    before: str,
    held: Mapping[str, Held] | None = None,
    held_before: Mapping[str, Held] | None = None,
) -> Cause:
    """Explain another value of a static argument.

    Args:
        name: of the argument; it is not always known.
        now: the value in words.
        before: the earlier value.
        held: what the value holds, where it was looked at.
        held_before: what the earlier one held.
    """
    subject = _subject(name)
    root = None if held is None else held.get(name or "")
    ours, theirs = _FUNCTION.match(now), _FUNCTION.match(before)
    if ours and theirs and (root is None or root.kind == "function"):
        return _function(subject, name, ours["name"] or ours["ours"], theirs["name"] or theirs["ours"])
    text, other = shown(now), shown(before)
    if "… (value 0x" in now + before or (text != other and max(len(text), len(other)) > _LONGEST):
        differing = [each for each in changes(held or {}, held_before or {}) if each.now.kind != "unknown"]
        if differing or text == other:
            return _long(subject, name, text, differing)
    if text != other:
        found = difference("static value", f"{subject} has another value", name, text, other)
        return found if _NUMBER.match(text) and _NUMBER.match(other) else replace(found, remedy=None)
    found = replace(difference("static value", subject, name, text, other), remedy=None)
    if _NAN.search(now):
        advice = "pass the same object in every call, such as math.nan"
        return replace(found, reason=f"{subject} is {text}, and nan is equal to no other nan", remedy=advice)
    if _CLASS.findall(now) != _CLASS.findall(before) or (root is not None and root.kind == "value"):
        what = text if root is None or root.kind != "value" or "." in text else "a class"
        advice = "define the class once, outside what runs again"
        return replace(found, reason=f"{subject} is {what} of another class of the same name", remedy=advice)
    return _object(found, subject, now, held, held_before)


def _subject(name: str | None) -> str:
    """A part of an argument is a field: JAX flattens the argument, and compares what is no array."""
    if not name:
        return "a static argument"
    return f"static field {name}" if "." in name or "[" in name else f"static argument {name}"


def _long(subject: str, name: str | None, text: str, differing: Sequence[Change]) -> Cause:
    """A value that is too long to be shown: what differs in it, as far as that was looked at."""
    what = (
        f"{_class_name(text)} with {told(differing)}"
        if differing
        else f"another {_class_name(text)}, too long to show"
    )
    return Cause(kind="static value", reason=f"{subject} has another value: {what}", argument=name)


def _class_name(text: str) -> str:
    """``Settings`` of ``Settings(n=2)`` and of ``a Settings``."""
    found = re.match(r"(?:a )?(\w+)", text)
    return found[1] if found else "value"


def own_equality(
    name: str, text: str, held: Mapping[str, Held], held_before: Mapping[str, Held], *, told_by_jax: bool
) -> Cause | None:
    """Explain a value whose class has an ``__eq__`` of its own, by what it holds; ``None`` if that is the same.

    Args:
        name: of the argument.
        text: the value in words.
        held: what it holds.
        held_before: what the earlier one held.
        told_by_jax: whether JAX says that a static argument has another value.
    """
    differing = changes(held, held_before)
    if not differing:
        return None
    sure = "has another value" if told_by_jax else "may have another value"
    known = any(each.now.kind != "unknown" for each in differing)
    what = f" with {told(differing)}" if known else ", which only its own __eq__ could compare"
    reason = f"{_subject(name)} {sure}: {_class_name(text)}{what}"
    if not told_by_jax:
        return Cause(kind="unknown", reason=f"JAX gave no reason; {reason}", argument=name)
    return Cause(kind="static value", reason=reason, argument=name)


def _function(subject: str, name: str | None, now: str, before: str) -> Cause:
    if now != before:
        found = difference("static value", f"{subject} is another function or class", name, now, before)
        return replace(found, remedy=None)
    what = f"{subject} is another function object of the same name: {now}"
    advice = "where it is the same function, define it once, and pass the same object in every call"
    return Cause(kind="static value", reason=what, remedy=advice, argument=name, now=now, before=before)


def _object(
    found: Cause, subject: str, value: str, held: Mapping[str, Held] | None, before: Mapping[str, Held] | None
) -> Cause:
    """An object that is equal to itself alone, or holds such: with the same content, or with another one."""
    text = shown(value)
    if not held or not before:  # JAX tells it, and not whether the class has an __eq__
        advice = "pass the same object again, or give its class __eq__ and __hash__ where it has none"
        return replace(found, reason=f"{subject} is another object of the same class: {text}", remedy=advice)
    differing = changes(held, before)
    if any(each.now.kind == "unknown" for each in differing):
        reason = f"{subject} is another object: {text} compares by identity"
        return replace(found, reason=reason, remedy=f"where they are equal, {_EQUAL}")
    if not differing and not _OBJECT.fullmatch(value):
        reason = f"{subject} holds the same, made anew, in objects that compare by identity: {text}"
        return replace(found, reason=reason, remedy="pass the same object again")
    if not differing:
        reason = f"{subject} is another object that holds the same: {text} compares by identity"
        return replace(found, reason=reason, remedy=_EQUAL)
    inside = as_arguments(differing)
    reason = f"{subject} is another object with {told(differing)}"
    return replace(found, reason=reason, remedy=inside and f"pass one object in every call, and {inside}")


def remade_function(
    name: str, value: str, place: str, held: Mapping[str, Held], held_before: Mapping[str, Held]
) -> Cause:
    """A static argument that is a function, made again from the same source, maybe around other values."""
    differing = changes(held, held_before)
    reason = f"{_subject(name)} is the same function made anew: {located(value, place)}"
    advice: str | None
    advice = f"define the function once, outside, and pass the same object as {name} in every call"
    if differing:
        reason += f", with {told(differing)}"
        inside = as_arguments(differing, " of it and of the jitted function")
        advice = f"define the function once, and {inside}" if inside else None
    return Cause(kind="static value", reason=reason, remedy=advice, argument=name, now=value, before=value)


def remade_body(operation: str, value: str, place: str) -> Cause:
    """A loop or a condition outside of ``jit``, whose body was made again from the same source."""
    return Cause(
        kind="new function",
        reason=f"the function that {operation} was given is the same one made anew: {located(value, place)}",
        remedy="define the function once, outside, if it closes over the same; or "
        f"call {operation} in a function that is jitted once, with what varies as an argument",
    )


def other_function(name: str, value: str, place: str, other: str, other_place: str) -> Cause:
    """A static argument that is a function from another source: a program of its own, whatever one does."""
    now, before = located(value, place), located(other, other_place)
    return replace(
        difference("static value", f"{_subject(name)} is another function", name, now, before), remedy=None
    )


def located(value: str, place: str) -> str:
    """Return a function with the place of its definition.

    >>> located("g.<locals>.<lambda> (object 0x7f12)", "train.py:3")
    '<lambda> (train.py:3)'
    """
    name = shown(value).rpartition("<locals>.")[2]
    return f"{name} ({place})" if place else name
