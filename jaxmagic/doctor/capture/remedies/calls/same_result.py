"""Keeps the result of a jitted function that computes the same in every call."""

from __future__ import annotations

from operator import is_
from typing import Any

from .....records.note import note
from ....record.finding import RuleFinding
from ..remedy import Change, NotTried, names_given
from ..tried_code import TriedCode
from ..user_functions import jitted_functions


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose to call the function once, and to return its result again for the same arguments."""
    (name,) = names_given(finding)
    found = {id(each): each for each in jitted_functions(code.read()) if getattr(each, "__name__", None) == name}
    if len(found) != 1:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    (function,) = found.values()
    kept = _Kept(function)
    about = note("doctor.result_kept", name=name)
    return Change({id(function): kept.call}, met=lambda: kept.called, used=lambda: kept.hits > 0, notes=(about,))


class _Kept:
    """A function whose last result is returned again if it is given the same objects.

    Attributes:
        hits: how often it was returned again.
    """

    def __init__(self, function: Any) -> None:
        self.hits = 0
        self._function = function
        self._given: tuple[Any, ...] | None = None
        self._result: Any = None

    @property
    def called(self) -> bool:
        """Whether there is a result."""
        return self._given is not None

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result of the last call, or that of a call with other objects."""
        given = (*args, *kwargs, *kwargs.values())
        if self._given is not None and len(given) == len(self._given) and all(map(is_, given, self._given)):
            self.hits += 1
        else:
            self._given, self._result = given, self._function(*args, **kwargs)
        return self._result
