"""Advice for numbers that a library's own jit takes as static, although nobody has declared them so."""

from __future__ import annotations

from .remedies import NEEDED_STATIC, SLICE_START

#: What the static value of a module of flax.nnx is called, which holds all that is no array in it.
GRAPH = "._graphdef"

#: When a number has to be static.
_UNLESS = f"but where {NEEDED_STATIC} depends on it, every value needs a program of its own. {SLICE_START}"


def as_array(number: str) -> str:
    """Advise passing a number as an array to a ``jit`` for which all that is no array is static."""
    return (
        f"pass an array in every call, such as jnp.asarray({number}): equinox.filter_jit, which diffrax and others "
        f"use as well, takes numbers of Python as static; {_UNLESS}"
    )


def as_variable(number: str) -> str | None:
    """Advise holding a number as an array in a module of flax.nnx; a flag decides, and has no advice."""
    if number in ("True", "False"):
        return None
    return (
        f"hold it as an array, in an nnx.Variable: nnx.jit takes numbers of Python in a module as static; {_UNLESS}"
    )
