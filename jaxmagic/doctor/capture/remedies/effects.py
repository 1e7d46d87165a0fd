"""Finds what the code leaves changed, and copies that for each further run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ....records.note import note
from ....runtime.around import is_a
from ..changes import CODE, Changed, Snapshot, is_mutable, reach
from ..inputs import deleted
from ..side_effects.copied_values import copied, is_copyable
from ..stored_names import assigned_outside
from .remedy import NotTried
from .tried_code import TriedCode
from .user_functions import is_users_function

#: In the path of what a function holds, as in ``"trainer.log (closure: lines)"``, of which a copy has no own.
_THROUGH_CODE = " ("


class Effects:
    """The objects that later runs of some code change.

    Args:
        variables: the variables that it reads, and what else it names.
        before: their state before the first run.
    """

    def __init__(self, variables: Mapping[str, Any], before: Snapshot) -> None:
        self._variables = dict(variables)
        self._snapshots = [before]
        self._deleted = set(_deleted(variables))

    def later(self, snapshot: Snapshot) -> None:
        """Add a state between two runs: what the first one made, the second one may have changed."""
        self._snapshots.append(snapshot)

    def changed(self) -> list[Changed]:
        """Return what has been changed, donated or deleted, and the variables that functions assign."""
        gone = [each for each in _deleted(self._variables) if each not in self._deleted]
        changes = (each for snapshot in self._snapshots for each in snapshot.changes())
        return list(dict.fromkeys([*gone, *changes, *_assigned(self._variables)]))


def fresh_values(code: TriedCode, changed: list[Changed]) -> Callable[[], Mapping[str, Any]] | None:
    """Return what makes new copies of the variables that the code changes; ``None`` if it changes nothing.

    Raises:
        NotTried: something else than an input is changed, or an input cannot be copied.
    """
    read = code.read()
    names = list(dict.fromkeys(_root(each.path) for each in changed))
    for each in changed:
        if each.by_function or _root(each.path) not in read or _THROUGH_CODE in each.path:
            raise NotTried(note("doctor.not_tried_effect", name=each.path))
    values = {name: read[name] for name in names}
    for name, value in values.items():
        if not is_copyable(value):
            raise NotTried(note("doctor.not_tried_uncopied", name=name))
        if _is_shared(value, {other: each for other, each in read.items() if other != name}):
            raise NotTried(note("doctor.not_tried_effect", name=name))
    return (lambda: {name: copied(value) for name, value in values.items()}) if values else None


def _is_shared(value: Any, others: Mapping[str, Any]) -> bool:
    """Return whether other variables, such as functions, lead to what can change in a value, so to no copy of it."""
    data = (each.value for each in reach({"": value}, code=False) if not is_a(each.value, CODE))
    inside = {id(each) for each in data if is_mutable(each)}
    return any(id(each.value) in inside for each in reach(others))


def _root(path: str) -> str:
    found = re.match(r"\w+", path)
    return path if found is None else found[0]


def _deleted(variables: Mapping[str, Any]) -> list[Changed]:
    return [Changed(each.path, each.by_function) for each in deleted(variables)]


def _assigned(variables: Mapping[str, Any]) -> Iterator[Changed]:
    """Yield the variables outside of functions that the functions assign."""
    for each in reach(variables):
        if is_users_function(each.value):
            code = each.value.__code__
            yield from (Changed(f"{name} in {code.co_name}()", by_function=True) for name in assigned_outside(code))
