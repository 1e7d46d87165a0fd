"""Gives code that is tried lists and dictionaries of its own, in place of those that the user's functions change."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ....records.note import note
from ....runtime.around import is_exactly
from ..changes import Changed, reach
from .calls.jitted_function import Jitted
from .function_copies import FunctionCopies
from .remedy import NotTried
from .tried_code import TriedCode

#: Objects that can be emptied and filled again.
_KINDS = list, dict, set, deque


class Logs(NamedTuple):
    """Objects that functions change, such as a global list of losses, and what stands in their place.

    Attributes:
        copies: copies of them, by the id of the original.
        names: how they are reached.
        fill: gives the copies the contents of the originals.
        added: returns what a run has added to the lists among the copies.
        changed: what else is changed.
    """

    copies: Mapping[int, Any]
    names: Sequence[str]
    fill: Callable[[], None]
    added: Callable[[], list[Any]]
    changed: list[Changed]


def logs_of(code: TriedCode, changed: list[Changed]) -> Logs:
    """Find the lists and the like, among what is changed, that functions reach and that hold nothing that changes."""
    paths = {each.path for each in changed if each.by_function}
    found = {
        each.path: each.value
        for each in reach(code.reached())
        if each.by_function and each.path in paths and is_exactly(each.value, *_KINDS)
    }
    copies = {id(each): each.copy() for each in found.values()}

    def fill() -> None:
        for each in found.values():
            _refill(copies[id(each)], each)

    def added() -> list[Any]:
        return [copies[id(each)][len(each) :] for each in found.values() if is_exactly(each, list)]

    others = [each for each in changed if not (each.by_function and each.path in found)]
    return Logs(copies, list(found), fill, added, others)


def keep_apart(code: TriedCode, logs: Logs, replacements: Mapping[int, Any]) -> None:
    """Check that nothing leads to the originals where functions that see them are copied.

    Args:
        code: the code.
        logs: the originals and their copies.
        replacements: what the code sees instead of some objects, by their ids, besides the copies.

    Raises:
        NotTried: something does, such as a method or a jitted function, which are not copied.
    """
    made = FunctionCopies({**logs.copies, **replacements})
    seen = {name: made.of(value) for name, value in code.read().items()}
    reached = _original(seen, logs)
    if reached is None:
        return
    for value in replacements.values():
        name = _original({"": value}, logs)
        jitted = getattr(value, "__self__", None)
        if name is not None and isinstance(jitted, Jitted):
            raise NotTried(note("doctor.jit_reads_log", name=name, function=jitted.function.__name__))
        if name is not None:
            raise NotTried(note("doctor.remedy_reads_log", name=name))
    raise NotTried(note("doctor.not_tried_log", name=reached))


def _original(variables: Mapping[str, Any], logs: Logs) -> str | None:
    """Return the name of an original that variables lead to; ``None`` if they lead to none."""
    names = dict(zip(logs.copies, logs.names, strict=True))
    return (
        next((names[id(each.value)] for each in reach(variables) if id(each.value) in names), None) if names else None
    )


def _refill(copy: Any, original: Any) -> None:
    copy.clear()
    if isinstance(copy, list | deque):
        copy.extend(original)
    else:
        copy.update(original)
