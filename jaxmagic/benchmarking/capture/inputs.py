"""Lists the inputs of a statement, for its record."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...compilation.capture.read_values import values_read
from ...compilation.record.events import Held
from ...records.names import truncated
from ..record.inputs import Input

#: The most characters of a path.
_LONGEST = 60

#: The most characters of a text, with its quotes: a longer one may be a key or a path, which no record should keep.
_LONGEST_TEXT = 18


def inputs_of(call: Callable[[], Any]) -> tuple[Input, ...] | None:
    """Return what a statement reads, given the function that runs it; ``None`` if that is unknown.

    Objects are read as for the causes of compilations: none of the user's code runs, and no value is kept.

    >>> n = 3
    >>> inputs_of(lambda n=n: n)
    (Input(path='n', kind='number', words='3'),)
    """
    if not isinstance(call, FunctionType):
        return None
    try:
        found = values_read(call)
    except Exception:
        return None
    return tuple(
        _input(truncated(path, _LONGEST), each)
        for path, each in found.items()
        if each.kind != "function" and not path.startswith("__jaxmagic")
    )


def _input(path: str, held: Held) -> Input:
    assert held.kind != "function"
    if held.words.lstrip("b")[:1] in "'\"" and len(held.words) > _LONGEST_TEXT:
        return Input(path=path, kind="unknown", words="a longer text")
    return Input(path=path, kind=held.kind, words=held.words)
