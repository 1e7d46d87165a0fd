"""Keeps the result of a jitted function that computes the same in every call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....records.note import note
from ....runtime.functions import is_jitted
from ...record.finding import RuleFinding
from .remedy import Change, NotTried, names_given
from .tried_code import TriedCode
from .user_functions import is_users_function, seen_by


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose to call the function once, and to return its result again from then on."""
    (name,) = names_given(finding)
    found = {id(each): each for each in _jitted(code) if getattr(each, "__name__", None) == name}
    if len(found) != 1:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    (function,) = found.values()
    kept = _Kept(function)
    return Change(
        {id(function): kept.call}, used=lambda: kept.hits > 0, notes=(note("doctor.result_kept", name=name),)
    )


def _jitted(code: TriedCode) -> Iterator[Any]:
    """Yield the jitted functions that the code sees, and those that the user's functions see that it calls."""
    queue, met = list(code.read().values()), set()
    for each in queue:  # grows meanwhile
        if id(each) in met:
            continue
        met.add(id(each))
        if is_jitted(each):
            yield each
        elif is_users_function(each):
            queue += seen_by(each).values()


class _Kept:
    """A function whose first result is returned again.

    Attributes:
        hits: how often it was returned again.
    """

    def __init__(self, function: Any) -> None:
        self.hits = 0
        self._function = function
        self._results: list[Any] = []

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result of the first call."""
        if self._results:
            self.hits += 1
        else:
            self._results.append(self._function(*args, **kwargs))
        return self._results[0]
