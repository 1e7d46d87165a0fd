"""Writes the option of ``jit`` that makes an argument static, beside those that it has already."""

from __future__ import annotations

from collections.abc import Sequence

from .....records.names import one_or_tuple
from ....record.failure import Failure


def static_option(name: str, position: int | None, options: tuple[str, ...] | None) -> str:
    """Return the option that makes an argument static; JAX infers numbers from names, and names from numbers.

    It infers nothing if both options are given: an argument then has to be in each of them.

    >>> static_option("n", 1, ()), static_option("n", 1, ("static_argnums",))
    ('static_argnames="n"', '1 in static_argnums')

    Args:
        name: the parameter; empty if it has no name.
        position: its position; ``None`` if it has none.
        options: which options for static arguments ``jit`` gets; ``None`` if only unknown ones.
    """
    named = f'"{name}" in static_argnames' if name else ""
    numbered = "" if position is None else f"{position} in static_argnums"
    if options is None and named and numbered:
        return f"{named} and {numbered}, as far as it has these options,"
    if options is None or len(options) == 2:
        return " and ".join(filter(None, (named, numbered)))
    if "static_argnames" in options and named:
        return named
    if "static_argnums" in options and numbered:
        return numbered
    return f'static_argnames="{name}"' if name else f"static_argnums={position}"


def options_for(failure: Failure, names: Sequence[str]) -> str:
    """Return the option that makes arguments of a jitted function static, with those that are; empty if unknown."""
    call = failure.call
    if call is None:
        return f"static_argnames={one_or_tuple(names)}"
    if (call.options is None and call.static) or len(call.options or ()) == 2:
        return ""
    static = [*call.static, *(each for each in names if each not in call.static)]
    if "static_argnums" not in (call.options or ()):
        return f"static_argnames={one_or_tuple(static)}"
    positions = {"self": 0} | {each.name: each.position for each in call.arguments}
    found = [positions.get(each) for each in static]
    if None in found:
        return ""
    return f"static_argnums={found[0] if len(found) == 1 else tuple(found)}"
