"""Says in words what the steps of a scope are: passes, transformations, jitted functions, the user's or not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ...records.call_stack import is_users
from ..record.profile import PlaceTime

#: A transformation around a name, which may be empty: ``jvp()``.
_AROUND = re.compile(r"(?P<by>\w+)\((?P<name>.*)\)", re.DOTALL)


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
        has_backward |= "transpose(jvp(" in place.scope
    return Known(frozenset(functions), has_backward)


def spoken(step: str, has_backward: bool) -> str:
    """Say what a step of a scope is; jitted functions keep JAX's name.

    >>> [spoken(each, True) for each in ("jvp()", "jvp(Dense_0)", "transpose(jvp(Dense_0))", "transpose(jvp())")]
    ['forward', 'forward of Dense_0', 'backward of Dense_0', 'backward']
    >>> spoken("jvp(Dense_0)", False), spoken("vmap(jvp(a/b))", True), spoken("jit(f)", True), spoken("dot", True)
    ('jvp of Dense_0', 'vmap of forward of a/b', 'jit(f)', 'dot')
    """
    around = _AROUND.fullmatch(step)
    if around is None or around["by"] not in ("jvp", "transpose", "vmap"):
        return step
    by, name = around["by"], around["name"]
    inner = _AROUND.fullmatch(name)
    if by == "transpose" and inner is not None and inner["by"] == "jvp":
        by, name = "backward", inner["name"]
    elif by == "jvp" and has_backward:
        by = "forward"
    return f"{by} of {spoken(name, has_backward)}" if name else by


def jitted(step: str) -> str | None:
    """Return the name of a jitted function; ``None`` if the step is none.

    >>> jitted("jit(f)"), jitted("jvp(f)")
    ('f', None)
    """
    around = _AROUND.fullmatch(step)
    return around["name"] if around is not None and around["by"] in ("jit", "pjit") else None


def has_names(scopes: Iterable[str]) -> bool:
    """Return whether any of these steps was named by a scope, and not by a function or a transformation alone."""
    return any(jitted(each) is None and not each.endswith("()") for each in scopes)
