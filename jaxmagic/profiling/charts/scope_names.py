"""Collects what tells the steps of a profile's scopes apart: whether the user named them, and their functions."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple

from ...records.call_stack import is_users
from ...xla.scopes import BACKWARD, given_names
from ..record.profile import PlaceTime


class Known(NamedTuple):
    """Facts about a profile that tell what the steps of its scopes are.

    Attributes:
        functions: names of the user's functions that are on a call stack.
        has_backward: whether there is a backward pass, so that ``jvp`` is the forward pass of it.
    """

    functions: frozenset[str]
    has_backward: bool


def known(places: Iterable[PlaceTime]) -> Known:
    """Collect the facts from the places of a profile."""
    functions: set[str] = set()
    has_backward = False
    for place in places:
        functions.update(part for each in place.stack if is_users(each) for part in each.function.split("."))
        has_backward |= BACKWARD in place.scope
    return Known(frozenset(functions), has_backward)


def has_names(steps: Iterable[str], functions: Set[str]) -> bool:
    """Return whether a scope named any of these steps, and not only a function, a transformation or JAX itself.

    Args:
        steps: the steps of scopes.
        functions: names of the user's functions, after which older JAX names a transformation: ``jvp(loss)``.

    >>> has_names(["jit(step)", "transpose(jvp())", "while", "jvp(loss)"], {"loss"})
    False
    >>> has_names(["jvp(Dense_0)"], {"loss"})
    True
    """
    return any(name not in functions for each in steps for name in given_names(each))
