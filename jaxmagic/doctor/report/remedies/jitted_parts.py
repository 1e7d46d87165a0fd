"""Words code that has jitted functions for parts of a loop or of a method."""

from __future__ import annotations

from ....terminal import printable
from .filled import loop_in


def parts_of_round(function: str, parts: int, indexed: str = "") -> str:
    """Word code that has a jitted function for each part of a round that computes.

    Args:
        function: the function with the loop.
        parts: how many parts have one.
        indexed: an item that is taken by the number of the round.
    """
    loop = loop_in(function)
    called = "a jitted function" if parts == 1 else f"{parts} jitted functions"
    clamped = f" Under jit, {printable(indexed)} beyond the end gives the last item, not an error." if indexed else ""
    return (
        f"In each round of {loop}, call {called} in place of the lines that compute. Where jit can compile a whole "
        f"round, jax.lax.scan over it spares these calls as well.{clamped}"
    )


def parts_of_method(function: str, static: str, parts: int, donated: str = "") -> str:
    """Word code that has a jitted function for what a method computes with attributes of its object."""
    called = "a jitted function" if parts == 1 else f"{parts} jitted functions"
    first = (
        f"In {printable(function)}, call {called} in place of the lines that compute. Pass what the attributes hold, "
        "and assign the new values to them."
    )
    if donated:
        arrays, them = ("arrays", "them") if ", " in donated else ("array", "it")
        first += (
            f" Donating the {arrays} in {printable(donated)} lets XLA change {them} in place, and deletes what was "
            f"passed: nothing else may use {them} as before."
        )
    are = "are" if ", " in static else "is"
    return f"{first} {printable(static)} {are} static: jit compiles again for another one." if static else first


def method_once(called: str, anew: int = 0) -> str:
    """Word how to jit a method that a loop calls, such as one of a library."""
    owner, _, name = map(printable, called.rpartition("."))
    several = (
        f" It compiles once for each {owner} that the code makes, which a short loop does not repay: where one "
        "serves several calls, make it once."
    )
    return (
        f"Make {name} = jax.jit({owner}.{name}) once, before the loop, and call {name} in place of {owner}.{name}, "
        f"if its arguments are arrays and it changes no object.{several if anew else ''}"
    )
