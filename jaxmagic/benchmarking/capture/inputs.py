"""Lists the inputs of a statement, for its record."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...compilation.capture.read_values import values_read
from ...records.names import truncated
from ..record.inputs import Input

#: The most characters of a path.
_LONGEST = 60


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
        Input(path=truncated(path, _LONGEST), kind=each.kind, words=each.words)
        for path, each in found.items()
        if each.kind != "function" and not path.startswith("__jaxmagic")
    )
