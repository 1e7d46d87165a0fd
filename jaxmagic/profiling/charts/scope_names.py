"""Collects what tells the steps of a profile's scopes apart: whether the user named them, and their functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...records.call_stack import is_users
from ...xla.scopes import BACKWARD, jitted
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


def has_names(scopes: Iterable[str]) -> bool:
    """Return whether any of these steps was named by a scope, and not by a function or a transformation alone."""
    return any(jitted(each) is None and not each.endswith("()") for each in scopes)
