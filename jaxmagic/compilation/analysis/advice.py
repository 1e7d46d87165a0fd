"""Add the remedies that depend on what else compiled.

One eager operation compiles in ``jax.jit`` as well, and so does one function under ``jax.vmap``. Several become one
program there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..record.compilation import Compilation
from .remedies import remedy

#: From so many eager operations on it is worth making one program of them.
_WORTH_JIT = 3

#: A forward and a backward pass of one function are one program in ``jax.jit(jax.grad(f))``.
_BACKWARD = "the backward pass"


def with_advice(compilations: Sequence[Compilation]) -> tuple[Compilation, ...]:
    """Add the remedies that follow from all compilations of a measurement."""
    ours = [each for each in compilations if each.thread is None]
    operations = sum(each.cause.kind == "eager" for each in ours)
    passes = {each.function for each in ours if _BACKWARD in each.cause.reason}

    def advised(each: Compilation) -> Compilation:
        kind = each.cause.kind
        if kind == "shape" and each.eager and each.cause.remedy:
            kind = "eager"  # the same operation on the next of several arrays, such as the parameters of a network
        several = {
            "eager": operations >= _WORTH_JIT,
            "transformation": each.function in passes,
        }
        if each.thread is not None or not several.get(kind, False):
            return each
        return replace(each, cause=replace(each.cause, remedy=remedy(kind)))

    return tuple(map(advised, compilations))
