"""Parse JAX's own explanations of why it traced again, in the layouts of 0.8 and of 0.10 to 0.12."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace

from ..record.compilation import Cause
from ..record.events import Call
from .remedies import cause, combined, difference, setting_difference, type_difference, type_distance
from .signatures import KEYS, of_counts, of_nests
from .static_values import argument_in_words, shown, static_difference

#: What :mod:`.cache_keys` adds to a text that does not name all differences from the earlier call.
UNNAMED = "further differences: "
_UNNAMED_COUNT = re.compile(rf"{UNNAMED}(\d+)")

#: The argument that a path is in; nothing if all positional or all keyword arguments differ together.
_ARGUMENT = re.compile(r"(?:input path )?(?:\[[01]\]|args|kwargs)\[[^\]]*\]")


def read(text: str, call: Call | None) -> Cause | None:
    """Return the cause that `text` states, if any, with the argument names of `call`."""
    stated = _stated(text, call)
    if not stated:
        return None
    why = combined(stated)
    if UNNAMED not in text:
        return why
    return replace(why, reason=f"{why.reason}; and something else, which JAX does not name", remedy=None)


def _stated(text: str, call: Call | None) -> list[Cause]:
    """List the differences that `text` states: settings, and then what it says first about the arguments."""
    settings = contexts(text)
    for reader in (_types, _static, _pytree, _argument_count):
        if stated := reader(text, call):
            return [stated] if _several_calls(text) else [*settings, stated]
    return settings


def _several_calls(text: str) -> bool:
    """Return whether this is the layout of JAX 0.8, which has what differs from several earlier calls."""
    return "* key with " in text


def never_seen(text: str, call: Call | None = None) -> bool:
    """Return whether JAX says that a function object is new to it, which is defined where that of `call` is."""
    place = "" if call is None or call.location is None else f" defined at {call.location}"
    return "never seen function" in text and f"{place}\n" in f"{text}\n"


def call_site(text: str) -> str:
    """Return the line of the call, such as ``cell.py:3:5 (<module>)``."""
    return text.partition("TRACING CACHE MISS at ")[2].partition("\n")[0].split(" costing ")[0].rstrip(":")


def hints_at_new_function(text: str) -> bool:
    """Return whether JAX has seen a different function called from the same line."""
    return "on the same line" in text


_DIFFERENCE = re.compile(r"\* at (?P<path>.+?), now (?P<now>.+?) and before (?P<before>.+?)(?:https?://\S+)?$", re.M)


def _types(text: str, call: Call | None) -> Cause | None:
    closest = _closest(text)
    if not closest:
        return None
    return combined([type_difference(_argument(each["path"], call), each["now"], each["before"]) for each in closest])


def _closest(text: str) -> list[re.Match[str]]:
    """Find the arguments whose types differ from the earlier call that JAX compares with."""
    if "different input types" not in text:
        return []
    # JAX 0.8 compares with all earlier calls that are equally close, later versions with the first by `ranked`.
    keys = text.partition("different input types")[2].split("* key with ")
    return min((found for each in keys if (found := _differing(each))), key=_distance, default=[])


def _differing(text: str) -> list[re.Match[str]]:
    return list(_DIFFERENCE.finditer(text))


def nearer(text: str, call: Call, distance: tuple[int, int]) -> Cause | None:
    """Return the cause that `text` states if less differs from JAX's call than from one that was measured.

    JAX then knows a call that was not measured.

    Args:
        text: JAX's explanation.
        call: the call.
        distance: in how many places it and the call that was measured differ, and in how much.
    """
    if text.count("* key with ") != text.count("* key with different input types"):
        return None  # JAX 0.8 lists what else differs from the same call
    how_far = stated_distance(text)
    if how_far is None or how_far >= distance or UNNAMED in text or container_places(text) > 1:
        return None
    return read(text, call)


def stated_distance(text: str) -> tuple[int, int] | None:
    """Return in how many places the call that JAX compares with differs, and in how much; ``None`` if unknown.

    JAX counts what differs between two containers in its own way, so that only the places of such calls compare.
    """
    settings = [] if _several_calls(text) else contexts(text)
    types, containers, unnamed = _closest(text), container_places(text), _UNNAMED_COUNT.search(text)
    if not (settings or types or containers):
        return None
    places, differences = _distance(types)
    places += len(settings) + containers + (int(unnamed[1]) if unnamed else 0)
    return places, sys.maxsize if containers or unnamed else differences + len(settings)


def container_places(text: str, *, arguments_only: bool = False) -> int:
    """Count the arguments that have another structure; passing the arguments in another way counts once.

    Args:
        text: JAX's explanation.
        arguments_only: whether that does not count.
    """
    if "different input pytree" not in text:
        return 0
    found = [_ARGUMENT.match(each["path"]) for each in _differing(text)]
    arguments = {each[0] for each in found if each is not None}
    return len(arguments) + (None in found and not arguments_only)


def _distance(differences: Sequence[re.Match[str]]) -> tuple[int, int]:
    """Return how many arguments differ, and in how much."""
    return len(differences), sum(max(1, type_distance(each["now"], each["before"])) for each in differences)


_STATIC_KWARGS = re.compile(r"different value of static kwargs:\s+now \{(?P<now>.*)\} and before \{(?P<before>.*)\}")
_STATIC_ARGS = re.compile(r"different value of static args:\s+now (?P<now>.*) and before (?P<before>.*)")
_STATIC_NODE = re.compile(
    r"at input path (?P<path>\S+), now .*?Static\(val=(?P<now>.*?)\)"
    r" and before .*?Static\(val=(?P<before>.*?)\)(?:,|$)",
    re.M,
)


def _static(text: str, call: Call | None) -> Cause | None:
    if found := _STATIC_NODE.search(text):
        return static_difference(_argument(found["path"], call), found["now"], found["before"])
    for found in _STATIC_KWARGS.finditer(text):
        now, before = (dict(_pairs(found[side])) for side in ("now", "before"))
        for name in now:
            if name in before and now[name] != before[name]:
                return static_difference(name, now[name], before[name])
    if found := _STATIC_KWARGS.search(text):
        now, before = (dict(_pairs(found[side])) for side in ("now", "before"))
        if before.items() < now.items() and not _STATIC_ARGS.search(text):
            return combined([_left_out(name, now[name]) for name in now if name not in before])
        return difference(
            "pytree",
            "static arguments are passed differently, by position or by keyword",
            None,
            f"by keyword {{{found['now']}}}",
            f"{{{found['before']}}}",
        )
    if found := _STATIC_ARGS.search(text):
        names = list(call.static_args) if call else []
        only = names[0] if len(names) == 1 else None
        if not found["before"]:
            return _left_out(only, found["now"])
        return static_difference(only, found["now"], found["before"])
    return None


def is_static_value(text: str) -> bool:
    """Return whether a static value is among the differences."""
    return _STATIC_NODE.search(text) is not None


def _left_out(name: str | None, value: str) -> Cause:
    """Describe a static argument that had its default in the earlier call, which may be the same value."""
    what = f"{argument_in_words(name)} is passed now, and was left out before"
    why = difference("static value", what, name, shown(value), "left out")
    return replace(why, reason=f"{what}: {why.now}", remedy=None)


def _pairs(text: str) -> list[tuple[str, str]]:
    """Split ``n: 2, mode: 'fast'`` into pairs; a comma inside a value does not separate."""
    parts = re.split(r"(?:^|, )(?=\w+: )", text)
    return [(name, value) for part in parts if part for name, _, value in [part.partition(": ")]]


def _pytree(text: str, call: Call | None) -> Cause | None:
    if "different input pytree" not in text:
        return None
    found = _DIFFERENCE.search(text)
    if found is None:
        return cause("pytree", "the arguments have a different pytree structure")
    path = found["path"].removeprefix("input path ")
    before, _, explanation = found["before"].partition(", so ")
    if call is not None and len(_DIFFERENCE.findall(text)) == 1 and (names := _additional(found, call)):
        return combined([_left_out(name, call.static_args[name]) for name in names])
    now, before = (_short_node(node) for node in (found["now"], before))
    if path in ("[0]", "args", "[1]", "kwargs"):
        of_one = _differing(text.partition("different input pytree")[2].partition("* key with ")[0])
        if passed := of_nests(call, [(each["path"].removeprefix("input path "), each[0]) for each in of_one]):
            return passed
        by = "position" if path in ("[0]", "args") else "keyword"
        return difference("pytree", f"different arguments by {by}", None, _count(now), _count(before))
    argument = _argument(path, call)
    stated = difference("pytree", f"argument {argument} has a different pytree structure", argument, now, before)
    keys = KEYS.search(explanation)
    return replace(stated, reason=f"{stated.reason}; keys in only one of them: {keys[1]}") if keys else stated


def _additional(difference: re.Match[str], call: Call) -> Sequence[str]:
    """Return the names of the static arguments that only this call has, if these are all that differs."""
    names: Sequence[str] = ()
    path = difference["path"].removeprefix("input path ")
    if path == "[0]" and len(lengths := re.findall(r"tuple of length (\d+)", difference[0])) == 2:
        names = call.parameters[int(lengths[1]) : int(lengths[0])]
    elif path == "[1]" and call.call_signature is not None and (keys := KEYS.search(difference["before"])):
        added = re.findall(r"'(\w+)'", keys[1])  # in no order
        names = sorted(added) if {*added} <= {*call.call_signature[1]} else ()
    return names if {*names} <= call.static_args.keys() else ()


def _count(node: str) -> str:
    """Return the number of arguments in ``tuple of length 2`` or ``dict with 2 children``."""
    found = re.fullmatch(r"(?:tuple of length|dict with) (\d+)(?: child(?:ren)?)?", node)
    return node if found is None else found[1] if int(found[1]) else "none"


def _short_node(node: str) -> str:
    """Shorten ``<class 'dict'> with 2 children`` to ``dict with 2 children``."""
    node = re.sub(r"<class '(?:[\w.]*\.)?(\w+)'>", r"\1", node)
    return re.sub(r"\b0 child\b", "0 children", node)  # JAX writes "0 child"


def _argument(path: str, call: Call | None) -> str:
    """Translate ``[0][1]['w']``, a path into ``(args, kwargs)``, or ``args[1]['w']``, to the function's own names."""
    found = re.match(r"(?:\[0\]|args)\[(\d+)\](.*)", path)
    if found:
        position = int(found[1])
        names = call.parameters if call else ()
        return (names[position] if position < len(names) else f"number {position}") + found[2]
    found = re.match(r"(?:\[1\]|kwargs)\['(\w+)'\](.*)", path)
    return found[1] + found[2] if found else path


def _argument_count(text: str, call: Call | None) -> Cause | None:
    found = re.search(
        r"different number of args and kwargs.*?now (?P<now>.*?)\n\s*before (?P<before>[^\n]*)", text, re.S
    )
    if not found:
        return None
    if passed := of_counts(call, found["now"], found["before"]):
        return passed
    return difference("pytree", "passed differently, by position or by keyword", None, found["now"], found["before"])


def contexts(text: str) -> list[Cause]:
    """List the differences in configuration and mesh, with their names and values where JAX gives them."""
    if "tracing context" not in text.lower():
        return []
    if named := re.findall(r"\* (\S+) differs: now (.*) and before (.*)", text):
        causes = [setting_difference(*each) for each in named]
        mesh = [each for each in causes if "mesh" in (each.argument or "")]
        return [each for each in causes if each not in mesh[1:]]  # JAX keeps one mesh in several settings
    found = re.search(r"\[\d+\]: now (?P<now>.*?) and before (?P<before>[^\n,]*)", text)
    if found:
        what = "a setting or the mesh has a different value"
        return [difference("context", what, None, found["now"], found["before"])]
    return [cause("context", "a different configuration or mesh; JAX does not say which")]
