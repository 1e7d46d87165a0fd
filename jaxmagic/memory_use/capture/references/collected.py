"""Reads the references that only Python's garbage collector shows, as those of a cell or a proxy.

A reader yields the steps from an object, and the objects that they lead to.
"""

from __future__ import annotations

import contextvars
import gc
from collections.abc import Iterator
from typing import Any

from ....records.attribute_names import Step

#: The step to an object without a name.
INSIDE: Step = ("inside", "inside")


def unnamed(node: Any) -> Iterator[tuple[Step, Any]]:
    """Yield the objects that Python's garbage collector would visit, which have no names."""
    return ((INSIDE, each) for each in gc.get_referents(node))


def of_cache(function: Any) -> Iterator[tuple[Step, Any]]:
    """Read the cache of :func:`functools.lru_cache`."""
    return ((("inside", "cache"), each) for each in gc.get_referents(function))


def of_proxy(proxy: Any) -> Iterator[tuple[Step, Any]]:
    """Read the mapping behind a proxy, which has its keys, but not the attributes of one that is no dictionary."""
    return ((("same", None) if type(each) is dict else INSIDE, each) for each in gc.get_referents(proxy))


def of_context_variable(variable: contextvars.ContextVar[Any]) -> Iterator[tuple[Step, Any]]:
    """Read the value of a variable in the current context, and its default."""
    yield ("attribute", "get()"), variable.get(None)
    yield from ((("inside", "default"), each) for each in gc.get_referents(variable))
