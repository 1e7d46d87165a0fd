"""Finds what holds a traced value after the tracing has failed: the same call without jit would use it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from .....runtime.around import attributes, enclosed, is_a
from .....runtime.tracing import is_tracer
from ..held import arrays_in

#: Containers inside of each other are searched down to this depth.
_DEPTH = 2

#: At most this many attributes of an object are searched, and this many names are listed.
_MOST_ATTRIBUTES, _MOST = 1000, 3


def left_traced(function: FunctionType, passed: Iterable[tuple[str, Any]]) -> tuple[str, ...]:
    """Return what holds a traced value: in objects and containers that a function gets, or that it names.

    Args:
        function: the function that was jitted.
        passed: what the call passes, with its names.
    """
    outer = {**function.__globals__, **enclosed(function)}
    known = [(name, outer[name]) for name in (*function.__code__.co_names, *enclosed(function)) if name in outer]
    found = (name for each in (*passed, *known) for name in _held(*each))
    return tuple(itertools.islice(dict.fromkeys(found), _MOST))


def _held(name: str, value: Any) -> Iterator[str]:
    """Iterate over the parts of an object or a container that hold traced values, or the value if it is one."""
    yield from (inner for inner, _ in arrays_in(name, value, is_tracer, _DEPTH))
    held = attributes(value)
    if held is not None and not is_tracer(value) and not is_a(value, (ModuleType, type, FunctionType)):
        for attribute, each in itertools.islice(list(held.items()), _MOST_ATTRIBUTES):
            yield from (inner for inner, _ in arrays_in(f"{name}.{attribute}", each, is_tracer, _DEPTH))
