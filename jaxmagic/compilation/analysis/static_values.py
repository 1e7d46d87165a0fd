"""Compare two values of a static argument, and find what would have avoided the compilation, if anything."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...records.names import listed
from ..record.compilation import Cause
from ..record.events import Held, WrapperKind
from .held import Change, as_arguments, as_pytree, changes, list_changes
from .remedies import difference

#: Distinguishes values that print alike: the address of an object, or of its class.
_MARK = re.compile(r" \((?:object|class|value) 0x\w+\)| object (?:at )?0x\w+")

#: A function in JAX's explanation, and in our own words.
_FUNCTION = re.compile(r"<function (?P<name>.+?) at 0x\w+>$|(?P<ours>[\w.<>]+) \(object 0x\w+\)$")

_CLASS = re.compile(r" \(class 0x\w+\)")

#: Of a value with a longer text, only the difference is shown.
_LONGEST = 60

#: The whole text of an object that compares by identity.
_OBJECT = re.compile(r"\w+ object 0x\w+")

_NAN = re.compile(r"\bnan[j)]* \(object 0x\w+\)")

#: A number, which could be passed as an array.
_NUMBER = re.compile(r"-?(\d|inf|nan)|True$|False$|\(-?\d\S*j\)$")

#: A number of Python or of NumPy, also as JAX writes it.
_SCALAR = re.compile(r"(?:np\.)?(?:\w+\()?(?P<value>-?\d+(?:\.\d*)?(?:e[+-]?\d+)?|True|False)\)?")

_ONE_TYPE = "pass one type of number in every call, such as int(value)"

#: The remedy for two equal objects that compare by identity.
_EQUAL = "pass the same object again, or give its class __eq__ and __hash__"

#: The remedy for two objects of which the function reads the same.
_READ_ALIKE = (
    "pass the same object again, or give its class an __eq__ and a __hash__ that compare only what the jitted "
    "functions read"
)

#: The same for objects of a class that compares more than that.
_COMPARE_READ = (
    "let its __eq__ and __hash__ compare only what the jitted functions read, or pass the same object again"
)


def shown(words: str) -> str:
    """Return a value as people read it.

    >>> shown("Mode.FAST (object 0x7f12)"), shown("Config(n=2) (class 0x7f12)"), shown("Model object 0x7f12")
    ('Mode.FAST', 'Config(n=2)', 'Model')
    """
    return _MARK.sub("", words)


def same_number(now: str, before: str) -> bool:
    """Return whether two different values are the same number of different types.

    >>> same_number("int64(2)", "2"), same_number("True", "1"), same_number("int64(2)", "3"), same_number("2", "2")
    (True, True, False, False)
    """
    ours, theirs = map(_number, (now, before))
    return now != before and ours is not None and ours == theirs


def _number(text: str) -> float | None:
    found = _SCALAR.fullmatch(text)
    return None if found is None else float({"True": 1, "False": 0}.get(found["value"], found["value"]))


def static_difference(
    name: str | None,
    now: str,
    before: str,
    held: Mapping[str, Held] | None = None,
    held_before: Mapping[str, Held] | None = None,
) -> Cause:
    """Explain a different value of a static argument.

    Args:
        name: the name of the argument, if it is known.
        now: the value in words.
        before: the earlier value in words.
        held: the values that the value holds, if they were read.
        held_before: the values that the earlier value held.
    """
    subject = argument_in_words(name)
    root = None if held is None else held.get(name or "")
    ours, theirs = _FUNCTION.match(now), _FUNCTION.match(before)
    if ours and theirs and (root is None or root.kind == "function"):
        return _function(subject, name, ours["name"] or ours["ours"], theirs["name"] or theirs["ours"])
    text, other = shown(now), shown(before)
    if "… (value 0x" in now + before or (text != other and max(len(text), len(other)) > _LONGEST):
        differing = [each for each in changes(held or {}, held_before or {}) if each.now.kind != "unknown"]
        if differing or text == other:
            return _with_numbers(_long(subject, name, text, differing), text, held or {}, held_before or {})
    if same_number(text, other):
        why = difference("static value", f"{subject} is a different type of number", name, text, other)
        return replace(why, remedy=_ONE_TYPE)
    if text != other:
        why = difference("static value", f"{subject} has a different value", name, text, other)
        if _NUMBER.match(text) and _NUMBER.match(other):
            return why
        return _with_numbers(replace(why, remedy=None), text, held or {}, held_before or {})
    why = replace(difference("static value", subject, name, text, other), remedy=None)
    if _NAN.search(now):
        advice = "pass the same object in every call, such as math.nan"
        return replace(why, reason=f"{subject} is {text}, and nan does not equal nan", remedy=advice)
    if _CLASS.findall(now) != _CLASS.findall(before) or (root is not None and root.kind == "value"):
        what = text if root is None or root.kind != "value" or "." in text else "a class"
        advice = "define the class once, outside the code that runs again"
        return replace(why, reason=f"{subject} is {what} of a different class with the same name", remedy=advice)
    return _object(why, subject, now, held, held_before)


def argument_in_words(name: str | None) -> str:
    """Name an argument, or a field of one: JAX flattens arguments, and compares what is not an array."""
    if not name:
        return "a static argument"
    return f"static field {name}" if "." in name or "[" in name else f"static argument {name}"


def _long(subject: str, name: str | None, text: str, differing: Sequence[Change]) -> Cause:
    """Explain a value that is too long to show by what differs in it, as far as that was read."""
    what = (
        f"{_class_name(text)} with {list_changes(differing)}"
        if differing
        else f"a different {_class_name(text)}, too long to show"
    )
    return Cause(kind="static value", reason=f"{subject} has a different value: {what}", argument=name)


def _with_numbers(why: Cause, text: str, held: Mapping[str, Held], before: Mapping[str, Held]) -> Cause:
    """Name the first of the numbers or arrays in which two values differ, if they differ in nothing else."""
    differing = changes(held, before)
    advice = _advice(why.argument or "", text, held, differing)
    if advice is None:
        return why
    first = differing[0]
    now, earlier = first.now.words, None if first.before is None else first.before.words
    return replace(why, remedy=advice, argument=first.name, now=now, before=earlier)


def _advice(name: str, text: str, held: Mapping[str, Held], differing: Sequence[Change]) -> str | None:
    """Advise passing what differs in a value as arguments; ``None`` if one program could not take all of that."""
    if not differing or any(each.path == name for each in differing):
        return None
    root, kind = held.get(name), _class_name(text)
    is_object = root is not None and root.words == f"a {kind}"  # no container, as "a Pair of 2"
    own = as_pytree(name, kind, differing, dataclass=not text.startswith("a ")) if is_object else ""
    return as_arguments(differing, own)


def _class_name(text: str) -> str:
    """Return ``Settings`` for ``Settings(n=2)`` and for ``a Settings``."""
    found = re.match(r"(?:a )?(\w+)", text)
    return found[1] if found else "value"


def own_equality(
    name: str, text: str, held: Mapping[str, Held], held_before: Mapping[str, Held], *, reported_by_jax: bool
) -> Cause | None:
    """Explain a value whose class has an ``__eq__`` of its own by its content; ``None`` if the content is the same.

    Args:
        name: the name of the argument.
        text: the value in words.
        held: the values that it holds.
        held_before: the values that the earlier value held.
        reported_by_jax: whether JAX says that a static argument has a different value.
    """
    differing = sorted(changes(held, held_before), key=lambda each: not each.now.read)
    if not differing:
        return None
    sure = "has a different value" if reported_by_jax else "may have a different value"
    known = any(each.now.kind != "unknown" for each in differing)
    what = f" with {list_changes(differing)}" if known else ", which only its own __eq__ could compare"
    reason = f"{argument_in_words(name)} {sure}: {_class_name(text)}{what}"
    if not reported_by_jax:
        return Cause(kind="unknown", reason=f"JAX gave no reason; {reason}", argument=name)
    if not any(each.now.read for each in differing):
        reason = f"{argument_in_words(name)} has a different value: {_class_name(text)}, and {_unread(differing)}"
        return Cause(kind="static value", reason=reason, remedy=_COMPARE_READ, argument=name)
    remedy = _advice(name, text, held, differing)  # enough if its __eq__ compares values
    return Cause(kind="static value", reason=reason, remedy=remedy, argument=name)


def _unread(differing: Sequence[Change]) -> str:
    """Say that a function reads nothing of what differs in its argument."""
    return f"the function does not read what differs: {listed([each.name for each in differing], 3)}"


def _function(subject: str, name: str | None, now: str, before: str) -> Cause:
    if now != before:
        why = difference("static value", f"{subject} is a different function or class", name, now, before)
        return replace(why, remedy=None)
    what = f"{subject} is a different function object of the same name: {now}"
    advice = "if it is the same function, define it once, and pass the same object in every call"
    return Cause(kind="static value", reason=what, remedy=advice, argument=name, now=now, before=before)


def _object(
    why: Cause, subject: str, value: str, held: Mapping[str, Held] | None, before: Mapping[str, Held] | None
) -> Cause:
    """Explain a value that is or holds an object that compares by identity."""
    text = shown(value)
    if not held or not before:  # known from JAX, which does not say whether the class has an __eq__
        advice = "pass the same object again, or give its class __eq__ and __hash__ if it has none"
        return replace(why, reason=f"{subject} is a different object of the same class: {text}", remedy=advice)
    differing = changes(held, before)
    if any(each.now.kind == "unknown" for each in differing):
        reason = f"{subject} is a different object: {text} compares by identity"
        return replace(why, reason=reason, remedy=f"if they are equal, {_EQUAL}")
    if not differing and not _OBJECT.fullmatch(value):
        reason = f"{subject} has the same content in new objects, which compare by identity: {text}"
        return replace(why, reason=reason, remedy="pass the same object again")
    if not differing:
        reason = f"{subject} is a different object with the same content: {text} compares by identity"
        return replace(why, reason=reason, remedy=_EQUAL)
    read = [each for each in differing if each.now.read]
    if not read:
        reason = f"{subject} is a different object: {text} compares by identity, and {_unread(differing)}"
        return replace(why, reason=reason, remedy=_READ_ALIKE)
    inside = as_arguments(read)
    reason = f"{subject} is a different object with {list_changes(read)}"
    return replace(why, reason=reason, remedy=inside and f"pass one object in every call, and {inside}")


def remade_function(
    name: str,
    value: str,
    place: str,
    wrapper: tuple[WrapperKind, str] | None,
    held: Mapping[str, Held],
    held_before: Mapping[str, Held],
    other: str,
) -> Cause:
    """Explain a static argument that is a function re-created from the same source, perhaps around other values.

    Args:
        name: the name of the argument.
        value: the function in words.
        place: where it is defined.
        wrapper: the kind and the class of the object that calls the function, if the argument is none itself; this
            object was re-created.
        held: the values that the argument holds.
        held_before: the values that the earlier one held.
        other: the earlier function in words, which may tell the two objects apart.
    """
    differing = changes(held, held_before)
    kind, owner = wrapper or ("function", "")
    what, once, otherwise, called = {
        "function": ("the same function, re-created", "define the function once", "define the function once", "it"),
        "partial": (
            "a re-created partial of the same function",
            "make the partial once",
            "pass its function instead of the partial",
            "it",
        ),
        "method": ("a method of a re-created object", "make the object once", "make the object once", "the method"),
        "object": (f"a re-created {owner} of the same function", "make it once", "make it once", "it"),
    }[kind]
    reason = f"{argument_in_words(name)} is {what}: {located(value, place)}"
    advice: str | None
    same = f"its method as {name}" if kind == "method" else f"the same object as {name}"
    advice = f"{once}, outside, and pass {same} in every call"
    if differing:
        reason += f", with {list_changes(differing)}"
        inside = as_arguments(differing, f" of {called} and of the jitted function")
        advice = f"{otherwise}, and {inside}" if inside else None
    return Cause(kind="static value", reason=reason, remedy=advice, argument=name, now=value, before=other)


def remade_body(operation: str, value: str, place: str) -> Cause:
    """Explain a loop or a condition outside ``jit`` whose body was re-created from the same source."""
    return Cause(
        kind="new function",
        reason=f"the function passed to {operation} is the same one, re-created: {located(value, place)}",
        remedy="define the function, or make its partial, once, outside, if its closure is the same; or "
        f"call {operation} in a function that is jitted once, and pass what varies as an argument, if no shape or "
        "length depends on it",
    )


def other_function(name: str, value: str, place: str, other: str, other_place: str) -> Cause:
    """Explain a static argument that is a function from a different source, and so needs a program of its own."""
    now, before = located(value, place), located(other, other_place)
    return replace(
        difference("static value", f"{argument_in_words(name)} is a different function", name, now, before),
        remedy=None,
    )


def located(value: str, place: str) -> str:
    """Return a function with the place of its definition.

    >>> located("g.<locals>.<lambda> (object 0x7f12)", "train.py:3")
    '<lambda> (train.py:3)'
    """
    name = shown(value).rpartition("<locals>.")[2]
    return f"{name} ({place})" if place else name
